package port

import "context"

// Tool is something that agents may call over MCP (spec.md 4.2).
type Tool struct {
	// Name has 1 to 64 of the characters A-Z a-z 0-9 _ - . and is unique among
	// all tools: a module takes a prefix of its own. One that is already taken
	// by the server itself is left out, with a line in the log; see ToolRefusals.
	Name        string
	Title       string // for people; optional
	Description string // for the model: when to call it and what it gives
	// Input is the JSON Schema (2020-12) of the arguments, whose type is object;
	// nil for a tool without arguments. Arguments that break it never reach the
	// source.
	Input []byte
	// Output is the JSON Schema of ToolResult.Structured, whose type is object;
	// nil when the source promises nothing.
	Output []byte

	ReadOnly    bool // changes nothing
	Destructive bool // may delete or overwrite; only of a tool that is not ReadOnly
	Idempotent  bool // calling it again with the same arguments changes nothing more
	OpenWorld   bool // reaches beyond this server
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Name      string
	Arguments []byte // JSON object that fits Tool.Input
	// Progress tells the client how far the call is; total is 0 when it is not
	// known. It is never nil, and does nothing when the client does not listen.
	Progress func(done, total float64, message string)
}

// ToolContent is one piece of an answer for the model: Text, or Data with its
// MIME type (image/…, audio/…, or any other as an embedded resource at URI).
type ToolContent struct {
	Text string
	Data []byte
	MIME string
	URI  string
}

// ToolResult is the answer of a tool.
type ToolResult struct {
	// Structured is a JSON object that fits Tool.Output; nil for none.
	Structured []byte
	// Content is for the model. When it is empty the model gets Structured as
	// text.
	Content []ToolContent
	// Failed says that the tool ran and could not do it; Content tells why.
	Failed bool
}

// ToolSource offers tools to agents. It is asked by every request, on any
// number of requests at once, and must be quick: it keeps its list in memory.
type ToolSource interface {
	// SourceName is for messages.
	SourceName() string
	// Tools gives what the identity of ctx may call, in an order that does not
	// change by itself.
	Tools(ctx context.Context) ([]Tool, error)
	// CallTool calls one of them with the rights of the identity of ctx, which
	// it checks itself. ctx ends when the client gives up. A problem.Problem
	// becomes an answer that the model can read (its Cause never does); NotFound
	// with the code UnknownTool means that there is no such tool for this
	// identity.
	CallTool(ctx context.Context, call ToolCall) (*ToolResult, error)
	// WatchTools is called once, at the start; the source calls changed after
	// each change of its list. changed does not block.
	WatchTools(changed func())
}

// ToolRefusals is a ToolSource that wants to know which of its tools no agent
// gets, and why. It is told at every list, and does not block.
type ToolRefusals interface {
	ToolRefused(name, why string)
}

// UnknownTool is the code of a problem: see ToolSource.CallTool.
const UnknownTool = "unknown_tool"

// Resource is something that agents may read over MCP.
type Resource struct {
	URI         string // absolute, such as elasticms://plugin/reports/today
	Name        string
	Title       string // optional
	Description string
	MIME        string
	Size        int64 // bytes; 0 when it is not known
}

// ResourceTemplate describes resources by a URI template (RFC 6570, {name} and
// {+name} only).
type ResourceTemplate struct {
	Template    string
	Name        string
	Title       string
	Description string
	MIME        string
}

// ResourceContent is what a resource holds: Text, or Data when it is not text.
type ResourceContent struct {
	URI  string
	MIME string
	Text string
	Data []byte
}

// ResourceSource offers resources to agents, under the same terms as a
// ToolSource.
type ResourceSource interface {
	SourceName() string
	// Resources gives what the identity of ctx may read.
	Resources(ctx context.Context) ([]Resource, error)
	// ResourceTemplates gives the templates of further ones.
	ResourceTemplates(ctx context.Context) ([]ResourceTemplate, error)
	// ReadResource reads one, with the rights of the identity of ctx: NotFound
	// when the source does not know the URI or the identity may not read it.
	ReadResource(ctx context.Context, uri string) ([]ResourceContent, error)
	// WatchResources is called once, at the start; the source calls changed with
	// the URI of a resource that has changed, or "" when its list has.
	WatchResources(changed func(uri string))
}
