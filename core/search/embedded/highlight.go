package embedded

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

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

// typeKey is one content type in one index. The same path may be analyzed in
// another way in each.
type typeKey struct{ index, typ string }

// marks gives what is to be highlighted in documents of the types.
func (r *run) marks(types []string) map[typeKey][]marked {
	if r.req.Highlight == nil {
		return nil
	}
	markers := collect(nil, r.req.Query)
	out := map[typeKey][]marked{}
	for _, v := range r.views {
		for _, t := range types {
			docs := roaring.And(v.visible, v.ofTypes([]string{t}))
			if docs.IsEmpty() {
				continue
			}
			key := typeKey{v.x.name, t}
			out[key] = v.marked(out[key], docs, markers)
		}
	}
	return out
}

// marked adds the fields in which the documents have texts.
func (v *view) marked(list []marked, docs *roaring.Bitmap, markers []marker) []marked {
	for _, how := range v.run.req.Highlight.Fields {
		for _, f := range v.seg.families {
			if f == nil || f.field.Family.Numeric() || !search.MatchPattern(how.Name, f.field.Path) || !v.holds(f, docs) {
				continue
			}
			m := marked{field: f.field, how: how}
			for _, c := range markers {
				if how.AnyField || search.MatchPattern(c.field, f.field.Path) {
					m.wants = append(m.wants, c.wants)
				}
			}
			known := slices.ContainsFunc(list, func(o marked) bool { return o.field == f.field })
			if len(m.wants) > 0 && !known {
				list = append(list, m)
			}
		}
	}
	return list
}

// holds tells whether any of the documents has a value in the family.
func (v *view) holds(f *family, docs *roaring.Bitmap) bool {
	root := v.seg.root()
	sp := v.seg.spaces[f.field.Space.ID]
	if sp == nil || sp.parent == nil {
		return f.has.Intersects(docs)
	}
	it := f.has.Iterator()
	for it.HasNext() {
		if docs.Contains(sp.outer(root, it.Next())) {
			return true
		}
	}
	return false
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
		return add(q.Field, words(q.Text.Text, q.LastPrefix, q.Fuzzy))
	case *search.MatchPhrase:
		return add(q.Field, words(q.Text.Text, q.Prefix, nil))
	case *search.Prefix:
		return add(q.Field, func(f *mapping.Field, term string) bool {
			return strings.HasPrefix(term, (&family{field: f}).part(q.Value, q.Analysis))
		})
	case *search.Wildcard:
		return add(q.Field, func(f *mapping.Field, term string) bool {
			return parsePattern(q.Pattern).inFamily(&family{field: f}, q.Analysis).matches(term)
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

// words wants the terms that the search analyzer of a field makes of a text.
func words(text string, lastPrefix bool, z *search.Fuzziness) func(f *mapping.Field, term string) bool {
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

// highlight marks the texts of one source.
func highlight(raw []byte, list []marked) []search.Highlighted {
	var doc map[string]any
	if len(list) == 0 || json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	var out []search.Highlighted
	for _, m := range list {
		if slices.ContainsFunc(out, func(h search.Highlighted) bool { return h.Field == m.field.Path }) {
			continue // another form of the same path has marked something
		}
		texts := textsAt(doc, m.field.Path)
		if up := strings.LastIndexByte(m.field.Path, '.'); len(texts) == 0 && up > 0 { // a sub-field
			texts = textsAt(doc, m.field.Path[:up])
		}
		var found []fragment
		for _, text := range texts {
			found = append(found, m.cut(text)...)
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
		if len(h.Fragments) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// textsAt gives the strings under a dotted path, through arrays.
func textsAt(v any, path string) []string {
	switch v := v.(type) {
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, textsAt(e, path)...)
		}
		return out
	case string:
		if path == "" {
			return []string{v}
		}
	case map[string]any:
		var out []string
		for key, inner := range v {
			if key == path {
				out = append(out, textsAt(inner, "")...)
			} else if rest, ok := strings.CutPrefix(path, key+"."); ok {
				out = append(out, textsAt(inner, rest)...)
			}
		}
		return out
	}
	return nil
}

// fragment is a part of a text with its marks.
type fragment struct {
	text  string
	marks int
}

// place is a part of a text, in bytes, and whether it is to be marked.
type place struct {
	from, to int
	wanted   bool
}

// cut gives the parts of a text that hold something wanted.
func (m *marked) cut(text string) []fragment {
	var places []place
	if m.field.Family != mapping.Text {
		places = []place{{0, len(text), m.wanted(text)}}
	} else {
		terms, tokens := m.field.Analyzer.Terms(text)
		for i, t := range tokens {
			p := place{int(t.Start), min(int(t.End), len(text)), m.wanted(terms[i])}
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
