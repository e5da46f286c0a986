package typesense

import (
	"cmp"
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// innerPlan is a nested clause whose objects are shown, with those inside it.
type innerPlan struct {
	q    *search.Nested
	kids []*innerPlan
	at   map[*mapping.Space]*innerSpace // by the space of the objects
}

// innerSpace is one space of one index in which objects of a plan are looked
// for.
type innerSpace struct {
	op      op
	readers []reader
}

func innerPlans(q search.Query) (out []*innerPlan) {
	for _, n := range search.Shown(q) {
		out = append(out, &innerPlan{n, innerPlans(n.Query), map[*mapping.Space]*innerSpace{}})
	}
	return out
}

// byScore is how inner hits are sorted unless they say otherwise.
func byScore(in *search.InnerHits) []search.SortKey {
	if len(in.Sort) > 0 {
		return in.Sort
	}
	return []search.SortKey{{Field: "_score", Desc: true, Path: in.Path}}
}

// innerHits adds what matched inside the hits.
func (r *run) innerHits(list []candidate, hits []search.Hit) error {
	plans := innerPlans(r.req.Query)
	if len(plans) == 0 {
		return nil
	}
	for _, v := range r.views {
		if err := v.prepareInner(plans, v.root()); err != nil {
			return err
		}
	}
	if err := r.loadStats(); err != nil {
		return err
	}
	for i := range list {
		if err := r.innerOf(plans, list[i].at, &hits[i]); err != nil {
			return err
		}
	}
	return nil
}

// prepareInner compiles the clauses for the objects inside a space.
func (v *view) prepareInner(plans []*innerPlan, base *mapping.Space) error {
	for _, p := range plans {
		keys := byScore(p.q.Inner)
		for _, sp := range v.inner(base, p.q.Objects) {
			s := &innerSpace{readers: make([]reader, len(keys))}
			var err error
			if s.op, err = v.compile(p.q.Query, sp); err != nil {
				return err
			}
			for i := range keys {
				if err := sorting.Check(&keys[i], v.run.fields); err != nil {
					return err
				}
				if s.readers[i], err = v.sortReader(&keys[i], sp); err != nil {
					return err
				}
			}
			p.at[sp] = s
			if err := v.prepareInner(p.kids, sp); err != nil {
				return err
			}
		}
	}
	return nil
}

// innerOf answers plans for an object, which is or is in a hit.
func (r *run) innerOf(plans []*innerPlan, o *object, hit *search.Hit) error {
	for _, p := range plans {
		in := p.q.Inner
		keys := byScore(in)
		var list []candidate
		for _, sp := range o.doc.view.inner(o.space, p.q.Objects) {
			s := p.at[sp]
			for _, k := range o.within(sp) {
				if !s.op.cond().holds(k) {
					continue
				}
				c := candidate{doc: o.doc, at: k, score: single(s.op.score(k)), vals: make([]sorting.Value, len(keys))}
				for i, read := range s.readers {
					c.vals[i] = read(&c)
				}
				list = append(list, c)
			}
		}
		result, shown, err := r.innerResult(in, list, p.q.Query)
		if err != nil {
			return err
		}
		for i := range shown {
			if err := r.innerOf(p.kids, shown[i].at, &result.Hits[i].Hit); err != nil {
				return err
			}
		}
		hit.Inner = append(hit.Inner, result)
	}
	return nil
}

// innerResult makes inner hits of candidates, and gives those that are shown.
func (r *run) innerResult(in *search.InnerHits, list []candidate, q search.Query) (search.InnerResult, []candidate, error) {
	keys := byScore(in)
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Or(compareHits(keys, a.vals, b.vals), r.order(&a, &b)) })
	result := search.InnerResult{Of: in, TopHits: search.TopHits{Total: int64(len(list))}}
	best := math.Inf(-1)
	for i := range list {
		best = math.Max(best, list[i].score)
	}
	list = list[min(in.From, len(list)):]
	list = list[:min(in.Size, len(list))]
	if len(in.Sort) == 0 && len(list) > 0 {
		result.MaxScore = &best
	}
	scored := slices.ContainsFunc(keys, func(k search.SortKey) bool { return k.Field == "_score" })
	marks := newMarks(in.Highlight, q)
	for i := range list {
		h, err := r.nestedHit(&list[i], in.Sort, scored, &in.Source, marks)
		if err != nil {
			return result, nil, err
		}
		result.Hits = append(result.Hits, h)
	}
	return result, list, nil
}

// order is how candidates stand that are equal by all keys.
func (r *run) order(a, b *candidate) int {
	if a.doc.view != b.doc.view {
		return slices.Index(r.views, a.doc.view) - slices.Index(r.views, b.doc.view)
	}
	return cmp.Compare(a.doc.order, b.doc.order)
}

// nestedHit makes a hit of a document or of a nested object.
func (r *run) nestedHit(c *candidate, sort []search.SortKey, scored bool, source *search.SourceFilter, marks *marks) (search.NestedHit, error) {
	h := search.NestedHit{Hit: search.Hit{Index: c.doc.view.gen.index, Key: c.doc.key, Ref: c.doc.ref}, Path: c.at.steps()}
	if scored {
		score := c.score
		h.Score = &score
	}
	for k := range sort {
		h.Sort = append(h.Sort, c.vals[k].Shown(sorting.Whole(&sort[k], r.fields)))
	}
	var err error
	if h.Highlight = marks.of(c.at); len(h.Path) == 0 {
		h.Source, err = source.Apply(c.doc.raw, c.doc.key.Type)
	} else {
		h.Source, err = c.at.source(source)
	}
	if err != nil {
		return h, problem.Wrap(err, problem.Internal, "the source of %s:%s cannot be read", h.Key.Type, h.Key.OUUID)
	}
	return h, nil
}
