package mcp

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

var contributedName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// contributed lists the tools of other modules that the caller may use. What
// cannot be offered is left out with a line in the log: one bad tool must not
// cost an agent the others. taken are the names of what is listed already.
func (s *Service) contributed(ctx context.Context, taken map[string]bool) ([]*sdk.Tool, error) {
	var list []*sdk.Tool
	for _, source := range s.Tools {
		tools, err := source.Tools(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "the tools of a source are left out", "source", source.SourceName(), "error", err)
			continue
		}
		for i := range tools {
			t := &tools[i]
			if err := s.usable(t, taken); err != nil {
				s.log.WarnContext(ctx, "a tool is left out", "source", source.SourceName(), "tool", t.Name, "error", err)
				if r, ok := source.(port.ToolRefusals); ok {
					r.ToolRefused(t.Name, problem.From(err).Detail)
				}
				continue
			}
			taken[t.Name] = true
			list = append(list, contributedTool(t))
		}
	}
	return list, nil
}

// usable checks a tool of another module.
func (s *Service) usable(t *port.Tool, taken map[string]bool) error {
	switch {
	case !contributedName.MatchString(t.Name):
		return problem.New(problem.Invalid, "a name has 1 to 64 of A-Z a-z 0-9 _ - .")
	case s.tools.byName[t.Name] != nil || taken[t.Name]:
		return problem.New(problem.Conflict, "the name is taken")
	}
	for _, text := range [][]byte{t.Input, t.Output} {
		if text == nil {
			continue
		}
		var of struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(text, &of); err != nil || of.Type != "object" {
			return problem.New(problem.Invalid, "a schema must be an object with the type object")
		}
	}
	return listable(contributedTool(t))
}

// listable reports why a tool cannot stand in an answer. The SDK gives no answer
// at all when a part of it cannot be written, and the client would wait for ever.
func listable(t *sdk.Tool) error {
	list, err := json.Marshal(&sdk.ListToolsResult{Tools: []*sdk.Tool{t}})
	if err == nil {
		_, err = json.Marshal(map[string]json.RawMessage{"result": list}) // it nests deeper there
	}
	if err != nil {
		return problem.New(problem.Invalid, "it cannot be written as JSON: %v", err)
	}
	return nil
}

func contributedTool(t *port.Tool) *sdk.Tool {
	out := &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: json.RawMessage(none),
		Annotations: hints(t.ReadOnly, t.Destructive, t.Idempotent, t.OpenWorld),
	}
	if t.Input != nil {
		out.InputSchema = json.RawMessage(t.Input)
	}
	if t.Output != nil {
		out.OutputSchema = json.RawMessage(t.Output)
	}
	return out
}

// chosen is the tool of another module that a call is for.
type chosen struct {
	source port.ToolSource
	tool   *port.Tool
}

type chosenKey struct{}

// choose finds the tool of another module with a name; nil when there is none.
func (s *Service) choose(ctx context.Context, name string) *chosen {
	for _, source := range s.Tools {
		tools, err := source.Tools(ctx)
		if err != nil {
			continue // told when they are listed
		}
		for i := range tools {
			if t := &tools[i]; t.Name == name && s.usable(t, nil) == nil {
				return &chosen{source, t}
			}
		}
	}
	return nil
}

// callChosen is the handler of all tools of other modules: callTool leads to it.
func (s *Service) callChosen(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c, _ := ctx.Value(chosenKey{}).(*chosen)
	if c == nil { // somebody knows its name
		return nil, problem.New(problem.Invalid, "unknown tool")
	}
	return s.callSource(ctx, req, c.source, c.tool)
}

func (s *Service) callSource(ctx context.Context, req *sdk.CallToolRequest, source port.ToolSource, t *port.Tool) (*sdk.CallToolResult, error) {
	text := none
	if t.Input != nil {
		text = string(t.Input)
	}
	resolved, err := s.schemas.get(text)
	if err != nil {
		return nil, problem.Wrap(err, problem.Internal, "the tool cannot be called")
	}
	args, err := arguments(req.Params.Arguments, resolved)
	if err != nil {
		return s.wrongArguments(req, err)
	}
	out, err := source.CallTool(ctx, port.ToolCall{Name: t.Name, Arguments: args, Progress: progress(ctx, req)})
	if err != nil {
		return s.failedCall(ctx, err)
	}
	if out == nil {
		out = &port.ToolResult{}
	}
	if out.Structured != nil && (!json.Valid(out.Structured) || rawjson.KindOf(rawjson.Object(out.Structured)) != rawjson.Map) {
		// The SDK would give no answer at all, and the client would wait for ever.
		return nil, problem.New(problem.Internal, "the tool %s of %s answered what is no JSON object", t.Name, source.SourceName())
	}
	r := &result{structured: out.Structured, failed: out.Failed, content: []sdk.Content{}}
	for _, c := range out.Content {
		r.content = append(r.content, contentOf(c))
	}
	return r.sdk(), nil
}

// progress gives the function that tells the client how far a call is.
func progress(ctx context.Context, req *sdk.CallToolRequest) func(done, total float64, message string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(float64, float64, string) {}
	}
	return func(done, total float64, message string) {
		// A client that does not listen any more misses nothing.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
	}
}

func contentOf(c port.ToolContent) sdk.Content {
	switch {
	case c.Data == nil && c.URI == "":
		return &sdk.TextContent{Text: c.Text}
	case c.URI != "":
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: c.URI, MIMEType: c.MIME, Text: c.Text, Blob: c.Data}}
	case strings.HasPrefix(c.MIME, "image/"):
		return &sdk.ImageContent{Data: c.Data, MIMEType: c.MIME}
	case strings.HasPrefix(c.MIME, "audio/"):
		return &sdk.AudioContent{Data: c.Data, MIMEType: c.MIME}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "data:", MIMEType: c.MIME, Blob: c.Data}}
}
