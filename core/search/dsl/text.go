package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
)

func (p *parser) match(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "match", "query")
	if err != nil {
		return nil, err
	}
	q := &search.Match{Clause: c, Field: name, Text: v}
	if q.And, q.MinShould, q.Analyzer, q.ZeroAll, err = textParams(in); err != nil {
		return nil, err
	}
	if q.Fuzzy, err = fuzziness(in, "", "fuzzy_transpositions"); err != nil {
		return nil, err
	}
	return q, in.done("match")
}

// textParams reads what match and multi_match share.
func textParams(o *object) (and bool, m *search.Minimum, analyzer string, zeroAll bool, err error) {
	op, err := o.text("operator", "or")
	if err != nil {
		return
	}
	switch strings.ToLower(op) {
	case "and":
		and = true
	case "or":
	default:
		err = o.get("operator").bad("operator must be and or or")
		return
	}
	if m, err = minimum(o); err != nil {
		return
	}
	if analyzer, err = o.text("analyzer", ""); err != nil {
		return
	}
	if zeroAll, err = zeroTerms(o); err != nil {
		return
	}
	// Both are about errors and phrases that do not arise here.
	o.get("lenient")
	o.get("auto_generate_synonyms_phrase_query")
	return
}

func (p *parser) multiMatch(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.MultiMatch{Clause: c}
	text := o.get("query")
	if text == nil {
		return nil, o.bad("multi_match needs the parameter %q", "query")
	}
	if q.Text, err = text.value(); err != nil {
		return nil, err
	}
	if n := o.get("fields"); n != nil {
		if q.Fields, err = weighted(n); err != nil {
			return nil, err
		}
	}
	kind, err := o.text("type", "best_fields")
	if err != nil {
		return nil, err
	}
	if q.Type = search.MultiType(kind); !slices.Contains(multiTypes, q.Type) {
		return nil, o.get("type").bad("multi_match does not support the type %q", kind)
	}
	if q.Slop, q.MaxExpansions, err = phraseParams(o); err != nil {
		return nil, err
	}
	if q.Fuzzy, err = fuzziness(o, "", "fuzzy_transpositions"); err != nil {
		return nil, err
	}
	switch q.Type {
	case search.Phrase, search.PhrasePrefix, search.CrossFields:
		if q.Fuzzy != nil {
			return nil, o.get("fuzziness").bad("multi_match of the type %q does not support fuzziness", kind)
		}
	}
	if q.TieBreaker, err = o.float("tie_breaker", 0); err != nil {
		return nil, err
	}
	q.And, q.MinShould, q.Analyzer, q.ZeroAll, err = textParams(o)
	return q, err
}

// weighted reads fields such as "title^3".
func weighted(n *node) ([]search.WeightedField, error) {
	names, err := n.strings()
	if err != nil {
		return nil, err
	}
	if len(names) > maxClauses {
		return nil, n.bad("more than %d fields", maxClauses)
	}
	out := make([]search.WeightedField, len(names))
	for i, s := range names {
		name, boost, found := strings.Cut(s, "^")
		out[i] = search.WeightedField{Name: name, Boost: 1}
		if found {
			f, err := strconv.ParseFloat(boost, 64)
			if err != nil || !(f >= 0 && f <= 1e9) {
				return nil, n.bad("%q has no valid boost", s)
			}
			out[i].Boost = f
		}
		if name == "" || len(name) > maxName {
			return nil, n.bad("%q is no field", s)
		}
	}
	return out, nil
}
