package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/problem"
)

// prompt is an editorial task that a person can start.
type prompt struct {
	name, title, description string
	arguments                []*sdk.PromptArgument
	text                     func(args map[string]string) string
}

func prompts() []prompt {
	typ := &sdk.PromptArgument{Name: "contentType", Description: "content type", Required: true}
	ouuid := &sdk.PromptArgument{Name: "ouuid", Description: "identifier of the document", Required: true}
	return []prompt{
		{
			name: "review_draft", title: "Review a draft", description: "Look at what a draft changes and say what is wrong with it.",
			arguments: []*sdk.PromptArgument{typ, ouuid},
			text: func(a map[string]string) string {
				return "Review the draft of the document " + a["ouuid"] + " of the content type " + a["contentType"] +
					". Call diff to see what it changes and get_content_type_schema to see the rules. List mistakes of language, facts that contradict each other, " +
					"missing mandatory fields and broken links, each with the path of its field. Propose corrections; change nothing before I agree."
			},
		}, {
			name: "translate_document", title: "Translate a document", description: "Fill the fields of one language from another one, as a draft.",
			arguments: []*sdk.PromptArgument{typ, ouuid, {Name: "from", Description: "language to translate from", Required: true}, {Name: "to", Description: "language to translate to", Required: true}},
			text: func(a map[string]string) string {
				return "Translate the document " + a["ouuid"] + " of the content type " + a["contentType"] + " from " + a["from"] + " to " + a["to"] +
					". Read it and its schema, translate only fields of that language, keep markup, links and names, and save the result with update_draft. Then show me the diff. Do not finalize."
			},
		}, {
			name: "write_document", title: "Write a document", description: "Write a new document about a subject, as a draft.",
			arguments: []*sdk.PromptArgument{typ, {Name: "subject", Description: "what it is about", Required: true}},
			text: func(a map[string]string) string {
				return "Write a new document of the content type " + a["contentType"] + " about: " + a["subject"] +
					". First read the schema, then search for documents on the same subject and follow their style. Save it with create_draft and show me the result. Do not finalize."
			},
		}, {
			name: "find_duplicates", title: "Find duplicates", description: "Look for documents of a content type that say the same.",
			arguments: []*sdk.PromptArgument{typ},
			text: func(a map[string]string) string {
				return "Search the documents of the content type " + a["contentType"] + " for pairs that say the same thing. List them with ouuid, title and what differs. Change nothing."
			},
		},
	}
}

// addPrompts registers the editorial tasks.
func (s *Service) addPrompts(server *sdk.Server) {
	if s.Editor == nil {
		return
	}
	for _, p := range prompts() {
		server.AddPrompt(&sdk.Prompt{Name: p.name, Title: p.title, Description: p.description, Arguments: p.arguments},
			func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				for _, a := range p.arguments {
					if a.Required && strings.TrimSpace(req.Params.Arguments[a.Name]) == "" {
						return nil, problem.Field(problem.Invalid, a.Name, "is missing")
					}
				}
				text := p.text(req.Params.Arguments)
				return &sdk.GetPromptResult{Description: p.description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
			})
	}
}

// maxCompletions is how many values a completion gives (the protocol allows 100).
const maxCompletions = 100

// complete serves completion/complete: content types, environments and ouuids
// that begin with what was typed.
func (s *Service) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	if res := completeFixture(s.cfg.Fixtures, req); res != nil {
		return res, nil
	}
	var values []string
	var err error
	switch req.Params.Argument.Name {
	case "contentType", "name":
		values, err = s.completeType(ctx, req)
	case "environment":
		values, err = s.completeEnvironment(ctx)
	case "ouuid":
		return s.completeOuuid(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	values = slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(v, req.Params.Argument.Value) })
	return completion(values), nil
}

func completion(values []string) *sdk.CompleteResult {
	d := sdk.CompletionResultDetails{Total: len(values), HasMore: len(values) > maxCompletions, Values: []string{}}
	d.Values = append(d.Values, values[:min(len(values), maxCompletions)]...)
	return &sdk.CompleteResult{Completion: d}
}

func (s *Service) completeType(ctx context.Context, req *sdk.CompleteRequest) ([]string, error) {
	if req.Params.Ref != nil && strings.HasPrefix(req.Params.Ref.URI, scheme+"environments/{name}") {
		return s.completeEnvironment(ctx)
	}
	m, err := s.menu(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range m.types {
		names = append(names, t.Name)
	}
	return names, nil
}

func (s *Service) completeEnvironment(ctx context.Context) ([]string, error) {
	if s.Types == nil {
		return nil, nil
	}
	all, err := s.Types.Environments(ctx)
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	return names, err
}

// completeOuuid finds published documents of the content type that was chosen
// before, by the beginning of their identifier or by words.
func (s *Service) completeOuuid(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	if s.Searcher == nil || s.Types == nil {
		return completion(nil), nil
	}
	a := &search{}
	if c := req.Params.Context; c != nil && c.Arguments["contentType"] != "" {
		a.ContentTypes = []string{c.Arguments["contentType"]}
	}
	size := 50
	a.Size, a.Fields = &size, []string{"_contenttype"}
	body, err := s.searchObject(ctx, a)
	if err != nil {
		return nil, err
	}
	answer, err := s.Searcher.SearchDocuments(ctx, body)
	if problem.Is(err, problem.Invalid) || problem.Is(err, problem.NotFound) {
		return completion(nil), nil
	}
	if err != nil {
		return nil, err
	}
	return completion(ouuidsOf(answer, req.Params.Argument.Value)), nil
}
