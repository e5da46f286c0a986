package typesense

import (
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Highlights are made here, of the source: the server would mark the codes of
// the tokens.

// marker tells which terms of a field a clause looks for.
type marker struct {
	field string // may hold *
	wants func(f *mapping.Field, term string) bool
}

// marked is a field to be highlighted and the clauses that matter for it.
type marked struct {
	field *mapping.Field
	how   search.HighlightField
	wants []func(f *mapping.Field, term string) bool
}

// marks says what is to be highlighted; nil for nothing.
type marks struct {
	how     *search.Highlight
	markers []marker
	known   map[*mapping.Field]*marked
}

func newMarks(h *search.Highlight, q search.Query) *marks {
	if h == nil {
		return nil
	}
	return &marks{how: h, markers: collect(nil, q), known: map[*mapping.Field]*marked{}}
}

// of marks the texts of a document.
func (m *marks) of(d *document) []search.Highlighted {
	if m == nil {
		return nil
	}
	var out []search.Highlighted
	seen := map[string]bool{}
	for _, how := range m.how.Fields {
		for _, c := range d.columns() {
			f := c.Field
			if f.Family.Numeric() || strings.HasPrefix(f.Path, "_") || seen[f.Path] || !search.MatchPattern(how.Name, f.Path) {
				continue
			}
			field := m.field(f, how)
			if len(field.wants) == 0 {
				continue
			}
			seen[f.Path] = true
			if h := field.highlight(d, c.Name); len(h.Fragments) > 0 {
				out = append(out, h)
			}
		}
	}
	return out
}

// field gives the clauses that matter for a field.
func (m *marks) field(f *mapping.Field, how search.HighlightField) *marked {
	if known := m.known[f]; known != nil && known.how == how {
		return known
	}
	out := &marked{field: f, how: how}
	for _, c := range m.markers {
		if how.AnyField || search.MatchPattern(c.field, f.Path) {
			out.wants = append(out.wants, c.wants)
		}
	}
	m.known[f] = out
	return out
}

// highlight marks the texts of one column.
func (m *marked) highlight(d *document, column string) search.Highlighted {
	var found []fragment
	for _, o := range d.objects {
		for _, v := range o.values(column) {
			found = append(found, m.cut(v.text)...)
		}
	}
	if m.how.ByScore {
		slices.SortStableFunc(found, func(a, b fragment) int { return b.marks - a.marks })
	}
	if n := m.how.Fragments; n > 0 && len(found) > n {
		found = found[:n]
	}
	h := search.Highlighted{Field: m.field.Path}
	for _, f := range found {
		h.Fragments = append(h.Fragments, f.text)
	}
	return h
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
		return append(out, marker{field, wants})
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
			out = collect(out, ofField(q, f))
		}
		return out
	case *search.Term:
		return add(q.Field, func(_ *mapping.Field, term string) bool { return term == q.Value.Text })
	case *search.Terms:
		return add(q.Field, func(_ *mapping.Field, term string) bool {
			return slices.ContainsFunc(q.Values, func(v search.Value) bool { return v.Text == term })
		})
	case *search.Match:
		return add(q.Field, wordsOf(q.Text.Text, q.LastPrefix, q.Fuzzy))
	case *search.MatchPhrase:
		return add(q.Field, wordsOf(q.Text.Text, q.Prefix, nil))
	case *search.Prefix:
		return add(q.Field, func(f *mapping.Field, term string) bool {
			p := pattern{parts: []piece{{text: q.Value}, {star: true}}}.inField(f, q.Analysis)
			return strings.HasPrefix(term, p.literal())
		})
	case *search.Wildcard:
		return add(q.Field, func(f *mapping.Field, term string) bool {
			p := parsePattern(q.Pattern).inField(f, q.Analysis)
			return p.matches(term)
		})
	case *search.Fuzzy:
		return add(q.Field, func(_ *mapping.Field, term string) bool { return near(q.Value, term, &q.Fuzziness) })
	case *search.Regexp:
		if re, err := lucene.RE2(q.Pattern); err == nil {
			whole := regexp.MustCompile(`\A(?s:` + re + `)\z`)
			return add(q.Field, func(_ *mapping.Field, term string) bool { return whole.MatchString(term) })
		}
	}
	return out
}

func near(word, term string, z *search.Fuzziness) bool {
	d := distance{to: []rune(word), most: z.Of(word), swap: !z.NoTranspositions}
	_, ok := d.from(term)
	return ok
}

// wordsOf wants the terms that the search analyzer of a field makes of a text.
func wordsOf(text string, lastPrefix bool, z *search.Fuzziness) func(f *mapping.Field, term string) bool {
	var of *mapping.Field
	var terms []string
	return func(f *mapping.Field, term string) bool {
		if of != f {
			of, terms = f, []string{text}
			if f.Family == mapping.Text {
				terms, _ = f.Search.Terms(text)
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

// fragment is a part of a text with its marks.
type fragment struct {
	text  string
	marks int
}

// stretch is a part of a text, in bytes, and whether it is to be marked.
type stretch struct {
	from, to int
	wanted   bool
}

// cut gives the parts of a text that hold something wanted.
func (m *marked) cut(text string) []fragment {
	var places []stretch
	if m.field.Family != mapping.Text {
		places = []stretch{{0, len(text), m.wanted(text)}}
	} else {
		terms, tokens := m.field.Analyzer.Terms(text)
		for i, t := range tokens {
			p := stretch{int(t.Start), min(int(t.End), len(text)), m.wanted(terms[i])}
			if n := len(places); n > 0 && p.from < places[n-1].to { // synonyms and shingles
				places[n-1].wanted = places[n-1].wanted || p.wanted
				continue
			}
			if p.from <= p.to {
				places = append(places, p)
			}
		}
	}
	var out []fragment
	start, at, marks := 0, 0, 0
	var b strings.Builder
	flush := func(end int) {
		b.WriteString(text[at:end])
		if marks > 0 {
			out = append(out, fragment{strings.TrimSpace(b.String()), marks})
		}
		b.Reset()
		start, at, marks = end, end, 0
	}
	for _, p := range places {
		if m.how.Fragments > 0 && p.to-start > m.how.Size && p.from > start {
			flush(p.from)
		}
		if p.wanted {
			b.WriteString(text[at:p.from] + m.how.Pre + text[p.from:p.to] + m.how.Post)
			at = p.to
			marks++
		}
	}
	flush(len(text))
	return out
}

func (m *marked) wanted(term string) bool {
	return slices.ContainsFunc(m.wants, func(w func(*mapping.Field, string) bool) bool { return w(m.field, term) })
}
