package typesense

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// tally is how many objects of a set have a value.
type tally struct {
	key bucketing.Key
	n   int64
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
