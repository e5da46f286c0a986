package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
)

// Bounds of phrases and of what a prefix or a fuzzy term stands for.
const (
	maxSlop       = 1_000_000
	maxExpansions = 10_000
)

// matchPhrase reads match_phrase and match_phrase_prefix.
func (p *parser) matchPhrase(clause string, o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, clause, "query")
	if err != nil {
		return nil, err
	}
	q := &search.MatchPhrase{Clause: c, Field: name, Text: v, Prefix: clause == "match_phrase_prefix"}
	if q.Slop, q.MaxExpansions, err = phraseParams(in); err != nil {
		return nil, err
	}
	if !q.Prefix && in.get("max_expansions") != nil {
		return nil, in.get("max_expansions").bad("match_phrase does not support the parameter %q", "max_expansions")
	}
	if q.Analyzer, err = in.text("analyzer", ""); err != nil {
		return nil, err
	}
	if q.ZeroAll, err = zeroTerms(in); err != nil {
		return nil, err
	}
	return q, in.done(clause)
}

// phraseParams reads how loose a phrase may be.
func phraseParams(o *object) (slop, expansions int, err error) {
	if slop, err = o.whole("slop", 0, 0, maxSlop); err != nil {
		return 0, 0, err
	}
	expansions, err = o.whole("max_expansions", 50, 1, maxExpansions)
	return slop, expansions, err
}

func zeroTerms(o *object) (all bool, err error) {
	zero, err := o.text("zero_terms_query", "none")
	if err == nil && zero != "none" && zero != "all" {
		err = o.get("zero_terms_query").bad("zero_terms_query must be none or all")
	}
	return zero == "all", err
}

func (p *parser) matchBoolPrefix(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "match_bool_prefix", "query")
	if err != nil {
		return nil, err
	}
	q := &search.Match{Clause: c, Field: name, Text: v, LastPrefix: true}
	if q.And, q.MinShould, q.Analyzer, q.ZeroAll, err = textParams(in); err != nil {
		return nil, err
	}
	if q.Fuzzy, err = fuzziness(in, "", "fuzzy_transpositions"); err != nil {
		return nil, err
	}
	return q, in.done("match_bool_prefix")
}

var multiTypes = []search.MultiType{search.BestFields, search.MostFields, search.CrossFields,
	search.Phrase, search.PhrasePrefix, search.BoolPrefix}
