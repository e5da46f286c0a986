package typesense

import (
	"math"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// sortable is the value of a document for a sort key. Its state orders
// documents with a value between those without that come first and last.
type sortable struct {
	text  string
	num   float64
	state int8
}

// The states of a sortable. Numbers come before strings.
const (
	absentFirst int8 = iota
	isNumber
	isText
	absentLast
)

func (a *sortable) compare(b *sortable, desc bool) int {
	if a.state != b.state {
		c := int(a.state) - int(b.state)
		if desc && a.state != absentFirst && a.state != absentLast && b.state != absentFirst && b.state != absentLast {
			return -c
		}
		return c
	}
	c := 0
	switch {
	case a.state == isText:
		c = strings.Compare(a.text, b.text)
	case a.state != isNumber:
	case a.num < b.num:
		c = -1
	case a.num > b.num:
		c = 1
	}
	if desc {
		return -c
	}
	return c
}

// infinity is how the distance of a document without a point is written.
const infinity = "Infinity"

// value is how a hit shows it. whole tells that numbers are integers.
func (a *sortable) value(whole bool) search.SortValue {
	switch a.state {
	case isText:
		return search.SortValue{Kind: search.StringValue, Text: a.text}
	case isNumber:
		if math.IsInf(a.num, 1) {
			return search.SortValue{Kind: search.StringValue, Text: infinity}
		}
		return search.SortValue{Kind: search.NumberValue, Num: a.num, Whole: whole && a.num == float64(int64(a.num))}
	}
	return search.SortValue{}
}

func compareHits(keys []search.SortKey, a, b []sortable) int {
	for i := range keys {
		if c := a[i].compare(&b[i], keys[i].Desc); c != 0 {
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
		words = words || listed(c.Field) && !c.Field.Family.Numeric()
	}
	if !numbers && !words {
		return "", true
	}
	if numbers && words {
		return "", false
	}
	name := SortName(numbers, key.Field, !low(key))
	missing := "last"
	if key.MissingFirst {
		missing = "first"
	}
	return name + "(missing_values:" + missing + ")" + direction, true
}

// listed tells whether values of a field can be listed, for sorts and
// aggregations.
func listed(f *mapping.Field) bool { return f.Family != mapping.Text || f.Listed }

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

// checkSort refuses keys that no index can be sorted by.
func (r *run) checkSort(key *search.SortKey) error {
	if key.Geo != nil {
		return nil
	}
	text, other, keyword := false, false, false
	for _, f := range r.named(key.Field) {
		if f.Family == mapping.Geo {
			return problem.Field(problem.Invalid, key.Path, "the field %q has points, which have no order; use _geo_distance", key.Field)
		}
		text = text || !listed(f)
		other = other || listed(f)
		keyword = keyword || listed(f) && !f.Family.Numeric()
	}
	if text && !other {
		return problem.Field(problem.Invalid, key.Path,
			"the field %q is text, which has no order; use a keyword, such as %q", key.Field, key.Field+".keyword")
	}
	if keyword && (key.Mode == search.SortSum || key.Mode == search.SortAvg) {
		return problem.Field(problem.Invalid, key.Path, "the mode %q needs numbers, and %q has strings", key.Mode, key.Field)
	}
	return nil
}

// wholeSort tells whether the values of a key are integers.
func (r *run) wholeSort(key *search.SortKey) bool {
	if key.Geo != nil || key.Field == "_score" || key.Mode == search.SortAvg {
		return false
	}
	for _, f := range r.named(key.Field) {
		if f.Family == mapping.Double {
			return false
		}
	}
	return true
}
