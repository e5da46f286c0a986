package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
)

func (r *run) filtersAgg(a *search.Agg, body *search.FiltersAgg, sets []set) (search.ResultBody, error) {
	if err := bucketing.Check(a, nil); err != nil {
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
	return bucketing.ResortFilters(a, out), err
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
		case slices.ContainsFunc(columns, func(c column) bool { return !c.Field.Listable() }):
			return not{&exists{body.Field}}, nil
		}
		return without(columns), nil
	})
	if err != nil {
		return nil, err
	}
	return r.single(a, kept)
}
