package typesense

import (
	"maps"
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (r *run) histogramAgg(a *search.Agg, body *search.HistogramAgg, sets []set) (search.ResultBody, error) {
	columns, err := bucketing.Numeric(columnsOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	h, err := bucketing.NewHistogram(a, body, mapping.FieldsOf(columns...), r.now)
	if err != nil {
		return nil, err
	}
	stand := math.NaN()
	if body.Missing != nil {
		if stand, err = h.Value(*body.Missing, ".missing"); err != nil {
			return nil, err
		}
	}
	counts, err := r.histogramCounts(a, h, sets, columns, stand)
	if err != nil {
		return nil, err
	}
	keys, err := h.Keys(maps.Keys(counts))
	if err != nil {
		return nil, err
	}
	return r.histogramResult(a, h, keys, counts, sets, columns, stand)
}

// histogramCounts gives how many objects are in each bucket. The distribution
// of the values says so when no object has two; else each bucket is counted.
func (r *run) histogramCounts(a *search.Agg, h *bucketing.Histogram, sets []set, columns [][]column, stand float64) (map[float64]int64, error) {
	values, objects := make([][]tally, len(sets)), int64(0)
	err := r.each(2, func(part int) error {
		if part == 1 {
			some, err := r.between(sets, columns, everyNumber(), false)
			if err != nil {
				return err
			}
			objects, err = r.count(some)
			return err
		}
		return r.each(len(sets), func(i int) error {
			lists := make([][]tally, len(columns[i]))
			err := r.each(len(lists), func(k int) (err error) {
				lists[k], err = r.distribution(a, sets[i], columns[i][k])
				return err
			})
			values[i] = slices.Concat(lists...)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	counts, total := map[float64]int64{}, int64(0)
	for _, v := range slices.Concat(values...) {
		counts[h.Floor(v.key.Num)] += v.n
		total += v.n
	}
	if !math.IsNaN(stand) {
		if _, known := counts[h.Floor(stand)]; !known {
			counts[h.Floor(stand)] = 0
		}
	}
	if total == objects && math.IsNaN(stand) {
		return counts, nil
	}
	if len(counts) > maxHistogram {
		return nil, refuseAt(a.Path, "a histogram of more than %d buckets over a field with several values", maxHistogram)
	}
	var keys []float64
	for key := range counts {
		keys = append(keys, key)
	}
	exact := make([]int64, len(keys))
	err = r.each(len(keys), func(i int) error {
		members, err := r.inBucket(h, keys[i], sets, columns, stand)
		if err != nil {
			return err
		}
		exact[i], err = r.count(members)
		return err
	})
	for i, key := range keys {
		if counts[key] = exact[i]; exact[i] == 0 {
			delete(counts, key)
		}
	}
	return counts, err
}

// inBucket gives the objects of a bucket.
func (r *run) inBucket(h *bucketing.Histogram, key float64, sets []set, columns [][]column, stand float64) ([]set, error) {
	return r.between(sets, columns, span{low: key, high: h.After(key), openHigh: true}, h.Floor(stand) == key)
}

func (r *run) histogramResult(a *search.Agg, h *bucketing.Histogram, keys []float64, counts map[float64]int64, sets []set, columns [][]column, stand float64) (search.ResultBody, error) {
	keys = slices.DeleteFunc(keys, func(key float64) bool { return counts[key] < int64(h.MinDocCount) })
	if err := r.budget.Buckets(a, len(keys)); err != nil {
		return nil, err
	}
	out := make([]search.Bucket, len(keys))
	err := r.each(len(keys), func(i int) error {
		key := keys[i]
		b := &out[i]
		*b = h.Bucket(key, counts[key])
		if len(a.Subs) == 0 {
			return nil
		}
		members, err := r.inBucket(h, key, sets, columns, stand)
		if err != nil {
			return err
		}
		b.Subs, err = r.aggs(a.Subs, members)
		return err
	})
	return h.Result(out), err
}
