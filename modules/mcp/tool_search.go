package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

const searchInput = `{"type":"object","properties":{` +
	`"query":{"type":"string"},"contentTypes":{"type":"array","items":{"type":"string"}},"environment":{"type":"string"},` +
	`"filter":{"type":"object"},"fields":{"type":"array","items":{"type":"string"}},` +
	`"size":{"type":"integer","minimum":0,"maximum":50},"from":{"type":"integer","minimum":0}},"additionalProperties":false}`

const searchOutput = `{"type":"object","properties":{"total":{"type":"integer"},"hits":{"type":"array","items":{"type":"object","properties":{` +
	`"contentType":{"type":"string"},"ouuid":{"type":"string"},"score":{"type":["number","null"]},"source":{"type":"object"}},"required":["ouuid","source"]}}},"required":["total","hits"]}`

func (s *Service) searchTools() []*tool {
	if s.Searcher == nil || s.Types == nil {
		return nil
	}
	return []*tool{{
		name: "search_documents", title: "Search", description: "Search published documents by words (query) and an Elasticsearch query (filter).",
		input: searchInput, output: searchOutput, readOnly: true, idempotent: true, full: true, compact: true,
		offered: func(m *menu) bool { return m.may(auth.View) }, run: s.runSearch,
	}}
}

// search are the arguments of search_documents.
type search struct {
	Query        string          `json:"query"`
	ContentTypes []string        `json:"contentTypes"`
	Environment  string          `json:"environment"`
	Filter       json.RawMessage `json:"filter"`
	Fields       []string        `json:"fields"`
	Size         *int            `json:"size"`
	From         int             `json:"from"`
}

func (s *Service) runSearch(ctx context.Context, c *call) (*result, error) {
	var a search
	if err := c.into(&a); err != nil {
		return nil, err
	}
	body, err := s.searchObject(ctx, &a)
	if err != nil {
		return nil, err
	}
	answer, err := s.Searcher.SearchDocuments(ctx, body)
	if err != nil {
		return nil, err
	}
	return hitsOf(answer)
}

// searchObject makes the search object (spec.md 2.7).
func (s *Service) searchObject(ctx context.Context, a *search) ([]byte, error) {
	size := 10
	if a.Size != nil {
		size = *a.Size
	}
	object := map[string]any{"size": size, "from": a.From}
	if len(a.ContentTypes) > 0 {
		object["contentTypes"] = a.ContentTypes
	}
	if len(a.Fields) > 0 {
		object["sources"] = a.Fields
	}
	if a.Environment != "" {
		alias, err := s.aliasOf(ctx, a.Environment)
		if err != nil {
			return nil, err
		}
		object["indices"] = []string{alias}
	}
	var must []any
	if a.Query != "" {
		must = append(must, map[string]any{"simple_query_string": map[string]any{"query": a.Query, "default_operator": "and"}})
	}
	if len(a.Filter) > 0 && string(a.Filter) != "null" {
		must = append(must, a.Filter)
	}
	if must != nil {
		object["queryArray"] = map[string]any{"bool": map[string]any{"must": must}}
	}
	return json.Marshal(object)
}

func (s *Service) aliasOf(ctx context.Context, environment string) (string, error) {
	all, err := s.Types.Environments(ctx)
	if err != nil {
		return "", err
	}
	for _, e := range all {
		if e.Name == environment {
			return e.Alias, nil
		}
	}
	return "", problem.New(problem.NotFound, "there is no environment %q", environment).WithCode("unknown_environment")
}

// hitsOf takes what a model needs from an answer of a search.
func hitsOf(answer []byte) (*result, error) {
	var in struct {
		Hits struct {
			Total json.RawMessage `json:"total"`
			Hits  []struct {
				ID     string          `json:"_id"`
				Score  *float64        `json:"_score"`
				Source json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(answer, &in); err != nil {
		return nil, err
	}
	type hit struct {
		ContentType string          `json:"contentType,omitempty"`
		OUUID       string          `json:"ouuid"`
		Score       *float64        `json:"score,omitempty"`
		Source      json.RawMessage `json:"source"`
	}
	out := struct {
		Total int64 `json:"total"`
		Hits  []hit `json:"hits"`
	}{Hits: []hit{}}
	var total struct {
		Value int64 `json:"value"`
	}
	if json.Unmarshal(in.Hits.Total, &total) != nil { // older answers have a number
		_ = json.Unmarshal(in.Hits.Total, &total.Value) // 0 when it is neither
	}
	out.Total = total.Value
	for _, h := range in.Hits.Hits {
		var of struct {
			Type string `json:"_contenttype"`
		}
		_ = json.Unmarshal(h.Source, &of) // it is an object; without the member there is no type
		if h.Source == nil {
			h.Source = json.RawMessage("{}")
		}
		out.Hits = append(out.Hits, hit{of.Type, h.ID, h.Score, h.Source})
	}
	return object(out)
}

// ouuidsOf takes the identifiers that begin with a text from an answer of a
// search.
func ouuidsOf(answer []byte, prefix string) []string {
	var in struct {
		Hits struct {
			Hits []struct {
				ID string `json:"_id"`
			} `json:"hits"`
		} `json:"hits"`
	}
	_ = json.Unmarshal(answer, &in) // made by this server; nothing when it is not
	var list []string
	for _, h := range in.Hits.Hits {
		if strings.HasPrefix(h.ID, prefix) {
			list = append(list, h.ID)
		}
	}
	return list
}
