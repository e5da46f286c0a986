package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxIDs is how many documents or nested objects a part of a query may match
// that has to be answered before the whole can be asked.
const maxIDs = 100_000

// filter writes a condition on the objects of a space, after the server has
// answered what a filter cannot say.
func (v *view) filter(sp *mapping.Space, c cond) (string, error) {
	_, e, err := v.express(sp, c)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// express prepares a condition and writes it, for the collection of the space.
// The condition is given back, so that more can be added to it.
func (v *view) express(sp *mapping.Space, c cond) (cond, *expr, error) {
	var join *having
	if !hasJoin(c) {
		join = firstNested(c, sp)
	}
	c, err := v.prepare(sp, c, join)
	if err != nil {
		return nil, nil, err
	}
	e, err := v.shrink(sp, ofSpace(sp, express(c, false)))
	return c, e, err
}

// ofSpace adds that the rows are those of the space.
func ofSpace(sp *mapping.Space, e *expr) *expr {
	if sp.Parent == nil {
		return e
	}
	path := &expr{text: fieldSpace + ":=" + EncodeKeyword(sp.Path), c: all{}}
	if e.op == 0 && e.text == "" {
		return path
	}
	return &expr{op: '&', kids: []*expr{path, e}}
}

// firstNested gives the nested clause that may become a join: a filter holds
// one join at most.
func firstNested(c cond, sp *mapping.Space) *having {
	var list []cond
	switch c := c.(type) {
	case and:
		list = c
	case or:
		list = c
	case *atLeast:
		return nil // it would be written several times
	case not:
		list = []cond{c.c}
	case *having:
		if c.outer == sp && sp.Parent == nil {
			return c
		}
	}
	for _, k := range list {
		if h := firstNested(k, sp); h != nil {
			return h
		}
	}
	return nil
}

// hasJoin tells whether a condition holds a join already.
func hasJoin(c cond) bool {
	switch c := c.(type) {
	case and:
		return slices.ContainsFunc(c, hasJoin)
	case or:
		return slices.ContainsFunc(c, hasJoin)
	case *atLeast:
		return slices.ContainsFunc(c.list, hasJoin)
	case not:
		return hasJoin(c.c)
	case *joined:
		return true
	}
	return false
}

// prepare replaces what no filter can say by lists of ids, or one join.
func (v *view) prepare(sp *mapping.Space, c cond, join *having) (cond, error) {
	switch c := c.(type) {
	case and:
		list, err := v.prepareAll(sp, c, join)
		return both(list...), err
	case or:
		list, err := v.prepareAll(sp, c, join)
		return either(list...), err
	case not:
		inner, err := v.prepare(sp, c.c, join)
		if err != nil {
			return nil, err
		}
		return negated(inner), nil
	case *atLeast:
		list, err := v.prepareAll(sp, c.list, join)
		if err != nil {
			return nil, err
		}
		if choose(len(list), c.n) <= 20 {
			return &atLeast{c.n, list}, nil
		}
		return v.countIDs(sp, list, c.n)
	case *having:
		return v.prepareHaving(c, c == join)
	case *inside:
		return v.prepareInside(c)
	case *verified:
		objects, err := v.objects(c.sp, c.c, nil, c.why)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, o := range objects {
			if c.pred(o) {
				ids = append(ids, o.id)
			}
		}
		return amongIDs("id", ids), nil
	}
	return c, nil
}

func (v *view) prepareAll(sp *mapping.Space, list []cond, join *having) ([]cond, error) {
	out := make([]cond, len(list))
	err := v.run.each(len(list), func(i int) (err error) {
		out[i], err = v.prepare(sp, list[i], join)
		return err
	})
	return out, err
}

// prepareHaving finds the objects that hold nested ones: by a join, or by a
// search of the rows for the objects around them.
func (v *view) prepareHaving(c *having, join bool) (cond, error) {
	inner, err := v.prepare(c.inner, c.c, nil)
	if err != nil {
		return nil, err
	}
	if _, ok := inner.(nothing); ok {
		return nothing{}, nil
	}
	e, err := v.shrink(c.inner, ofSpace(c.inner, express(inner, false)))
	if err != nil {
		return nil, err
	}
	if text := e.String(); join && joinable(e, text) {
		return &joined{"$" + v.gen.rows + "(" + text + ")", c}, nil
	}
	filter := e.String()
	for at := c.inner; at != c.outer; at = at.Parent {
		field := fieldUp
		if c.outer.Parent == nil {
			field = fieldRoot
		}
		ids, err := v.around(filter, field)
		if err != nil {
			return nil, err
		}
		if field == fieldRoot || at.Parent == c.outer {
			return amongIDs("id", ids), nil
		}
		filter = ofSpace(at.Parent, express(amongIDs("id", ids), false)).String()
	}
	return nothing{}, nil
}

// joinable tells whether an expression may stand in a join: the server would
// cut prefixes, and die of a long one.
func joinable(e *expr, text string) bool {
	return len(text) <= maxJoin && !e.any(func(x *expr) bool { return x.cut || x.join })
}

// around gives the ids that rows have in a field.
func (v *view) around(filter, field string) ([]string, error) {
	answer, err := v.run.one(entry{Collection: v.gen.rows, FilterBy: filter, FacetBy: field, MaxFacetValues: maxIDs + 1})
	if err != nil {
		return nil, err
	}
	counts := facetCounts(answer)
	if len(counts) > maxIDs {
		return nil, tooMany("nested objects")
	}
	ids := make([]string, len(counts))
	for i, c := range counts {
		ids[i] = c.Value
	}
	slices.Sort(ids)
	return ids, nil
}

// prepareInside finds the nested objects that lie in some others.
func (v *view) prepareInside(c *inside) (cond, error) {
	if _, ok := c.c.(all); ok {
		return all{}, nil
	}
	prepared, e, err := v.express(c.outer, c.c)
	if err != nil {
		return nil, err
	}
	if _, ok := prepared.(nothing); ok {
		return nothing{}, nil
	}
	text := e.String()
	if c.outer.Parent == nil && joinable(e, text) {
		return &joined{"$" + v.gen.main + "(" + text + ")", c}, nil
	}
	ids, err := v.idsOf(c.outer, text)
	if err != nil {
		return nil, err
	}
	if c.outer.Parent == nil {
		return amongIDs(fieldRoot, ids), nil
	}
	var down []*mapping.Space // from inner to what lies in outer
	for s := c.inner; s != c.outer && s != nil; s = s.Parent {
		down = append(down, s)
	}
	for _, s := range slices.Backward(down[1:]) {
		filter := ofSpace(s, express(amongIDs(fieldUp, ids), false)).String()
		if ids, err = v.idsOf(s, filter); err != nil {
			return nil, err
		}
	}
	return amongIDs(fieldUp, ids), nil
}
