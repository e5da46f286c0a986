// Package marking marks in texts what a query looks for. It reads the query
// and analyzes the texts, whatever engine found the documents.
package marking

import (
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/words"
)

// Markers are what the clauses of a query look for.
type Markers []marker

// marker tells which terms of a field a clause looks for, or which words side
// by side.
type marker struct {
	field  string // may hold *
	wants  func(f *mapping.Field, term string) bool
	phrase *search.MatchPhrase
}

// Field is a field to be highlighted, with the clauses that matter for it. It is
// used by one goroutine.
type Field struct {
	Of    *mapping.Field
	how   *search.HighlightField
	wants []marker
}

// MarkersOf gives the markers of a highlighted field: those of its own query, or
// of the query of the search.
func MarkersOf(how *search.HighlightField, q search.Query) Markers {
	if how.Query != nil {
		q = how.Query
	}
	return collect(nil, q)
}

// For gives what is to be marked in a field; false if nothing can be shown.
func (m Markers) For(f *mapping.Field, how *search.HighlightField) (Field, bool) {
	out := Field{Of: f, how: how}
	for _, c := range m {
		if how.AnyField || search.MatchPattern(c.field, f.Path) {
			out.wants = append(out.wants, c)
		}
	}
	return out, len(out.wants) > 0 || how.NoMatch > 0
}

// collect gives the markers of a query.
func collect(out []marker, q search.Query) []marker {
	each := func(list ...search.Query) []marker {
		for _, c := range list {
			out = collect(out, c)
		}
		return out
	}
	add := func(field string, wants func(f *mapping.Field, term string) bool) []marker {
		return append(out, marker{field: field, wants: wants})
	}
	switch q := q.(type) {
	case *search.Bool:
		return each(slices.Concat(q.Must, q.Should, q.Filter)...)
	case *search.Nested:
		return each(q.Query)
	case *search.ConstantScore:
		return each(q.Filter)
	case *search.DisMax:
		return each(q.Queries...)
	case *search.Boosting:
		return each(q.Positive)
	case *search.FunctionScore:
		return each(q.Query)
	case *search.Each:
		for _, f := range q.Fields {
			out = collect(out, q.In(f))
		}
		return out
	case *search.MultiMatch:
		fields := q.Fields
		if len(fields) == 0 {
			fields = []search.WeightedField{{Name: "*", Boost: 1}}
		}
		for _, f := range fields {
			out = collect(out, q.In(f))
		}
		return out
	case *search.Term:
		return add(q.Field, func(_ *mapping.Field, term string) bool { return term == q.Value.Text })
	case *search.Terms:
		return add(q.Field, func(_ *mapping.Field, term string) bool {
			return slices.ContainsFunc(q.Values, func(v search.Value) bool { return v.Text == term })
		})
	case *search.Match:
		return add(q.Field, wordsOf(q.Field, q.Text.Text, q.LastPrefix, q.Fuzzy))
	case *search.MatchPhrase:
		return append(out, marker{field: q.Field, phrase: q})
	case *search.Prefix:
		return add(q.Field, func(f *mapping.Field, term string) bool {
			p := words.Prefix(q.Value).In(f, q.Analysis)
			return strings.HasPrefix(term, p.Literal())
		})
	case *search.Wildcard:
		return add(q.Field, func(f *mapping.Field, term string) bool {
			p := words.ParsePattern(q.Pattern).In(f, q.Analysis)
			return p.Matches(term)
		})
	case *search.Fuzzy:
		return add(q.Field, func(_ *mapping.Field, term string) bool { return near(q.Value, term, &q.Fuzziness) })
	case *search.Regexp:
		if re, err := lucene.RE2(q.Pattern); err == nil {
			// An expression that is too large matches nothing here; a query with it is
			// refused, but not every highlight_query is run.
			if whole, err := regexp.Compile(`\A(?s:` + re + `)\z`); err == nil {
				return add(q.Field, func(_ *mapping.Field, term string) bool { return whole.MatchString(term) })
			}
		}
	}
	return out
}

func near(word, term string, z *search.Fuzziness) bool {
	d := words.Distance{To: []rune(word), Most: z.Of(word), Swap: !z.NoTranspositions}
	_, ok := d.From(term)
	return ok
}

// wordsOf wants the terms that the search analyzer of a field makes of a text.
func wordsOf(field, text string, lastPrefix bool, z *search.Fuzziness) func(f *mapping.Field, term string) bool {
	var of *mapping.Field
	var terms []string
	return func(f *mapping.Field, term string) bool {
		if of != f {
			of, terms = f, []string{text}
			if f.Family == mapping.Text {
				terms, _ = f.Search.Terms(text)
			} else if !search.MatchPattern(field, f.Path) { // the words that were looked for elsewhere
				terms = strings.Fields(strings.ToLower(text))
			}
		}
		for i, t := range terms {
			if t == term || lastPrefix && i == len(terms)-1 && strings.HasPrefix(term, t) || z != nil && near(t, term, z) {
				return true
			}
		}
		return false
	}
}
