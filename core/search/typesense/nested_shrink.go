package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// countIDs finds the objects for which n of the list hold.
func (v *view) countIDs(sp *mapping.Space, list []cond, n int) (cond, error) {
	found := make([][]string, len(list))
	err := v.run.each(len(list), func(i int) error {
		e, err := v.shrink(sp, ofSpace(sp, express(list[i], false)))
		if err != nil {
			return err
		}
		found[i], err = v.idsOf(sp, e.String())
		return err
	})
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, ids := range found {
		for _, id := range ids {
			counts[id]++
		}
	}
	var ids []string
	for id, times := range counts {
		if times >= n {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return amongIDs("id", ids), nil
}

// shrink brings an expression below the limit of conditions: the largest parts
// of it are answered first.
func (v *view) shrink(sp *mapping.Space, e *expr) (*expr, error) {
	if e.count() <= maxConditions {
		return e, nil
	}
	out := *e
	out.kids = slices.Clone(e.kids)
	err := v.run.each(len(out.kids), func(i int) (err error) {
		out.kids[i], err = v.shrink(sp, out.kids[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for out.count() > maxConditions {
		if out = *out.grouped(); len(out.kids) == 0 {
			break
		}
		i := out.largest()
		ids, err := v.idsOf(sp, ofSpace(sp, out.kids[i]).String())
		if err != nil {
			return nil, err
		}
		out.kids[i] = express(amongIDs("id", ids), false)
	}
	return &out, nil
}

func (e *expr) largest() int {
	best, most := 0, 0
	for i, k := range e.kids {
		if n := k.count(); n > most {
			best, most = i, n
		}
	}
	return best
}

// grouped puts single conditions together, so that many of them can be answered
// at once.
func (e *expr) grouped() *expr {
	if e.kids[e.largest()].count() > 1 {
		return e
	}
	n := min(maxConditions-1, len(e.kids))
	first := &expr{op: e.op, kids: slices.Clone(e.kids[:n])}
	out := *e
	out.kids = append([]*expr{first}, e.kids[n:]...)
	return &out
}

// idsOf gives the ids of what a filter matches.
func (v *view) idsOf(sp *mapping.Space, filter string) ([]string, error) {
	if filter == matchNothing {
		return nil, nil
	}
	e := entry{Collection: v.gen.collection(sp.Path), FilterBy: filter, IncludeFields: "id"}
	hits, err := v.pages(e, maxIDs, func() error { return tooMany("documents") })
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		d, err := h.fields()
		if err != nil {
			return nil, err
		}
		ids[i] = d.ID
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func tooMany(what string) error {
	return refuse(&search.Clause{Name: "query", Path: "query"}, "a part of it that matches more than %d %s", maxIDs, what)
}
