package search

import (
	"encoding/json"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
)

// chain is an analyzer made of parts by their names, which are built in or
// configured.
type chain struct {
	Tokenizer   string   `json:"tokenizer,omitempty"`
	Filters     []string `json:"filter,omitempty"`
	CharFilters []string `json:"char_filter,omitempty"`
}

// analyze makes the analyzer and the tokens of a text.
func (c *chain) analyze(settings search.Settings, text string) ([]search.Token, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	const name = "of the request"
	settings.Analyzers = map[string]json.RawMessage{name: raw}
	set, err := analysis.NewSet(settings)
	if err != nil {
		return nil, err
	}
	made, err := set.Get(name)
	if err != nil {
		return nil, err
	}
	terms, found := made.Terms(text)
	tokens := make([]search.Token, len(found))
	for i, t := range found {
		tokens[i] = search.Token{Term: terms[i], Start: int(t.Start), End: int(t.End), Position: int(t.Pos)}
	}
	return tokens, nil
}

// checkSize refuses a long text for an analyzer that would make hundreds of
// megabytes of it, and two parts that multiply each other's tokens.
func checkSize(settings search.Settings, a Analysis, text string) error {
	c := a.Chain
	if c == nil {
		c = &chain{}
		if raw, ok := settings.Analyzers[a.Analyzer]; ok {
			_ = json.Unmarshal(raw, c) // what cannot be read is no chain of filters
		}
	}
	n := 0
	for _, part := range append([]string{c.Tokenizer}, c.Filters...) {
		kind := part
		for _, entities := range []map[string]json.RawMessage{settings.Filters, settings.Tokenizers} {
			if raw, ok := entities[part]; ok {
				var o struct{ Type string }
				_ = json.Unmarshal(raw, &o)
				kind = o.Type
			}
		}
		kind = strings.ToLower(kind)
		if strings.Contains(kind, "gram") || kind == "shingle" || kind == "path_hierarchy" {
			n++
		}
	}
	switch {
	case n > 1 && a.Chain != nil:
		return problem.Field(problem.Invalid, "parameters", "only one part may make many tokens of each word (ngram, edge_ngram, shingle, path_hierarchy)")
	case n > 0 && len(text) > maxMultiplied:
		return problem.Field(problem.Invalid, "text", "is longer than %d bytes, the limit for an analyzer that makes many tokens of each word", maxMultiplied)
	}
	return nil
}
