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

// marker tells which terms of a field a clause looks for, or which words side
// by side.
type marker struct {
	field  string // may hold *
	wants  func(f *mapping.Field, term string) bool
	phrase *search.MatchPhrase
}

// marked is a field to be highlighted and the clauses that matter for it.
type marked struct {
	field *mapping.Field
	how   *search.HighlightField
	wants []marker
}

// marks says what is to be highlighted; nil for nothing.
type marks struct {
	fields  []search.HighlightField
	markers [][]marker // by field
	known   map[markKey]*marked
}

type markKey struct {
	how   int
	field *mapping.Field
}

func newMarks(h *search.Highlight, q search.Query) *marks {
	if h == nil {
		return nil
	}
	m := &marks{fields: h.Fields, markers: make([][]marker, len(h.Fields)), known: map[markKey]*marked{}}
	for i := range h.Fields {
		from := q
		if own := h.Fields[i].Query; own != nil {
			from = own
		}
		m.markers[i] = collect(nil, from)
	}
	return m
}

// of marks the texts of an object and of those inside it.
func (m *marks) of(o *object) []search.Highlighted {
	if m == nil {
		return nil
	}
	var out []search.Highlighted
	for i := range m.fields {
		for _, c := range o.doc.fields {
			f := c.Field
			known := slices.ContainsFunc(out, func(h search.Highlighted) bool { return h.Field == f.Path })
			if f.Family.Numeric() || known || strings.HasPrefix(f.Path, "_") || !search.MatchPattern(m.fields[i].Name, f.Path) {
				continue
			}
			texts := o.texts(c.Name)
			if parts := m.field(i, f).fragments(texts); len(parts) > 0 {
				out = append(out, search.Highlighted{Field: f.Path, Fragments: parts})
			}
		}
	}
	return out
}

// texts gives the texts of a column in an object and those inside it.
func (o *object) texts(column string) []string {
	var out []string
	for _, k := range o.doc.objects {
		for up := k; up != nil; up = up.up {
			if up != o {
				continue
			}
			for _, v := range k.values(column) {
				out = append(out, v.text)
			}
			break
		}
	}
	return out
}

// field gives the clauses that matter for a field.
func (m *marks) field(i int, f *mapping.Field) *marked {
	key := markKey{i, f}
	if known := m.known[key]; known != nil {
		return known
	}
	out := &marked{field: f, how: &m.fields[i]}
	for _, c := range m.markers[i] {
		if out.how.AnyField || search.MatchPattern(c.field, f.Path) {
			out.wants = append(out.wants, c)
		}
	}
	m.known[key] = out
	return out
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
		return add(q.Field, wordsOf(q.Field, q.Text.Text, q.LastPrefix, q.Fuzzy))
	case *search.MatchPhrase:
		if q.Slop == 0 {
			return append(out, marker{field: q.Field, phrase: q})
		}
		return add(q.Field, wordsOf(q.Field, q.Text.Text, q.Prefix, nil))
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
