package typesense

import (
	"math"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// rangeAgg counts each range by itself, so that they may overlap.
func (r *run) rangeAgg(a *search.Agg, body *search.RangeAgg, sets []set) (search.ResultBody, error) {
	columns, err := bucketing.Numeric(columnsOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	fields := mapping.FieldsOf(columns...)
	ranges, err := bucketing.Ranges(a, body, fields, r.now)
	if err != nil {
		return nil, err
	}
	if err := bucketing.Check(a, nil); err != nil {
		return nil, err
	}
	stand := math.NaN()
	if body.Missing != nil {
		if stand, err = bucketing.StandIn(a, *body.Missing, fields); err != nil {
			return nil, err
		}
	}
	out := &search.RangeBuckets{Keyed: body.Keyed, Buckets: make([]search.RangeBucket, len(ranges))}
	err = r.each(len(ranges), func(i int) error {
		from, to := ranges[i].From, ranges[i].To
		members, err := r.between(sets, columns, span{low: from, high: to, openHigh: true}, stand >= from && stand < to)
		if err != nil {
			return err
		}
		b := &out.Buckets[i]
		*b = ranges[i].Bucket
		b.Count, b.Subs, err = r.fill(a, members)
		return err
	})
	out.Buckets = bucketing.ResortRanges(a, out.Buckets)
	return out, err
}

// between gives the objects of sets with a number in a span, or with missing
// also those without a number.
func (r *run) between(sets []set, columns [][]column, s span, missing bool) ([]set, error) {
	out := make([]set, len(sets))
	err := r.each(len(sets), func(i int) error {
		var list []cond
		for _, c := range columns[i] {
			list = append(list, &test{f: c.Field, column: c.Name, spans: []span{s}})
		}
		if missing {
			list = append(list, without(columns[i]))
		}
		one, err := r.narrowed(sets[i:i+1], func(set) (cond, error) { return either(list...), nil })
		if err == nil {
			out[i] = one[0]
		}
		return err
	})
	return out, err
}
