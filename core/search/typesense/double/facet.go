package double

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// facetAsked is one entry of facet_by.
type facetAsked struct {
	field *field
	alpha string // "asc", "desc" or "" for by count
}

// facets counts the values of the fields asked for among the documents found.
func (x *search) facets() ([]any, *failure) {
	out := []any{}
	most := defaultFacet
	if err := x.p.numbers(map[string]*int{"max_facet_values": &most}); err != nil {
		return nil, err
	}
	for _, one := range outside(x.p["facet_by"]) {
		a, err := x.parseFacet(one)
		if err != nil {
			return nil, err
		}
		counts, err := x.count(a, most)
		if err != nil {
			return nil, err
		}
		out = append(out, counts)
	}
	return out, nil
}

func (x *search) parseFacet(one string) (facetAsked, *failure) {
	name, option, has := strings.Cut(one, "(")
	a := facetAsked{field: x.c.fields[name]}
	if a.field == nil || !a.field.Facet {
		return a, fail(404, "Could not find a facet field named `"+name+"` in the schema.")
	}
	if !has {
		return a, nil
	}
	option = strings.ReplaceAll(strings.TrimSuffix(option, ")"), " ", "")
	switch option {
	case "sort_by:_alpha:asc", "sort_by:_alpha:desc":
		if a.field.scalar() != "string" {
			return a, fail(400, "Facet field should be of type string for `sort_by: _alpha`.")
		}
		a.alpha = strings.TrimPrefix(option, "sort_by:_alpha:")
		return a, nil
	}
	if strings.Contains(option, "[") {
		if !a.field.Sort {
			return a, fail(400, "Range facets require sort enabled for the field.")
		}
		return a, x.s.unsupported("range facet %s", one)
	}
	return a, x.s.unsupported("facet option %s", one)
}

// facetValues gives values as facets show them, each once. Long ones are cut,
// so two may become one.
func (f *field) facetValues(v value) []string {
	var out []string
	once := func(v string) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, t := range v.texts {
		if len(t.tokens) > 0 {
			once(cut(t.raw, facetBytes))
		}
	}
	for _, n := range v.ints {
		if f.scalar() == "bool" {
			once(strconv.FormatBool(n == 1))
			continue
		}
		once(strconv.FormatInt(n, 10))
	}
	for _, n := range v.floats {
		once(strconv.FormatFloat(float64(float32(n)), 'g', 6, 32))
	}
	return out
}

// tally is one value with its count and the newest document that has it.
type tally struct {
	value  string
	count  int
	newest uint32
	place  int // among the values of that document
}

func (x *search) tallies(f *field) map[string]*tally {
	groups := x.groupOf()
	seen := map[string]bool{}
	out := map[string]*tally{}
	for it := x.found.Iterator(); it.HasNext(); {
		doc := it.Next()
		for i, v := range f.values[doc].facets {
			t := out[v]
			if t == nil {
				t = &tally{value: v}
				out[v] = t
			}
			t.newest, t.place = doc, i
			if groups != nil { // groups are counted then, not documents
				key := v + "\x00" + groups(doc)
				if seen[key] {
					continue
				}
				seen[key] = true
			}
			t.count++
		}
	}
	return out
}

// count makes the entry of facet_counts of one field.
func (x *search) count(a facetAsked, most int) (map[string]any, *failure) {
	counted := x.tallies(a.field)
	mark, err := x.facetQuery(a.field, counted)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(maps.Values(counted))
	whole := x.p["facet_strategy"] == "exhaustive" || strings.TrimSpace(x.p["filter_by"]) != "" || !x.query.all()
	if !whole && len(all) > most && a.alpha == "" {
		slices.SortFunc(all, func(a, b *tally) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.newest, a.newest), cmp.Compare(a.place, b.place))
		})
		all = all[:most]
	}
	slices.SortFunc(all, func(p, q *tally) int {
		switch a.alpha {
		case "asc":
			return cmp.Compare(p.value, q.value)
		case "desc":
			return cmp.Compare(q.value, p.value)
		}
		return cmp.Or(cmp.Compare(q.count, p.count), cmp.Compare(len(p.value), len(q.value)), cmp.Compare(q.value, p.value))
	})
	if !whole {
		all = all[:min(most, len(all))]
	}
	stats := a.field.stats(all)
	counts := []any{}
	for _, t := range all[:min(most, len(all))] {
		counts = append(counts, map[string]any{"count": t.count, "highlighted": mark(t.value), "value": t.value})
	}
	return map[string]any{"counts": counts, "field_name": a.field.Name, "sampled": false, "stats": stats}, nil
}

// stats describes numbers in the floating point that the server counts in.
func (f *field) stats(all []*tally) map[string]any {
	out := map[string]any{"total_values": len(all)}
	if f.scalar() == "string" || f.scalar() == "bool" || len(all) == 0 {
		return out
	}
	var sum, n, lo, hi float64
	for i, t := range all {
		v, _ := strconv.ParseFloat(t.value, 64)
		sum += v * float64(t.count)
		n += float64(t.count)
		if i == 0 || v < lo {
			lo = v
		}
		if i == 0 || v > hi {
			hi = v
		}
	}
	out["sum"], out["avg"], out["min"], out["max"] = double(sum), double(sum/n), double(lo), double(hi)
	return out
}

// double is a number that shows in its JSON that it is no integer, as the
// server writes it: `2.0`, `4.6e+18`.
type double float64

// MarshalJSON gives the shortest text that reads back as the same number.
func (d double) MarshalJSON() ([]byte, error) {
	if abs := math.Abs(float64(d)); abs >= 1e15 || abs != 0 && abs < 1e-4 {
		return strconv.AppendFloat(nil, float64(d), 'e', -1, 64), nil
	}
	text := strconv.FormatFloat(float64(d), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return []byte(text), nil
}

// facetQuery keeps the values of which one word starts with the text of
// facet_query and gives how they are shown.
func (x *search) facetQuery(f *field, counted map[string]*tally) (func(string) string, *failure) {
	name, q, ok := strings.Cut(x.p["facet_query"], ":")
	if !ok || strings.TrimSpace(name) != f.Name {
		return func(v string) string { return v }, nil
	}
	words := tokens(q)
	if len(words) != 1 {
		return nil, x.s.unsupported("facet_query %q", x.p["facet_query"])
	}
	for v := range counted {
		if !slices.ContainsFunc(tokens(v), func(t string) bool { return strings.HasPrefix(t, words[0]) }) {
			delete(counted, v)
		}
	}
	start, end := x.tags()
	return func(v string) string {
		if strings.HasPrefix(strings.ToLower(v), words[0]) {
			return start + v[:len(words[0])] + end + v[len(words[0]):]
		}
		return v
	}, nil
}

func (x *search) tags() (start, end string) {
	return x.p.text("highlight_start_tag", "<mark>"), x.p.text("highlight_end_tag", "</mark>")
}
