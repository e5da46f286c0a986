package embedded

import (
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// set is some objects of one space of one view, in order. An aggregation works
// on sets of all views at once, so results need no merging afterwards.
type set struct {
	v       *view
	sp      *space
	objects []uint32
}

// aggregate computes the aggregations of a request over the hits.
func (r *run) aggregate() ([]search.AggResult, error) {
	if len(r.req.Aggs) == 0 {
		return nil, nil
	}
	sets := make([]set, 0, len(r.views))
	for _, v := range r.views {
		sets = append(sets, set{v, v.seg.root(), v.hits.ToArray()})
	}
	return r.aggs(r.req.Aggs, sets)
}

func (r *run) aggs(list []search.Agg, sets []set) ([]search.AggResult, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make([]search.AggResult, 0, len(list))
	for i := range list {
		if _, ok := list[i].Body.(*search.BucketSortAgg); ok {
			continue // done by the one around it
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		body, err := r.agg(&list[i], sets)
		if err != nil {
			return nil, err
		}
		out = append(out, search.AggResult{Name: list[i].Name, Body: body, Meta: list[i].Meta})
	}
	return out, nil
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
	case *search.TopHitsAgg:
		return r.topHits(a, body, sets)
	case *search.CompositeAgg:
		return r.compositeAgg(a, body, sets)
	case *search.FilterAgg:
		return r.filterAgg(a, body, sets)
	case *search.NestedAgg:
		return r.single(a, inside(sets, body.Objects))
	case *search.ReverseNestedAgg:
		return r.single(a, outside(sets, body.Objects))
	case *search.GlobalAgg:
		all := make([]set, 0, len(r.views))
		for _, v := range r.views {
			all = append(all, set{v, v.seg.root(), v.visible.ToArray()})
		}
		return r.single(a, all)
	}
	return nil, problem.Field(problem.Invalid, a.Path, "this aggregation is not supported by this engine")
}

// single makes the result of an aggregation with one bucket.
func (r *run) single(a *search.Agg, sets []set) (search.ResultBody, error) {
	if err := r.budget.Buckets(a, 1); err != nil {
		return nil, err
	}
	subs, err := r.aggs(a.Subs, sets)
	return &search.SingleBucket{Count: count(sets), Subs: subs}, err
}

func count(sets []set) int64 {
	n := 0
	for _, s := range sets {
		n += len(s.objects)
	}
	return int64(n)
}

// filterKey is what a compiled filter of an aggregation depends on.
type filterKey struct {
	q  search.Query
	sp *space
}

func (r *run) filterAgg(a *search.Agg, body *search.FilterAgg, sets []set) (search.ResultBody, error) {
	if body.Query == nil {
		return r.single(a, sets)
	}
	kept := make([]set, 0, len(sets))
	for _, s := range sets {
		bits, err := r.dense(body.Query, s)
		if err != nil {
			return nil, err
		}
		objects := make([]uint32, 0, len(s.objects)/2)
		for _, o := range s.objects {
			if w := int(o >> 6); w < len(bits) && bits[w]&(1<<(o&63)) != 0 {
				objects = append(objects, o)
			}
		}
		kept = append(kept, set{s.v, s.sp, objects})
	}
	return r.single(a, kept)
}

// dense gives the matches of a filter in the space of a set as bits. A filter
// below another aggregation is asked for once per bucket, so it is kept.
func (r *run) dense(q search.Query, s set) ([]uint64, error) {
	key := filterKey{q, s.sp}
	if bits, ok := r.filters[key]; ok {
		return bits, nil
	}
	o, err := s.v.compile(q, s.sp)
	if err != nil {
		return nil, err
	}
	bits := o.match().ToDense()
	if r.filters == nil {
		r.filters = map[filterKey][]uint64{}
	}
	r.filters[key] = bits
	return bits, nil
}

// inside gives the nested objects of a path within sets.
func inside(sets []set, path string) []set {
	var out []set
	for _, s := range sets {
		for _, inner := range s.v.seg.inside(s.sp, path) {
			out = append(out, set{s.v, inner, inner.lower(s.sp, s.objects)})
		}
	}
	return out
}

// outside gives the objects of a path, or the documents, that hold the objects
// of sets.
func outside(sets []set, path string) []set {
	var out []set
	for _, s := range sets {
		to := s.sp
		for to != nil && to.of.Path != path {
			to = to.parent
		}
		if to == nil {
			continue
		}
		lifted := s.sp.lift(to, slices.Clone(s.objects))
		// Objects of different paths may be in the same document.
		if i := slices.IndexFunc(out, func(o set) bool { return o.sp == to }); i >= 0 {
			both := append(out[i].objects, lifted...)
			slices.Sort(both)
			out[i].objects = slices.Compact(both)
			continue
		}
		out = append(out, set{s.v, to, lifted})
	}
	return out
}

// familiesOf gives the families that a field has in each set.
func familiesOf(sets []set, field string) [][]*family {
	out := make([][]*family, len(sets))
	for i, s := range sets {
		out[i] = s.v.families(s.sp, field)
	}
	return out
}
