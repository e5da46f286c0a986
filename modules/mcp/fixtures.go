package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/quoin-cms/quoin/core/work"
)

// The fixtures are what the public conformance suite expects of a server: their
// names, arguments and answers are its own. They exist only with the setting
// conformance_fixtures, beside the real tools, behind the same door.

const fixtureScheme = "test://"

// fixture is a tool of the suite.
type fixture struct {
	name, description string
	input             string // empty for no arguments
	run               func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)
}

// isFixture reports whether an address is one of the suite's.
func (s *Service) isFixture(uri string) bool {
	return s.cfg.Fixtures && strings.HasPrefix(uri, fixtureScheme)
}

func (s *Service) addFixtures(server *sdk.Server) {
	if !s.cfg.Fixtures {
		return
	}
	for _, list := range [][]fixture{contentFixtures(), progressFixtures(), askingFixtures(), listFixtures(server), s.inputFixtures()} {
		for _, f := range list {
			if f.input == "" {
				f.input = `{"type":"object","properties":{}}`
			}
			server.AddTool(&sdk.Tool{Name: f.name, Description: f.description, InputSchema: json.RawMessage(f.input)}, f.run)
		}
	}
	addFixtureResources(server)
	addFixturePrompts(server)
}

func says(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// fixed is a tool that always answers the same.
func fixed(content ...sdk.Content) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}
}

// redDot is a picture of one pixel, silence a sound of one sample.
func redDot() []byte {
	return decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
}

func silence() []byte {
	return decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")
}

func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err) // it stands above
	}
	return b
}

const dialectFixture = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
	`"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},` +
	`"additionalProperties":false}`

func contentFixtures() []fixture {
	text := func(s string) sdk.Content { return &sdk.TextContent{Text: s} }
	image := &sdk.ImageContent{Data: redDot(), MIMEType: "image/png"}
	resource := func(uri, mime, text string) sdk.Content {
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: mime, Text: text}}
	}
	return []fixture{
		{name: "test_simple_text", description: "Answers a text", run: fixed(text("This is a simple text response for testing."))},
		{name: "test_image_content", description: "Answers a picture", run: fixed(image)},
		{name: "test_audio_content", description: "Answers a sound", run: fixed(&sdk.AudioContent{Data: silence(), MIMEType: "audio/wav"})},
		{name: "test_embedded_resource", description: "Answers a resource", run: fixed(resource("test://embedded-resource", "text/plain", "This is an embedded resource content."))},
		{name: "test_multiple_content_types", description: "Answers a text, a picture and a resource", run: fixed(
			text("Multiple content types test:"), image, resource("test://mixed-content-resource", jsonType, `{"test":"data","value":123}`))},
		{name: "test_error_handling", description: "Fails", run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return failure("This tool intentionally returns an error for testing"), nil
		}},
		{name: "json_schema_2020_12_tool", description: "Has a schema with keywords of JSON Schema 2020-12", input: dialectFixture,
			run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return says("called with %s", req.Params.Arguments), nil
			}},
		{name: "test_x_mcp_header", description: "Has an argument that stands in a header too",
			input: `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
			run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return says("called with %s", req.Params.Arguments), nil
			}},
	}
}

// pace is how far apart the messages of a fixture are.
const pace = 50 * time.Millisecond

func progressFixtures() []fixture {
	return []fixture{
		{name: "test_tool_with_logging", description: "Logs three lines", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line}); err != nil {
					return nil, err
				}
				work.Pause(ctx, pace)
			}
			return says("Tool with logging executed successfully"), nil
		}},
		{name: "test_logging_tool", description: "Logs a line if the client wants it", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "test_logging_tool ran"}); err != nil {
				return nil, err
			}
			return says("Logged"), nil
		}},
		{name: "test_tool_with_progress", description: "Tells of its progress", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			tell := progress(ctx, req)
			for _, done := range []float64{0, 50, 100} {
				tell(done, 100, fmt.Sprintf("%.0f of 100", done))
				work.Pause(ctx, pace)
			}
			return says("%v", req.Params.GetProgressToken()), nil
		}},
		{name: "test_streaming_elicitation", description: "Streams its progress", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			progress(ctx, req)(1, 1, "done")
			return says("Nothing was asked on this stream"), nil
		}},
		{name: "test_reconnection", description: "Closes the stream before it answers", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if req.Extra != nil && req.Extra.CloseSSEStream != nil {
				req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: pace})
			}
			work.Pause(ctx, 2*pace)
			return says("You came back"), nil
		}},
	}
}

// listFixtures change the lists of the server.
func listFixtures(server *sdk.Server) []fixture {
	const transient = "test_transient"
	return []fixture{
		{name: "test_trigger_tool_change", description: "Changes the list of tools", run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			server.AddTool(&sdk.Tool{Name: transient, Description: "Does nothing", InputSchema: json.RawMessage(none)}, fixed())
			return says("The list of tools has changed"), nil
		}},
		{name: "test_trigger_prompt_change", description: "Changes the list of prompts", run: func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			server.AddPrompt(&sdk.Prompt{Name: transient, Description: "Does nothing"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				return &sdk.GetPromptResult{}, nil
			})
			return says("The list of prompts has changed"), nil
		}},
	}
}

func addFixtureResources(server *sdk.Server) {
	read := func(mime, text string, blob []byte) sdk.ResourceHandler {
		return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: mime, Text: text, Blob: blob}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}, nil
		}
	}
	server.AddResource(&sdk.Resource{URI: "test://static-text", Name: "static-text", Description: "A text", MIMEType: "text/plain"},
		read("text/plain", "This is the content of the static text resource.", nil))
	server.AddResource(&sdk.Resource{URI: "test://static-binary", Name: "static-binary", Description: "A picture", MIMEType: "image/png"}, read("image/png", "", redDot()))
	server.AddResource(&sdk.Resource{URI: "test://watched-resource", Name: "watched-resource", Description: "To subscribe to", MIMEType: "text/plain"},
		read("text/plain", "Watched resource content", nil))
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A template", MIMEType: jsonType},
		func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			r, err := object(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			if err != nil {
				return nil, err
			}
			return read(jsonType, string(r.structured), nil)(ctx, req)
		})
}

func addFixturePrompts(server *sdk.Server) {
	user := func(content ...sdk.Content) *sdk.GetPromptResult {
		r := &sdk.GetPromptResult{}
		for _, c := range content {
			r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: c})
		}
		return r
	}
	text := func(format string, args ...any) sdk.Content {
		return &sdk.TextContent{Text: fmt.Sprintf(format, args...)}
	}
	add := func(name, description string, arguments []string, get func(args map[string]string) *sdk.GetPromptResult) {
		p := &sdk.Prompt{Name: name, Description: description}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Description: "for the test", Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return get(req.Params.Arguments), nil
		})
	}
	add("test_simple_prompt", "Without arguments", nil, func(map[string]string) *sdk.GetPromptResult {
		return user(text("This is a simple prompt for testing."))
	})
	add("test_prompt_with_arguments", "With two arguments", []string{"arg1", "arg2"}, func(a map[string]string) *sdk.GetPromptResult {
		return user(text("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))
	})
	add("test_prompt_with_embedded_resource", "With a resource", []string{"resourceUri"}, func(a map[string]string) *sdk.GetPromptResult {
		return user(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
			text("Please process the embedded resource above."))
	})
	add("test_prompt_with_image", "With a picture", nil, func(map[string]string) *sdk.GetPromptResult {
		return user(&sdk.ImageContent{Data: redDot(), MIMEType: "image/png"}, text("Please analyze the image above."))
	})
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for something first"},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if given := accepted(req.Params.InputResponses, "user_context"); given != nil {
				return user(text("Context: %v", given["context"])), nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": question("Please give the context", "context", "string")}}, nil
		})
}

// completeFixture completes the arguments of the prompts of the suite.
func completeFixture(on bool, req *sdk.CompleteRequest) *sdk.CompleteResult {
	if !on || req.Params.Ref == nil || !strings.HasPrefix(req.Params.Ref.Name, "test_") {
		return nil
	}
	return completion([]string{req.Params.Argument.Value + "1"})
}
