package embedded

import (
	"regexp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

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

// typeKey is one content type in one index. The same path may be analyzed in
// another way in each.
type typeKey struct{ index, typ string }

// marks gives what is to be highlighted in documents of the types.
func (r *run) marks(types []string) map[typeKey][]marked {
	if r.req.Highlight == nil {
		return nil
	}
	markers := make([][]marker, len(r.req.Highlight.Fields))
	for i := range markers {
		q := r.req.Query
		if own := r.req.Highlight.Fields[i].Query; own != nil {
			q = own
		}
		markers[i] = collect(nil, q)
	}
	out := map[typeKey][]marked{}
	for _, v := range r.views {
		for _, t := range types {
			docs := roaring.And(v.visible, v.ofTypes([]string{t}))
			if docs.IsEmpty() {
				continue
			}
			key := typeKey{v.x.name, t}
			out[key] = v.marked(out[key], r.req, docs, markers)
		}
	}
	return out
}

// marked adds the fields in which the documents have texts.
func (v *view) marked(list []marked, req *search.Request, docs *roaring.Bitmap, markers [][]marker) []marked {
	known := map[*mapping.Field]bool{}
	for i := range list {
		known[list[i].field] = true
	}
	for i := range req.Highlight.Fields {
		how := &req.Highlight.Fields[i]
		for _, f := range v.seg.families {
			if f == nil || f.field.Family.Numeric() || !search.MatchPattern(how.Name, f.field.Path) || !v.holds(f, docs) {
				continue
			}
			m := marked{field: f.field, how: how}
			for _, c := range markers[i] {
				if how.AnyField || search.MatchPattern(c.field, f.field.Path) {
					m.wants = append(m.wants, c)
				}
			}
			if (len(m.wants) > 0 || how.NoMatch > 0) && !known[f.field] {
				known[f.field] = true
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
		return add(q.Field, words(q.Field, q.Text.Text, q.LastPrefix, q.Fuzzy))
	case *search.MatchPhrase:
		return append(out, marker{field: q.Field, phrase: q})
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
func words(field, text string, lastPrefix bool, z *search.Fuzziness) func(f *mapping.Field, term string) bool {
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
