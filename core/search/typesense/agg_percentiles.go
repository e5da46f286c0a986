package typesense

import (
	"cmp"
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (r *run) percentiles(a *search.Agg, body *search.PercentilesAgg, sets []set) (search.ResultBody, error) {
	columns, err := bucketing.Numeric(columnsOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	texts, err := bucketing.NewPrinter(mapping.FieldsOf(columns...), body.Format, a.Path)
	if err != nil {
		return nil, err
	}
	values, err := r.numbers(a, body.Missing, sets, columns)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, v := range values {
		total += v.n
	}
	slices.SortFunc(values, func(a, b tally) int { return cmp.Compare(a.key.Num, b.key.Num) })
	return bucketing.NewPercentiles(body, &texts, total, func(at int64) float64 { return nth(values, at) }), nil
}

// nth gives the value at a place in the order of all.
func nth(values []tally, at int64) float64 {
	for _, v := range values {
		if at < v.n {
			return v.key.Num
		}
		at -= v.n
	}
	return math.NaN()
}
