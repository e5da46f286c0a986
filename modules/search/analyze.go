package search

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
)

const (
	maxAnalyzed   = 1 << 20  // bytes of a text to be analyzed
	maxMultiplied = 64 << 10 // the same, when an analyzer makes many tokens of each word
	maxTokens     = 200_000  // of one answer
	maxWords      = 10_000   // of one request to filter words
	maxFilters    = 20       // of one request
	atOnce        = 2        // texts that are analyzed at the same time
)

// Analysis says how a text is to be analyzed: by a named analyzer, by that of a
// field, or by a tokenizer and filters. Nothing of it means the standard
// analyzer.
type Analysis struct {
	Analyzer, Field string
	Chain           *chain
}

// parameters reads the member `parameters` of the body of analyze.
func (in *input) parameters() (a Analysis) {
	v, ok := in.get("parameters")
	if !ok {
		return a
	}
	if v = rawjson.Object(v); rawjson.KindOf(v) != rawjson.Map {
		in.fail("parameters", "must be an object, not %s", rawjson.KindOf(v))
		return a
	}
	var c chain
	for it := rawjson.Iterate(v); it.Next() && in.err == nil; {
		key, v := string(it.Key()), it.Value()
		if rawjson.KindOf(v) == rawjson.Null {
			continue
		}
		path := "parameters." + key
		switch key {
		case "analyzer":
			a.Analyzer = in.named(path, v)
		case "field":
			a.Field = in.named(path, v)
		case "tokenizer":
			c.Tokenizer, a.Chain = in.named(path, v), &c
		case "filter":
			c.Filters, a.Chain = in.parts(path, v), &c
		case "char_filter":
			c.CharFilters, a.Chain = in.parts(path, v), &c
		default:
			in.fail(path, "is not supported: analyzer, field, tokenizer, filter and char_filter are")
		}
	}
	if a.Analyzer != "" && (a.Field != "" || a.Chain != nil) || a.Field != "" && a.Chain != nil {
		in.fail("parameters", "analyzer, field, and tokenizer with filters exclude each other")
	}
	return a
}

// parts gives the names of filters, each of them once: filters that make many
// tokens of one must not feed themselves.
func (in *input) parts(path string, v []byte) (names []string) {
	if rawjson.KindOf(v) != rawjson.Array {
		return []string{in.named(path, v)}
	}
	_ = rawjson.Elements(v, func(i int, v []byte) error {
		at := rawjson.Index(path, i)
		name := in.named(at, v)
		if i >= maxFilters || slices.Contains(names, name) {
			in.fail(at, "there may be %d filters, each of them once", maxFilters)
		}
		names = append(names, name)
		return in.err
	})
	return names
}

// named gives a string that is not empty.
func (in *input) named(path string, v []byte) string {
	s, isText := rawjson.String(v)
	if !isText || s == "" || len(s) > maxText {
		in.fail(path, "must be a name of 1 to %d bytes; options in place are not supported", maxText)
	}
	return s
}

// Analyze gives the tokens of a text. The index, which may be empty, must
// exist; all indexes of an installation have the same analyzers.
func (s *Service) Analyze(ctx context.Context, index, text string, a Analysis) ([]search.Token, error) {
	index, err := s.analyzable(ctx, index)
	if err != nil {
		return nil, err
	}
	release, err := s.analysisSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	settings := s.index.current()
	if a.Field != "" {
		if a.Analyzer, err = analyzerOf(settings, a.Field); err != nil {
			return nil, err
		}
	}
	if err := checkSize(settings, a, text); err != nil {
		return nil, err
	}
	var tokens []search.Token
	if a.Chain != nil {
		tokens, err = a.Chain.analyze(settings, text)
		err = at("parameters", err)
	} else {
		tokens, err = s.engine.Analyze(ctx, index, a.Analyzer, text)
		err = at("parameters.analyzer", err)
	}
	if err == nil && len(tokens) > maxTokens {
		err = problem.Field(problem.Invalid, "text", "has %d tokens, which is above the limit of %d", len(tokens), maxTokens)
	}
	return tokens, err
}

// FilterWords gives the words of which an analyzer leaves something, in their
// order (contract-notes 1.8: filter-stop-words).
func (s *Service) FilterWords(ctx context.Context, index, analyzer string, words []string) ([]string, error) {
	index, err := s.analyzable(ctx, index)
	if err != nil {
		return nil, err
	}
	release, err := s.analysisSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := s.engine.Analyze(ctx, index, analyzer, ""); err != nil { // also without words
		return nil, at("analyzer", err)
	}
	kept := []string{}
	for _, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tokens, err := s.engine.Analyze(ctx, index, analyzer, w)
		if err != nil {
			return nil, err
		}
		if len(tokens) > 0 {
			kept = append(kept, w)
		}
	}
	return kept, nil
}

// analyzable gives an index whose analyzers can be asked: the first behind the
// name, or any.
func (s *Service) analyzable(ctx context.Context, index string) (string, error) {
	names := []string{index}
	if index == "" {
		names = []string{"*"}
	}
	indices, err := s.resolve(ctx, "index", names, "")
	if err != nil {
		return "", err
	}
	if len(indices) == 0 { // a pattern, or an alias of nothing
		l, err := s.layout()
		if err != nil {
			return "", err
		}
		if indices = l.indices; len(indices) == 0 {
			return "", problem.Field(problem.NotFound, "index", "there is no index")
		}
	}
	return indices[0], nil
}

// analysisSlot waits until not too many texts are analyzed at the same time:
// each may need a hundred times its size of memory for a moment.
func (s *Service) analysisSlot(ctx context.Context) (release func(), err error) {
	select {
	case s.analyzing <- struct{}{}:
		return func() { <-s.analyzing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// at gives a problem of the analysis its place in the request.
func at(path string, err error) error {
	if problem.Is(err, problem.Invalid) {
		return problem.Field(problem.Invalid, path, "%s", problem.From(err).Detail)
	}
	return err
}

// current gives the settings in force.
func (ix *Indexer) current() search.Settings {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.settings
}

// analyzerOf gives the analyzer of a field. Content types may give a field of
// the same name different ones, which only they can tell apart.
func analyzerOf(settings search.Settings, path string) (string, error) {
	found := map[string]bool{}
	for _, fields := range settings.Types {
		for _, f := range fields {
			if f.Path == path {
				found[analyzerOfField(f)] = true
			}
			for _, sub := range f.Fields {
				if f.Path+"."+sub.Path == path {
					found[analyzerOfField(sub)] = true
				}
			}
		}
	}
	names := slices.Sorted(maps.Keys(found))
	switch len(names) {
	case 0:
		return "", problem.Field(problem.Invalid, "parameters.field", "no content type has a field %.100q", path)
	case 1:
		return names[0], nil
	}
	return "", problem.Field(problem.Invalid, "parameters.field", "the content types give %.100q different analyzers: %s", path, strings.Join(names, ", "))
}

// analyzerOfField names what a field's values go through: nothing, unless it
// is a text.
func analyzerOfField(f search.Field) string {
	switch {
	case f.Kind != search.KindText && f.Kind != search.KindSearchAsType && f.Kind != search.KindCompletion:
		return "keyword"
	case f.Analyzer == "":
		return "standard"
	}
	return f.Analyzer
}
