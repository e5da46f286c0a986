package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// tool is a tool of the server itself.
type tool struct {
	name        string
	title       string
	description string
	input       string // JSON Schema of the arguments
	output      string // JSON Schema of the structured content; empty for none
	readOnly    bool
	destructive bool
	idempotent  bool
	// listed says in which catalogues it stands.
	full, compact bool
	// offered reports whether the caller has any use of it.
	offered func(m *menu) bool
	run     func(ctx context.Context, c *call) (*result, error)

	resolved *jsonschema.Resolved
}

// call is a call of a tool whose arguments fit its schema.
type call struct {
	req  *sdk.CallToolRequest
	args []byte // JSON object
}

// into decodes the arguments.
func (c *call) into(v any) error {
	if err := json.Unmarshal(c.args, v); err != nil {
		return problem.New(problem.Invalid, "the arguments cannot be read: %v", err)
	}
	return nil
}

// result is the answer of a tool: a JSON object, or questions to the client.
type result struct {
	structured []byte
	content    []sdk.Content // instead of structured as text
	failed     bool
	ask        sdk.InputRequestMap
	state      string
}

// sdk gives the tool as it is listed: whole, or with as few words as will do for
// the compact catalogue.
func (t *tool) sdk(whole bool) *sdk.Tool {
	out := &sdk.Tool{Name: t.name, Description: t.description, Annotations: hints(t.readOnly, t.destructive, t.idempotent, false)}
	if !whole {
		out.Annotations.OpenWorldHint = nil
		out.InputSchema = json.RawMessage(strings.NewReplacer(`,"additionalProperties":false`, "", `,"properties":{}`, "").Replace(t.input))
		return out
	}
	out.Title, out.InputSchema = t.title, json.RawMessage(t.input)
	if t.output != "" {
		out.OutputSchema = json.RawMessage(t.output)
	}
	return out
}

// hints are the annotations of a tool.
func hints(readOnly, destructive, idempotent, open bool) *sdk.ToolAnnotations {
	a := &sdk.ToolAnnotations{ReadOnlyHint: readOnly, IdempotentHint: idempotent, OpenWorldHint: &open}
	if !readOnly {
		a.DestructiveHint = &destructive
	}
	return a
}

// handler serves a call of the tool.
func (s *Service) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		args, err := arguments(req.Params.Arguments, t.resolved)
		if err != nil {
			return s.wrongArguments(req, err)
		}
		r, err := t.run(ctx, &call{req: req, args: args})
		if err != nil {
			return s.failedCall(ctx, err)
		}
		return r.sdk(), nil
	}
}

// arguments checks the arguments of a call.
func arguments(raw []byte, against *jsonschema.Resolved) ([]byte, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	if err := rawjson.CheckObject(raw, rawjson.Limits{Depth: deepest}); err != nil {
		return nil, err
	}
	if against == nil {
		return raw, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, problem.New(problem.Invalid, "the arguments cannot be read: %v", err)
	}
	if err := against.Validate(v); err != nil {
		return nil, problem.New(problem.Invalid, "%s", readable(err))
	}
	return raw, nil
}

// readable shortens what the validator says about where it looked.
func readable(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i > 0 {
		text = text[i:]
	}
	const longest = 500
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// wrongArguments tells of arguments that break the schema: the client in early
// revisions, the model in later ones.
func (s *Service) wrongArguments(req *sdk.CallToolRequest, err error) (*sdk.CallToolResult, error) {
	detail := problem.From(err).Detail
	if s.versionOf(req) >= toldToModels {
		return failure("The arguments do not fit the tool's input schema: " + detail), nil
	}
	data, _ := json.Marshal(map[string]any{"validation_errors": []string{detail}}) // strings always marshal
	return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: "invalid arguments: " + detail, Data: data}
}

// versionOf gives the revision of the protocol in which a request came.
func (s *Service) versionOf(req sdk.Request) string {
	ss, ok := req.GetSession().(*sdk.ServerSession)
	if !ok {
		return ""
	}
	if x := s.sessions.get(ss.ID()); x != nil {
		return x.revision()
	}
	if p := ss.InitializeParams(); p != nil {
		return p.ProtocolVersion
	}
	return stateless
}

// failedCall tells the model what went wrong; only a fault of the server is an
// error of the protocol.
func (s *Service) failedCall(ctx context.Context, err error) (*sdk.CallToolResult, error) {
	p := problem.From(err)
	if p.Kind == problem.Internal || ctx.Err() != nil {
		return nil, err
	}
	if p.Cause != nil {
		s.log.WarnContext(ctx, "a tool failed", "error", err)
	}
	var b strings.Builder
	b.WriteString(p.Detail)
	if b.Len() == 0 {
		b.WriteString(p.Kind.Title())
	}
	for _, f := range p.Fields {
		if line := f.Path + ": " + f.Message; line != p.Detail {
			b.WriteString("\n" + line)
		}
	}
	return failure(b.String()), nil
}

func failure(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func (r *result) sdk() *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: r.failed, Content: r.content, InputRequests: r.ask, RequestState: r.state}
	if r.ask != nil {
		return out
	}
	if r.structured != nil {
		out.StructuredContent = json.RawMessage(r.structured)
		if len(r.content) == 0 {
			out.Content = []sdk.Content{&sdk.TextContent{Text: string(r.structured)}}
		}
	}
	return out
}

// object makes a result of a value.
func object(v any) (*result, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return &result{structured: bytes.TrimSpace(b.Bytes())}, nil
}

// identity gives who calls.
func identity(ctx context.Context) *auth.Identity { return auth.From(ctx) }
