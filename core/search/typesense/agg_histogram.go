package typesense

import (
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
)

// histogram is a histogram on its way.
type histogram struct {
	body *search.HistogramAgg
	// hard says which keys have buckets.
	hardLow, hardHigh float64
}

func (r *run) histogramAgg(a *search.Agg, body *search.HistogramAgg, sets []set) (search.ResultBody, error) {
	columns, _, err := numeric(a, body.Field, sets)
	if err != nil {
		return nil, err
	}
	if err := checkOrder(a, body.Order, a.Path+".order"); err != nil {
		return nil, err
	}
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	h := &histogram{body: body, hardLow: math.Inf(-1), hardHigh: math.Inf(1)}
	writer, err := h.printer(columns, a.Path)
	if err != nil {
		return nil, err
	}
	bounds, err := h.bounds(r, a, &writer)
	if err != nil {
		return nil, err
	}
	stand := math.NaN()
	if body.Missing != nil {
		if stand, err = h.value(r, a, &writer, *body.Missing, ".missing"); err != nil {
			return nil, err
		}
	}
	counts, err := r.histogramCounts(a, h, sets, columns, stand)
	if err != nil {
		return nil, err
	}
	keys, err := h.keys(r, a, counts, bounds)
	if err != nil {
		return nil, err
	}
	return r.histogramResult(a, h, keys, counts, sets, columns, stand, &writer)
}

// histogramCounts gives how many objects are in each bucket. The distribution
// of the values says so when no object has two; else each bucket is counted.
func (r *run) histogramCounts(a *search.Agg, h *histogram, sets []set, columns [][]column, stand float64) (map[float64]int64, error) {
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
		counts[h.floor(v.key.num)] += v.n
		total += v.n
	}
	if !math.IsNaN(stand) {
		if _, known := counts[h.floor(stand)]; !known {
			counts[h.floor(stand)] = 0
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
func (r *run) inBucket(h *histogram, key float64, sets []set, columns [][]column, stand float64) ([]set, error) {
	next := h.floor(h.next(key) + h.slack())
	if !(next > key) {
		next = h.next(key)
	}
	return r.between(sets, columns, span{low: key, high: next, openHigh: true}, h.floor(stand) == key)
}

func (r *run) histogramResult(a *search.Agg, h *histogram, keys []float64, counts map[float64]int64, sets []set, columns [][]column, stand float64, print *printer) (search.ResultBody, error) {
	keys = slices.DeleteFunc(keys, func(key float64) bool { return counts[key] < int64(h.body.MinDocCount) })
	if err := r.spend(a, len(keys)); err != nil {
		return nil, err
	}
	out := &search.HistogramBuckets{Keyed: h.body.Keyed, Buckets: make([]search.Bucket, len(keys))}
	err := r.each(len(keys), func(i int) error {
		key := keys[i]
		b := &out.Buckets[i]
		*b = search.Bucket{Key: search.SortValue{Kind: search.NumberValue, Num: key, Whole: h.body.Dates}, KeyText: print.text(key), Count: counts[key]}
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
	if len(h.body.Order) > 0 {
		sortBuckets(out.Buckets, h.body.Order)
	}
	out.Buckets = resort(a, out.Buckets, bucketFacts)
	return out, err
}
