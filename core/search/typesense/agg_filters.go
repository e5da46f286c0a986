package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
)

func (r *run) filtersAgg(a *search.Agg, body *search.FiltersAgg, sets []set) (search.ResultBody, error) {
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	n := len(body.Queries)
	out := &search.FilterBuckets{Names: body.Names, List: body.List}
	if body.Other != "" {
		n++
		if body.Names != nil {
			out.Names = append(slices.Clone(body.Names), body.Other)
		}
	}
	out.Buckets = make([]search.SingleBucket, n)
	err := r.each(n, func(i int) error {
		members, err := r.narrowed(sets, func(s set) (cond, error) {
			if i < len(body.Queries) {
				p, err := s.v.compile(body.Queries[i], s.sp)
				if err != nil {
					return nil, err
				}
				return p.cond(), nil
			}
			ops, err := s.v.compileAll(body.Queries, s.sp)
			return negated(either(condsOf(ops)...)), err
		})
		if err != nil {
			return err
		}
		b := &out.Buckets[i]
		b.Count, b.Subs, err = r.fill(a, members)
		return err
	})
	return resortFilters(a, out), err
}

// resortFilters applies the bucket_sorts; the names go with their buckets.
func resortFilters(a *search.Agg, in *search.FilterBuckets) *search.FilterBuckets {
	order := make([]int, len(in.Buckets))
	for i := range order {
		order[i] = i
	}
	order = resort(a, order, func(i *int) facts {
		f := facts{sortable{num: float64(*i), state: isNumber}, in.Buckets[*i].Count, in.Buckets[*i].Subs}
		if in.Names != nil {
			f.key = sortable{text: in.Names[*i], state: isText}
		}
		return f
	})
	out := &search.FilterBuckets{List: in.List, Buckets: make([]search.SingleBucket, len(order))}
	if in.Names != nil {
		out.Names = make([]string, len(order))
	}
	for to, from := range order {
		out.Buckets[to] = in.Buckets[from]
		if in.Names != nil {
			out.Names[to] = in.Names[from]
		}
	}
	return out
}

// missingAgg is of the objects without any value, of whatever kind.
func (r *run) missingAgg(a *search.Agg, body *search.MissingAgg, sets []set) (search.ResultBody, error) {
	kept, err := r.narrowed(sets, func(s set) (cond, error) {
		columns := s.v.columns(s.sp, body.Field)
		switch {
		case body.Field == indexField:
			return nothing{}, nil
		case len(columns) == 0:
			return all{}, nil
		case slices.ContainsFunc(columns, func(c column) bool { return !listed(c.Field) }):
			return not{&exists{body.Field}}, nil
		}
		return without(columns), nil
	})
	if err != nil {
		return nil, err
	}
	return r.single(a, kept)
}
