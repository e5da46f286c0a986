package embedded

import (
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// bucket is the objects of one bucket, set by set.
type bucket [][]uint32

// sets gives the bucket as sets, without doubles.
func (b bucket) sets(of []set) []set {
	out := make([]set, len(of))
	for i, s := range of {
		if !slices.IsSorted(b[i]) { // of several families, they came in turns
			slices.Sort(b[i])
		}
		b[i] = slices.Compact(b[i])
		out[i] = set{s.v, s.sp, b[i]}
	}
	return out
}

// fill counts a bucket and computes what is below it.
func (r *run) fill(a *search.Agg, b bucket, of []set) (int64, []search.AggResult, error) {
	if err := r.budget.Buckets(a, 1); err != nil {
		return 0, nil, err
	}
	members := b.sets(of)
	subs, err := r.aggs(a.Subs, members)
	return count(members), subs, err
}

func (r *run) rangeAgg(a *search.Agg, body *search.RangeAgg, sets []set) (search.ResultBody, error) {
	families, err := bucketing.Numeric(familiesOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	fields := mapping.FieldsOf(families...)
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
	members := make([]bucket, len(ranges))
	for n := range members {
		members[n] = make(bucket, len(sets))
	}
	for i, s := range sets {
		put := func(object uint32, v float64) {
			for n := range ranges {
				if v >= ranges[n].From && v < ranges[n].To {
					members[n][i] = append(members[n][i], object)
				}
			}
		}
		for _, f := range families[i] {
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					put(object, v)
				}
			}
		}
		if body.Missing != nil {
			for _, object := range without(s, families[i]) {
				put(object, stand)
			}
		}
	}
	out := &search.RangeBuckets{Keyed: body.Keyed}
	for n := range ranges {
		b := &ranges[n].Bucket
		if b.Count, b.Subs, err = r.fill(a, members[n], sets); err != nil {
			return nil, err
		}
		out.Buckets = append(out.Buckets, *b)
	}
	out.Buckets = bucketing.ResortRanges(a, out.Buckets)
	return out, nil
}

func (r *run) filtersAgg(a *search.Agg, body *search.FiltersAgg, sets []set) (search.ResultBody, error) {
	out := &search.FilterBuckets{Names: body.Names, List: body.List}
	if err := bucketing.Check(a, nil); err != nil {
		return nil, err
	}
	buckets := make([]bucket, len(body.Queries)+1)
	for i := range buckets {
		buckets[i] = make(bucket, len(sets))
	}
	for i, s := range sets {
		masks := make([][]uint64, len(body.Queries))
		for n, q := range body.Queries {
			var err error
			if masks[n], err = r.dense(q, s); err != nil {
				return nil, err
			}
		}
		for _, object := range s.objects {
			other := true
			for n, bits := range masks {
				if w := int(object >> 6); w < len(bits) && bits[w]&(1<<(object&63)) != 0 {
					buckets[n][i] = append(buckets[n][i], object)
					other = false
				}
			}
			if last := len(buckets) - 1; other {
				buckets[last][i] = append(buckets[last][i], object)
			}
		}
	}
	if body.Other == "" {
		buckets = buckets[:len(body.Queries)]
	} else if body.Names != nil {
		out.Names = append(slices.Clone(body.Names), body.Other)
	}
	for _, b := range buckets {
		n, subs, err := r.fill(a, b, sets)
		if err != nil {
			return nil, err
		}
		out.Buckets = append(out.Buckets, search.SingleBucket{Count: n, Subs: subs})
	}
	return bucketing.ResortFilters(a, out), nil
}

// missingAgg is of the objects without any value, of whatever kind.
func (r *run) missingAgg(a *search.Agg, body *search.MissingAgg, sets []set) (search.ResultBody, error) {
	kept := make([]set, len(sets))
	for i, s := range sets {
		kept[i] = set{s.v, s.sp, without(s, s.v.families(s.sp, body.Field))}
		if body.Field == indexField {
			kept[i].objects = nil
		}
	}
	return r.single(a, kept)
}

func (r *run) percentiles(a *search.Agg, body *search.PercentilesAgg, sets []set) (search.ResultBody, error) {
	families, err := bucketing.Numeric(familiesOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	texts, err := bucketing.NewPrinter(mapping.FieldsOf(families...), body.Format, a.Path)
	if err != nil {
		return nil, err
	}
	var all []float64
	if err := eachNumber(a, body.Missing, sets, families, func(v float64) { all = append(all, v) }); err != nil {
		return nil, err
	}
	slices.Sort(all)
	return bucketing.NewPercentiles(body, &texts, int64(len(all)), func(at int64) float64 { return all[at] }), nil
}
