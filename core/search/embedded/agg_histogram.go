package embedded

import (
	"math"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// histogram is a histogram on its way.
type histogram struct {
	*bucketing.Histogram
	n     int  // sets
	lists bool // objects are kept, not only counted
	slots slots
}

// slot is a bucket on its way. Twice an object in a row counts once.
type slot struct {
	key     float64
	count   int64
	set     int
	last    uint32
	members bucket
}

func (r *run) histogramAgg(a *search.Agg, body *search.HistogramAgg, sets []set) (search.ResultBody, error) {
	families, err := bucketing.Numeric(familiesOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	h := &histogram{n: len(sets), lists: len(a.Subs) > 0}
	if h.Histogram, err = bucketing.NewHistogram(a, body, mapping.FieldsOf(families...), r.now); err != nil {
		return nil, err
	}
	stand := math.NaN()
	if body.Missing != nil {
		if stand, err = h.Value(*body.Missing, ".missing"); err != nil {
			return nil, err
		}
	}
	for i := range sets {
		h.lists = h.lists || len(families[i]) > 1
	}
	h.slots = h.layOut(sets, families)
	for i, s := range sets {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		for _, f := range families[i] {
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					h.add(i, object, v)
				}
			}
			if h.slots.made > bucketing.MaxBuckets {
				return nil, r.budget.Buckets(a, h.slots.made)
			}
		}
		if body.Missing != nil {
			for _, object := range without(s, families[i]) {
				h.add(i, object, stand)
			}
		}
	}
	keys, err := h.Keys(h.slots.keys())
	if err != nil {
		return nil, err
	}
	return r.histogramResult(a, h, keys, sets)
}

func (r *run) histogramResult(a *search.Agg, h *histogram, keys []float64, sets []set) (search.ResultBody, error) {
	out := make([]search.Bucket, 0, len(keys))
	for _, key := range keys {
		members := make(bucket, len(sets))
		b := h.Bucket(key, 0)
		if s := h.slots.find(key); s != nil && s.count > 0 {
			if b.Count = s.count; h.lists {
				members = s.members
				b.Count = count(members.sets(sets))
			}
		}
		if b.Count < int64(h.MinDocCount) {
			continue
		}
		if err := r.budget.Buckets(a, 1); err != nil {
			return nil, err
		}
		var err error
		if b.Subs, err = r.aggs(a.Subs, members.sets(sets)); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return h.Result(out), nil
}

func (h *histogram) add(set int, object uint32, v float64) {
	s := h.slots.at(v)
	if s.count > 0 && s.last == object && s.set == set {
		return
	}
	s.count++
	s.last, s.set = object, set
	if h.lists {
		if s.members == nil {
			s.members = make(bucket, h.n)
		}
		s.members[set] = append(s.members[set], object)
	}
}
