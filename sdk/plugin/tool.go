package plugin

import (
	"encoding/json"
	"fmt"
	"strings"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

type tool struct {
	about *pluginv1.Tool
	run   func(c *Call, args []byte) (*pluginv1.ToolResult, error)
}

// ToolOption says more about a tool.
type ToolOption func(*pluginv1.Tool)

// ReadOnly marks a tool that changes nothing.
func ReadOnly(t *pluginv1.Tool) { t.ReadOnly = true }

// Destructive marks a tool that may remove or overwrite.
func Destructive(t *pluginv1.Tool) { t.Destructive = true }

// Title is the name of a tool for people.
func Title(title string) ToolOption { return func(t *pluginv1.Tool) { t.Title = title } }

// Tool adds a tool that agents call over MCP. In is a struct: its fields with
// the tags json and doc are the arguments, and those without omitempty must be
// given. Out is a string, or a value that is answered as JSON. An error becomes
// an answer that says why the tool failed; the agent reads it.
//
// name is letters, digits, _ and -, at most 64; no other tool of the server may
// have it.
func Tool[In, Out any](p *Plugin, name, description string, fn func(c *Call, in In) (Out, error), options ...ToolOption) {
	if p.tools[name] != nil {
		panic(fmt.Sprintf("plugin %s has two tools %q", p.name, name))
	}
	about := &pluginv1.Tool{Name: name, Description: description, InputSchema: schemaOf[In]()}
	for _, o := range options {
		o(about)
	}
	p.tools[name] = &tool{about: about, run: func(c *Call, args []byte) (*pluginv1.ToolResult, error) {
		var in In
		if err := decode(args, &in); err != nil {
			return nil, err
		}
		out, err := fn(c, in)
		if err != nil {
			return nil, err
		}
		return toolResult(out)
	}}
}

func toolResult(out any) (*pluginv1.ToolResult, error) {
	if text, ok := out.(string); ok {
		return &pluginv1.ToolResult{Content: []*pluginv1.Content{{Text: valid(text)}}}, nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("the answer cannot be written as JSON: %w", err)
	}
	r := &pluginv1.ToolResult{Content: []*pluginv1.Content{{Text: string(b)}}}
	if len(b) > 0 && b[0] == '{' {
		r.Structured = b
	}
	return r, nil
}

// tools serves quoin.plugin.v1.Tools.
type toolServer struct {
	pluginv1.UnimplementedToolsServer
	p *Plugin
}

// Call implements pluginv1.ToolsServer.
func (s toolServer) Call(req *pluginv1.ToolRequest, stream pluginv1.Tools_CallServer) error {
	t := s.p.tools[req.Tool]
	if t == nil {
		return errUnknown("tool", req.Tool)
	}
	c := s.p.call(stream.Context(), req.Caller)
	c.progress = func(done, total float64, message string) {
		_ = stream.Send(&pluginv1.ToolPart{Part: &pluginv1.ToolPart_Progress{Progress: &pluginv1.Progress{Done: done, Total: total, Message: valid(message)}}})
	}
	var result *pluginv1.ToolResult
	err := protect(func() (err error) { result, err = t.run(c, req.Arguments); return err })
	if isPanic(err) {
		return crashed(c, "tool "+req.Tool, err)
	}
	if err != nil {
		result = &pluginv1.ToolResult{Failed: true, Content: []*pluginv1.Content{{Text: valid(err.Error())}}}
	}
	return stream.Send(&pluginv1.ToolPart{Part: &pluginv1.ToolPart_Result{Result: result}})
}

// valid makes text fit for a message, which could not be sent with anything but
// UTF-8 in it.
func valid(text string) string { return strings.ToValidUTF8(text, "?") }
