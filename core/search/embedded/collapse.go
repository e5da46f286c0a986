package embedded

import (
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// groupReader gives the value by which a document is collapsed.
func (v *view) groupReader(c *search.Collapse) func(doc uint32) (sorting.Value, error) {
	var list []*family
	for _, f := range v.families(v.seg.root(), c.Field) {
		if sorting.Collapsible(f.field) {
			list = append(list, f)
		}
	}
	nums, ords := make([]cursor[float64], len(list)), make([]cursor[uint32], len(list))
	for i, f := range list {
		nums[i], ords[i] = cursor[float64]{c: &f.nums}, cursor[uint32]{c: &f.ords}
	}
	return func(doc uint32) (out sorting.Value, err error) {
		n := 0
		for i, f := range list {
			if f.field.Family.Numeric() {
				for _, num := range nums[i].seek(doc) {
					out, n = sorting.Number(num), n+1
				}
				continue
			}
			for _, ord := range ords[i].seek(doc) {
				out, n = sorting.Text(f.dict.term(ord)), n+1
			}
		}
		if n > 1 {
			err = problem.Field(problem.Invalid, c.Path, "collapse: a hit has several values of %q", c.Field)
		}
		return out, err
	}
}

// collapsed keeps the first hit of each group, and gives the number of groups
// that are shown.
func (r *run) collapsed(keys []search.SortKey) ([]candidate, error) {
	c := r.req.Collapse
	if err := sorting.CheckCollapse(c, r.fields); err != nil {
		return nil, err
	}
	first := map[sorting.Value]candidate{}
	for _, v := range r.views {
		err := v.ranked(keys, func(one candidate, group sorting.Value) {
			if old, found := first[group]; !found || compareHits(keys, &one, &old) < 0 {
				first[group] = one
			}
		})
		if err != nil {
			return nil, err
		}
	}
	list := make([]candidate, 0, len(first))
	for _, one := range first {
		list = append(list, one)
	}
	return smallest(list, r.req.From+r.req.Size, func(a, b candidate) int { return compareHits(keys, &a, &b) }), nil
}

// ranked gives the hits of a view with their groups, in the order of documents.
func (v *view) ranked(keys []search.SortKey, take func(c candidate, group sorting.Value)) error {
	var scores []float32
	if slices.ContainsFunc(keys, func(k search.SortKey) bool { return k.Field == "_score" }) || v.run.req.TrackScores {
		scores = v.run.scoresOf(v)
	}
	readers := make([]reader, len(keys))
	for i := range keys {
		var err error
		if readers[i], err = v.sortReader(&keys[i], scores); err != nil {
			return err
		}
	}
	group := v.groupReader(v.run.req.Collapse)
	var failed error
	each(v.shown, func(doc uint32) {
		if failed != nil {
			return
		}
		g, err := group(doc)
		if err != nil {
			failed = err
			return
		}
		c := candidate{v: v, doc: doc, first: readers[0](doc)}
		if scores != nil {
			if c.score = scores[doc]; c.score != c.score {
				failed = v.run.noScore()
				return
			}
		}
		for _, read := range readers[1:] {
			c.rest = append(c.rest, read(doc))
		}
		take(c, g)
	})
	return failed
}

// groups tells the hits of a page by what they were collapsed, and adds the
// inner hits of their groups.
func (r *run) groups(list []candidate, hits []search.Hit) error {
	c := r.req.Collapse
	if c == nil {
		return nil
	}
	place := map[sorting.Value]int{}
	for _, v := range r.views {
		var of []int
		for i := range list {
			if list[i].v == v {
				of = append(of, i)
			}
		}
		slices.SortFunc(of, func(a, b int) int { return int(int64(list[a].doc) - int64(list[b].doc)) })
		read := v.groupReader(c)
		for _, i := range of {
			g, err := read(list[i].doc)
			if err != nil {
				return err
			}
			place[g] = i
			hits[i].Group = &search.Group{Field: c.Field, Value: g.Shown(sorting.Whole(&search.SortKey{Field: c.Field}, r.fields))}
		}
	}
	for i := range c.Inner {
		if err := r.members(&c.Inner[i], place, hits); err != nil {
			return err
		}
	}
	return nil
}

// members adds one kind of inner hits to the hits, whose places are by group.
func (r *run) members(in *search.InnerHits, place map[sorting.Value]int, hits []search.Hit) error {
	keys := in.Sort
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true}}
	}
	for i := range keys {
		if err := sorting.Check(&keys[i], r.fields); err != nil {
			return err
		}
	}
	heaps, totals, best := make([]heap[candidate], len(hits)), make([]int64, len(hits)), make([]float32, len(hits))
	for i := range heaps {
		heaps[i] = heap[candidate]{max: in.From + in.Size, compare: func(a, b candidate) int { return compareHits(keys, &a, &b) }}
	}
	for _, v := range r.views {
		err := v.ranked(keys, func(c candidate, group sorting.Value) {
			if i, found := place[group]; found {
				totals[i]++
				best[i] = max(best[i], c.score)
				heaps[i].offer(c)
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range hits {
		list := heaps[i].sorted()
		list = list[min(in.From, len(list)):]
		result := search.InnerResult{Of: in, TopHits: search.TopHits{Total: totals[i], Hits: make([]search.NestedHit, len(list))}}
		if len(in.Sort) == 0 && len(list) > 0 {
			score := float64(best[i])
			result.MaxScore = &score
		}
		for k := range list {
			one := &list[k]
			h := search.Hit{Index: one.v.x.name, Key: one.v.seg.key(one.doc), Ref: one.v.seg.refs[one.doc], Sort: r.sortValues(in.Sort, one)}
			if slices.ContainsFunc(keys, func(k search.SortKey) bool { return k.Field == "_score" }) {
				score := float64(one.score)
				h.Score = &score
			}
			result.Hits[k].Hit = h
		}
		hits[i].Inner = append(hits[i].Inner, result)
	}
	return nil
}
