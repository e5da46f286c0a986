package typesense

import (
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// tally is how many objects of a set have a value.
type tally struct {
	key bucketKey
	n   int64
}

// listable gives the columns of a field in each set of which values can be
// listed. A field that is only text has none, which is an error.
func listable(sets []set, path, where string) ([][]column, error) {
	out := make([][]column, len(sets))
	found, text, points := false, false, false
	for i, s := range sets {
		for _, c := range s.v.columns(s.sp, path) {
			if c.Field.Family == mapping.Geo {
				points = true
				continue
			}
			if !listed(c.Field) {
				text = true
				continue
			}
			found = true
			out[i] = append(out[i], c)
		}
	}
	if points && !found {
		return nil, problem.Field(problem.Invalid, where, "the field %q has points, of which there are no aggregations", path)
	}
	if text && !found && path != indexField {
		return nil, problem.Field(problem.Invalid, where,
			"the field %q is text, of which only words are known; use a keyword, such as %q", path, path+".keyword")
	}
	return out, nil
}

// numeric gives the columns with numbers. A field that only has strings is an
// error.
func numeric(a *search.Agg, field string, sets []set) (out [][]column, format *dates.Format, err error) {
	columns, err := listable(sets, field, a.Path)
	if err != nil {
		return nil, nil, err
	}
	out = make([][]column, len(sets))
	strings, found := field == indexField, false
	for i, list := range columns {
		for _, c := range list {
			if !c.Field.Family.Numeric() {
				strings = true
				continue
			}
			found = true
			out[i] = append(out[i], c)
			if c.Field.Family == mapping.Date && format == nil {
				format = c.Field.Format
			}
		}
	}
	if strings && !found {
		return nil, nil, problem.Field(problem.Invalid, a.Path, "this aggregation needs numbers or dates, and the field %q has none", field)
	}
	return out, format, nil
}

// distribution gives the values of a column in a set with the number of objects
// that have them.
func (r *run) distribution(a *search.Agg, s set, c column) ([]tally, error) {
	e, some, err := s.entry()
	if err != nil || !some {
		return nil, err
	}
	e.FacetBy, e.MaxFacetValues = c.Name, maxDistinct+1
	if c.Field.Family == mapping.Text {
		e.FacetBy = listColumnOf(c.Field)
	}
	answer, err := r.one(e)
	if err != nil {
		return nil, err
	}
	counts := facetCounts(answer)
	if len(counts) > maxDistinct {
		return nil, refuseAt(a.Path, "the field %q has more than %d different values here", c.Field.Path, maxDistinct)
	}
	out := make([]tally, 0, len(counts))
	for _, n := range counts {
		key, err := r.keyOf(s, c, n.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, tally{key, n.Count})
	}
	return out, nil
}

// keywordField is what tests of columns with keyword codes need to know.
var keywordField = &mapping.Field{Family: mapping.Keyword}
