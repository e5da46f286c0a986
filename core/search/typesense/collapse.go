package typesense

import (
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// collapsing is a search whose hits are collapsed: all of them are read, in
// their order.
type collapsing struct {
	run    *run
	def    *search.Collapse
	groups map[sorting.Value][]candidate
}

// collapse keeps the first hit of each group.
func (r *run) collapse(list []candidate) (*collapsing, []candidate, error) {
	c := &collapsing{run: r, def: r.req.Collapse, groups: map[sorting.Value][]candidate{}}
	var kept []candidate
	for i := range list {
		g, err := c.group(&list[i])
		if err != nil {
			return nil, nil, err
		}
		if c.groups[g] == nil {
			kept = append(kept, list[i])
		}
		c.groups[g] = append(c.groups[g], list[i])
	}
	return c, kept, nil
}

// group gives the value by which a hit is collapsed.
func (c *collapsing) group(hit *candidate) (out sorting.Value, err error) {
	n := 0
	v := hit.doc.view
	for _, col := range v.columns(v.root(), c.def.Field) {
		if !sorting.Collapsible(col.Field) {
			continue
		}
		if col.Field.Family == mapping.Text {
			for _, term := range hit.at.tokens(col.Field, col.Name).terms {
				out, n = sorting.Text(term), n+1
			}
			continue
		}
		for _, w := range hit.at.values(col.Name) {
			if out = sorting.Text(w.text); col.Field.Family.Numeric() {
				out = sorting.Number(w.num)
			}
			n++
		}
	}
	if n > 1 {
		err = problem.Field(problem.Invalid, c.def.Path, "collapse: a hit has several values of %q", c.def.Field)
	}
	return out, err
}

// show tells the hits of a page by what they were collapsed, and adds the inner
// hits of their groups.
func (c *collapsing) show(list []candidate, hits []search.Hit) error {
	for i := range list {
		g, err := c.group(&list[i])
		if err != nil {
			return err
		}
		hits[i].Group = &search.Group{Field: c.def.Field, Value: g.Shown(sorting.Whole(&search.SortKey{Field: c.def.Field}, c.run.fields))}
		for k := range c.def.Inner {
			in := &c.def.Inner[k]
			members, err := c.rank(in, c.groups[g])
			if err != nil {
				return err
			}
			result, _, err := c.run.innerResult(in, members, c.run.req.Query)
			if err != nil {
				return err
			}
			hits[i].Inner = append(hits[i].Inner, result)
		}
	}
	return nil
}

// rank gives the members of a group with what the inner hits are sorted by.
func (c *collapsing) rank(in *search.InnerHits, members []candidate) ([]candidate, error) {
	keys := byScore(in)
	for i := range keys {
		if err := sorting.Check(&keys[i], c.run.fields); err != nil {
			return nil, err
		}
	}
	var out []candidate
	for _, m := range members {
		one, err := m.doc.view.candidates(keys, []*document{m.doc}, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}
