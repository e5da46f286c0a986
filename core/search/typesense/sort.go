package typesense

import (
	"iter"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

func compareHits(keys []search.SortKey, a, b []sorting.Value) int {
	for i := range keys {
		if c := a[i].Compare(&b[i], keys[i].Desc); c != 0 {
			return c
		}
	}
	return 0
}

// sortBy writes the sort of the server; false if it cannot sort so.
func (v *view) sortBy(keys []search.SortKey) (string, bool) {
	var parts []string
	for i := range keys {
		part, ok := v.sortPart(&keys[i])
		if !ok {
			return "", false
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) < 3 {
		parts = append(parts, fieldOrder+":asc")
	}
	return strings.Join(parts, ","), len(parts) <= 3
}

// sortPart writes one key; empty if all documents are equal by it.
func (v *view) sortPart(key *search.SortKey) (string, bool) {
	direction := ":asc"
	if key.Desc {
		direction = ":desc"
	}
	switch key.Field {
	case "_score":
		_, same := constantScore(v.query)
		return "", same
	case "_doc":
		return fieldOrder + direction, true
	case indexField:
		return "", true
	}
	if key.Geo != nil || key.NestedPath != "" || key.Missing != nil || key.Mode == search.SortSum || key.Mode == search.SortAvg {
		return "", false
	}
	numbers, words := false, false
	for _, c := range v.columns(v.root(), key.Field) {
		numbers = numbers || c.Field.Family.Numeric()
		words = words || c.Field.Listable() && !c.Field.Family.Numeric()
	}
	if !numbers && !words {
		return "", true
	}
	if numbers && words {
		return "", false
	}
	name := SortName(numbers, key.Field, !sorting.Low(key))
	missing := "last"
	if key.MissingFirst {
		missing = "first"
	}
	return name + "(missing_values:" + missing + ")" + direction, true
}

// fields gives the fields of a path in any space of any index.
func (r *run) fields(path string) iter.Seq[*mapping.Field] { return slices.Values(r.named(path)) }

// named gives the fields of a path in any space of any index.
func (r *run) named(path string) []*mapping.Field {
	var out []*mapping.Field
	for _, v := range r.views {
		for _, space := range []string{"", "rows"} {
			for _, c := range v.gen.columns(space, path) {
				out = append(out, c.Field)
			}
		}
	}
	return out
}
