package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// set is some objects of one space of one index. An aggregation works on sets
// of all indices at once, so results need no merging afterwards.
type set struct {
	v  *view
	sp *mapping.Space
	c  cond // prepared
}

// Limits of aggregations.
const (
	maxDistinct  = 100_000 // values of one field
	maxHistogram = 500     // buckets of one histogram that have to be counted one by one
)

// aggregate computes the aggregations of a request over the hits.
func (r *run) aggregate() ([]search.AggResult, error) {
	if len(r.req.Aggs) == 0 {
		return nil, nil
	}
	sets := make([]set, len(r.views))
	for i, v := range r.views {
		sets[i] = set{v, v.root(), v.hits}
	}
	return r.aggs(r.req.Aggs, sets)
}

func (r *run) aggs(list []search.Agg, sets []set) ([]search.AggResult, error) {
	if len(list) == 0 {
		return nil, nil
	}
	// A bucket_sort is done by the aggregation around it.
	list = slices.DeleteFunc(slices.Clone(list), func(a search.Agg) bool { _, ok := a.Body.(*search.BucketSortAgg); return ok })
	out := make([]search.AggResult, len(list))
	err := r.each(len(list), func(i int) error {
		body, err := r.agg(&list[i], sets)
		out[i] = search.AggResult{Name: list[i].Name, Body: body, Meta: list[i].Meta}
		return err
	})
	return out, err
}

func (r *run) agg(a *search.Agg, sets []set) (search.ResultBody, error) {
	switch body := a.Body.(type) {
	case *search.TermsAgg:
		return r.termsAgg(a, body, sets)
	case *search.MetricAgg:
		return r.metric(a, body, sets)
	case *search.RangeAgg:
		return r.rangeAgg(a, body, sets)
	case *search.HistogramAgg:
		return r.histogramAgg(a, body, sets)
	case *search.FiltersAgg:
		return r.filtersAgg(a, body, sets)
	case *search.MissingAgg:
		return r.missingAgg(a, body, sets)
	case *search.PercentilesAgg:
		return r.percentiles(a, body, sets)
	case *search.FilterAgg:
		kept, err := r.filtered(body.Query, sets)
		if err != nil {
			return nil, err
		}
		return r.single(a, kept)
	case *search.NestedAgg:
		inner, err := r.inside(sets, body.Objects)
		if err != nil {
			return nil, err
		}
		return r.single(a, inner)
	case *search.ReverseNestedAgg:
		outer, err := r.outside(sets, body.Objects)
		if err != nil {
			return nil, err
		}
		return r.single(a, outer)
	case *search.TopHitsAgg:
		return r.topHits(a, body, sets)
	case *search.CompositeAgg:
		return r.compositeAgg(a, body, sets)
	case *search.GlobalAgg:
		all := make([]set, len(r.views))
		for i, v := range r.views {
			all[i] = set{v, v.root(), v.visible}
		}
		return r.single(a, all)
	}
	return nil, refuseAt(a.Path, "this aggregation is not supported")
}

// single makes the result of an aggregation with one bucket.
func (r *run) single(a *search.Agg, sets []set) (search.ResultBody, error) {
	n, subs, err := r.fill(a, sets)
	return &search.SingleBucket{Count: n, Subs: subs}, err
}

// fill counts a bucket and computes what is below it.
func (r *run) fill(a *search.Agg, sets []set) (n int64, subs []search.AggResult, err error) {
	if err := r.budget.Buckets(a, 1); err != nil {
		return 0, nil, err
	}
	err = r.each(2, func(part int) (err error) {
		if part == 0 {
			n, err = r.count(sets)
			return err
		}
		subs, err = r.aggs(a.Subs, sets)
		return err
	})
	return n, subs, err
}

// entry is a search of a set; false if nothing can be in it.
func (s set) entry() (entry, bool, error) {
	filter, err := s.v.filter(s.sp, s.c)
	return entry{Collection: s.v.gen.collection(s.sp.Path), FilterBy: filter}, filter != matchNothing && err == nil, err
}

// count gives the number of objects in sets.
func (r *run) count(sets []set) (int64, error) {
	counts := make([]int64, len(sets))
	err := r.each(len(sets), func(i int) error {
		e, some, err := sets[i].entry()
		if err != nil || !some {
			return err
		}
		answer, err := r.one(e)
		counts[i] = answer.Found
		return err
	})
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	return total, err
}

// narrowed gives the sets with one condition more each, which need not be
// prepared.
func (r *run) narrowed(sets []set, more func(s set) (cond, error)) ([]set, error) {
	out := make([]set, len(sets))
	err := r.each(len(sets), func(i int) error {
		s := sets[i]
		c, err := more(s)
		if err != nil {
			return err
		}
		c, _, err = s.v.express(s.sp, both(s.c, c))
		out[i] = set{s.v, s.sp, c}
		return err
	})
	return out, err
}

// filtered gives the objects of sets that match a query.
func (r *run) filtered(q search.Query, sets []set) ([]set, error) {
	if q == nil {
		return sets, nil
	}
	return r.narrowed(sets, func(s set) (cond, error) {
		p, err := s.v.compile(q, s.sp)
		if err != nil {
			return nil, err
		}
		return p.cond(), nil
	})
}

// inside gives the nested objects of a path within sets.
func (r *run) inside(sets []set, path string) ([]set, error) {
	var out []set
	for _, s := range sets {
		for _, inner := range s.v.inner(s.sp, path) {
			out = append(out, set{s.v, inner, &inside{s.sp, inner, s.c}})
		}
	}
	return r.narrowed(out, func(set) (cond, error) { return all{}, nil })
}

// outside gives the objects of a path, or the documents, that hold the objects
// of sets.
func (r *run) outside(sets []set, path string) ([]set, error) {
	var out []set
	for _, s := range sets {
		to := s.sp
		for to != nil && to.Path != path {
			to = to.Parent
		}
		if to == nil {
			continue
		}
		var c cond = &having{to, s.sp, s.c}
		if to == s.sp {
			c = s.c
		}
		// Objects of different paths may be in the same document.
		if i := slices.IndexFunc(out, func(o set) bool { return o.v == s.v && o.sp == to }); i >= 0 {
			out[i].c = either(out[i].c, c)
			continue
		}
		out = append(out, set{s.v, to, c})
	}
	return r.narrowed(out, func(set) (cond, error) { return all{}, nil })
}

// columnsOf gives the columns that a field has in each set.
func columnsOf(sets []set, field string) [][]column {
	out := make([][]column, len(sets))
	for i, s := range sets {
		out[i] = s.v.columns(s.sp, field)
	}
	return out
}
