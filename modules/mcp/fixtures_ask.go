package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// question makes a form with one mandatory field.
func question(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
	}}
}

// accepted gives what a person has filled in; nil when there is nothing.
func accepted(responses sdk.InputResponseMap, key string) map[string]any {
	if r, ok := responses[key].(*sdk.ElicitResult); ok && r != nil && r.Action == "accept" {
		return r.Content
	}
	return nil
}

// sampled gives what the model of the client has said.
func sampled(responses sdk.InputResponseMap, key string) (string, bool) {
	switch r := responses[key].(type) {
	case *sdk.CreateMessageWithToolsResult:
		for _, c := range r.Content {
			if t, ok := c.(*sdk.TextContent); ok {
				return t.Text, true
			}
		}
	case *sdk.CreateMessageResult:
		if t, ok := r.Content.(*sdk.TextContent); ok {
			return t.Text, true
		}
	}
	return "", false
}

func sample(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}}}
}

const defaultsFixture = `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},` +
	`"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`

const enumsFixture = `{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},` +
	`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},` +
	`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
	`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
	`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`

// askingFixtures ask the client while a call runs, as revisions with sessions
// do.
func askingFixtures() []fixture {
	elicit := func(ctx context.Context, req *sdk.CallToolRequest, p *sdk.ElicitParams) (*sdk.CallToolResult, error) {
		r, err := req.Session.Elicit(ctx, p)
		if err != nil {
			return failure("The client could not ask: " + err.Error()), nil //nolint:nilerr // the answer tells it
		}
		content, err := json.Marshal(r.Content)
		return says("action=%s, content=%s", r.Action, content), err
	}
	argument := func(req *sdk.CallToolRequest, name string) string {
		var args map[string]any
		_ = json.Unmarshal(req.Params.Arguments, &args) // empty when it is nothing
		text, _ := args[name].(string)
		return text
	}
	one := func(name string) string {
		return `{"type":"object","properties":{"` + name + `":{"type":"string"}},"required":["` + name + `"]}`
	}
	return []fixture{
		{name: "test_sampling", description: "Asks the model of the client", input: one("prompt"), run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			r, err := req.Session.CreateMessage(ctx, sample(argument(req, "prompt")))
			if err != nil {
				return failure("The client could not ask: " + err.Error()), nil //nolint:nilerr // the answer tells it
			}
			text, _ := r.Content.(*sdk.TextContent)
			if text == nil {
				text = &sdk.TextContent{}
			}
			return says("LLM response: %s", text.Text), nil
		}},
		{name: "test_elicitation", description: "Asks a person", input: one("message"), run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return elicit(ctx, req, question(argument(req, "message"), "username", "string"))
		}},
		{name: "test_elicitation_sep1034_defaults", description: "Asks with defaults", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return elicit(ctx, req, &sdk.ElicitParams{Message: "Fields with defaults", RequestedSchema: json.RawMessage(defaultsFixture)})
		}},
		{name: "test_elicitation_sep1330_enums", description: "Asks to choose", run: func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return elicit(ctx, req, &sdk.ElicitParams{Message: "Forms of choices", RequestedSchema: json.RawMessage(enumsFixture)})
		}},
		{name: "test_missing_capability", description: "Needs sampling", run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if c := req.ClientCapabilities(); c != nil && c.Sampling != nil {
				return says("The client has sampling"), nil
			}
			data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}}})
			if err != nil {
				return nil, err
			}
			return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "this needs the capability sampling", Data: data}
		}},
	}
}

func errNotOurs() error {
	return &jsonrpc.Error{Code: codeInvalidParams, Message: "requestState is not one of this server"}
}

func asks(requests sdk.InputRequestMap, state string) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: requests, RequestState: state}
}

// inputFixtures answer what they need first, as the revision without sessions
// does.
func (s *Service) inputFixtures() []fixture {
	name := func() *sdk.ElicitParams { return question("What is your name?", "name", "string") }
	const prefix = "test_input_required_result_"
	return []fixture{
		{name: prefix + "elicitation", description: "Needs a name", run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if who, _ := accepted(req.Params.InputResponses, "user_name")["name"].(string); who != "" {
				return says("Hello, %s!", who), nil
			}
			return asks(sdk.InputRequestMap{"user_name": name()}, ""), nil
		}},
		{name: prefix + "sampling", description: "Needs a model", run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if text, ok := sampled(req.Params.InputResponses, "capital_question"); ok {
				return says("The model says: %s", text), nil
			}
			return asks(sdk.InputRequestMap{"capital_question": sample("What is the capital of France?")}, ""), nil
		}},
		{name: prefix + "list_roots", description: "Needs the roots", run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if r, ok := req.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok && r != nil {
				return says("%d roots", len(r.Roots)), nil
			}
			return asks(sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}, ""), nil
		}},
		{name: prefix + "request_state", description: "Keeps a state", run: s.confirmFixture},
		{name: prefix + "tampered_state", description: "Keeps a state that nobody may change", run: s.confirmFixture},
		{name: prefix + "multiple_inputs", description: "Needs three things", run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			who := accepted(req.Params.InputResponses, "user_name")
			greeting, greeted := sampled(req.Params.InputResponses, "greeting")
			roots, rooted := req.Params.InputResponses["client_roots"].(*sdk.ListRootsResult)
			if who != nil && greeted && rooted && roots != nil {
				return says("%s %v, %d roots", greeting, who["name"], len(roots.Roots)), nil
			}
			return asks(sdk.InputRequestMap{"user_name": name(), "greeting": sample("Greet somebody"), "client_roots": &sdk.ListRootsParams{}}, s.seal([]byte("inputs"))), nil
		}},
		{name: prefix + "multi_round", description: "Needs two rounds", run: s.roundsFixture},
		{name: prefix + "capabilities", description: "Needs what the client can do", run: func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if len(req.Params.InputResponses) > 0 {
				return says("Thank you"), nil
			}
			wants := sdk.InputRequestMap{}
			if c := req.ClientCapabilities(); c != nil {
				if c.Elicitation != nil {
					wants["user_name"] = name()
				}
				if c.Sampling != nil {
					wants["greeting"] = sample("Greet somebody")
				}
				if c.RootsV2 != nil {
					wants["client_roots"] = &sdk.ListRootsParams{}
				}
			}
			if len(wants) == 0 {
				return says("The client can do nothing of this"), nil
			}
			return asks(wants, ""), nil
		}},
	}
}

func (s *Service) confirmFixture(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Params.RequestState != "" {
		if _, ok := s.unseal(req.Params.RequestState); !ok {
			return nil, errNotOurs()
		}
		if accepted(req.Params.InputResponses, "confirm") != nil {
			return says("state-ok"), nil
		}
	}
	return asks(sdk.InputRequestMap{"confirm": question("Please confirm", "ok", "boolean")}, s.seal([]byte("confirm"))), nil
}

func (s *Service) roundsFixture(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asks(sdk.InputRequestMap{"step1": question("Step 1: what is your name?", "name", "string")}, s.seal([]byte("1"))), nil
	}
	state, ok := s.unseal(req.Params.RequestState)
	if !ok {
		return nil, errNotOurs()
	}
	if string(state) == "1" {
		who := fmt.Sprint(accepted(req.Params.InputResponses, "step1")["name"])
		return asks(sdk.InputRequestMap{"step2": question("Step 2: what is your colour?", "color", "string")}, s.seal([]byte("2 "+who))), nil
	}
	return says("%s likes %v", strings.TrimPrefix(string(state), "2 "), accepted(req.Params.InputResponses, "step2")["color"]), nil
}
