package embedded

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// offset gives the place of a nested object among those of the object around
// it; 0 for a document.
func (sp *space) offset(object uint32) int {
	if sp.parent == nil {
		return 0
	}
	first, _ := sp.down(sp.up[object])
	return int(object - first)
}

// innerPlan is a nested clause whose objects are shown, with those inside it.
type innerPlan struct {
	q    *search.Nested
	kids []innerPlan
}

func innerPlans(q search.Query) (out []innerPlan) {
	for _, n := range search.Shown(q) {
		out = append(out, innerPlan{n, innerPlans(n.Query)})
	}
	return out
}

// outerHit is a hit behind which inner hits are wanted.
type outerHit struct {
	v      *view
	sp     *space
	object uint32
	hit    *search.Hit
}

// innerHits adds what matched inside the hits.
func (r *run) innerHits(list []candidate, hits []search.Hit) error {
	plans := innerPlans(r.req.Query)
	if len(plans) == 0 {
		return nil
	}
	outer := make([]outerHit, len(list))
	for i := range list {
		outer[i] = outerHit{list[i].v, list[i].v.seg.root(), list[i].doc, &hits[i]}
	}
	return r.inside(plans, outer)
}

// inside answers plans for hits, view by view and in the order of objects, as
// columns are read.
func (r *run) inside(plans []innerPlan, outer []outerHit) error {
	slices.SortFunc(outer, func(a, b outerHit) int {
		return cmp.Or(cmp.Compare(a.v.place, b.v.place), cmp.Compare(a.sp.of.ID, b.sp.of.ID), cmp.Compare(a.object, b.object))
	})
	for _, p := range plans {
		var deeper []outerHit
		for from := 0; from < len(outer); {
			to := from
			for to < len(outer) && outer[to].v == outer[from].v && outer[to].sp == outer[from].sp {
				to++
			}
			more, err := r.innerOf(&p, outer[from:to])
			if err != nil {
				return err
			}
			deeper = append(deeper, more...)
			from = to
		}
		if len(p.kids) > 0 {
			if err := r.inside(p.kids, deeper); err != nil {
				return err
			}
		}
	}
	return nil
}

// innerSpace is one space in which objects of a plan are looked for.
type innerSpace struct {
	sp      *space
	match   *roaring.Bitmap
	scores  []float32
	readers []reader
}

// innerOf answers a plan for hits of one space of one view, and gives the inner
// hits.
func (r *run) innerOf(p *innerPlan, outer []outerHit) ([]outerHit, error) {
	v, base, in := outer[0].v, outer[0].sp, p.q.Inner
	keys := in.Sort
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true}}
	}
	var spaces []innerSpace
	for _, sp := range v.seg.inside(base, p.q.Objects) {
		s, err := v.innerSpace(p.q, sp, keys)
		if err != nil {
			return nil, err
		}
		spaces = append(spaces, s)
	}
	var deeper []outerHit
	for _, o := range outer {
		result := search.InnerResult{Of: in}
		h := heap[candidate]{max: in.From + in.Size, compare: func(a, b candidate) int { return compareHits(keys, &a, &b) }}
		best := float32(0)
		for k, s := range spaces {
			from, to := s.sp.spanIn(base, o.object)
			for object := from; object < to; object++ {
				if !s.match.Contains(object) {
					continue
				}
				result.Total++
				c := candidate{v: v, doc: object, score: s.scores[object], first: s.readers[0](object), set: k}
				for _, read := range s.readers[1:] {
					c.rest = append(c.rest, read(object))
				}
				best = max(best, c.score)
				h.offer(c)
			}
		}
		list := h.sorted()
		list = list[min(in.From, len(list)):]
		r.fillInner(&result, o.hit, list, spaces)
		if len(in.Sort) == 0 && len(list) > 0 {
			score := float64(best)
			result.MaxScore = &score
		}
		o.hit.Inner = append(o.hit.Inner, result)
		for i := range list {
			deeper = append(deeper, outerHit{v, spaces[list[i].set].sp, list[i].doc, &result.Hits[i].Hit})
		}
	}
	return deeper, nil
}

func (v *view) innerSpace(q *search.Nested, sp *space, keys []search.SortKey) (innerSpace, error) {
	s := innerSpace{sp: sp, scores: make([]float32, sp.n), readers: make([]reader, len(keys))}
	o, err := v.compile(q.Query, sp)
	if err != nil {
		return s, err
	}
	s.match = o.match()
	o.score(s.scores, 1, false)
	for i := range keys {
		if err := sorting.Check(&keys[i], v.run.fields); err != nil {
			return s, err
		}
		if s.readers[i], err = v.readerIn(&keys[i], sp, s.scores); err != nil {
			return s, err
		}
	}
	return s, nil
}

// fillInner makes inner hits of candidates, still without their sources.
func (r *run) fillInner(result *search.InnerResult, hit *search.Hit, list []candidate, spaces []innerSpace) {
	sort := result.Of.Sort
	result.Hits = make([]search.NestedHit, len(list))
	for i := range list {
		c := &list[i]
		h := &result.Hits[i]
		h.Index, h.Key, h.Ref = hit.Index, hit.Key, hit.Ref
		h.Path = spaces[c.set].sp.steps(c.doc)
		if len(sort) == 0 || slices.ContainsFunc(sort, func(k search.SortKey) bool { return k.Field == "_score" }) {
			score := float64(c.score)
			h.Score = &score
		}
		h.Sort = r.sortValues(sort, c)
	}
}

// sortValues gives the values of a candidate for the keys of a sort.
func (r *run) sortValues(keys []search.SortKey, c *candidate) []search.SortValue {
	var out []search.SortValue
	for k := range keys {
		s := &c.first
		if k > 0 {
			s = &c.rest[k-1]
		}
		out = append(out, s.Shown(sorting.Whole(&keys[k], r.fields)))
	}
	return out
}

// fillObjects gives inner hits their parts of the source of their document.
func fillObjects(raw []byte, results []search.InnerResult, marks map[*search.InnerHits]map[typeKey][]marked) error {
	for i := range results {
		for k := range results[i].Hits {
			h := &results[i].Hits[k]
			if len(h.Path) == 0 {
				continue // a document of its own
			}
			part, err := search.NestedSource(raw, h.Path)
			if err != nil {
				return err
			}
			if part == nil {
				part = []byte("{}")
			}
			at := search.NestedPath(h.Path)
			h.Highlight = highlightPart(part, at+".", marks[results[i].Of][typeKey{h.Index, h.Key.Type}])
			if h.Source, err = results[i].Of.Source.ApplyPart(part, at); err != nil {
				return err
			}
			if err := fillObjects(raw, h.Inner, marks); err != nil {
				return err
			}
		}
	}
	return nil
}

// marks is what to highlight in hits and in their inner hits.
type marks struct {
	hits  map[typeKey][]marked
	inner map[*search.InnerHits]map[typeKey][]marked
}

// innerMarks gives what is to be highlighted in inner hits.
func (r *run) innerMarks(types []string) map[*search.InnerHits]map[typeKey][]marked {
	out := map[*search.InnerHits]map[typeKey][]marked{}
	add := func(in *search.InnerHits, q search.Query) {
		if in.Highlight != nil {
			other := *r
			other.req = &search.Request{Query: q, Highlight: in.Highlight}
			out[in] = other.marks(types)
		}
	}
	search.Walk(r.req.Query, func(q search.Query) {
		if n, ok := q.(*search.Nested); ok && n.Inner != nil {
			add(n.Inner, n.Query)
		}
	})
	if c := r.req.Collapse; c != nil {
		for i := range c.Inner {
			add(&c.Inner[i], r.req.Query)
		}
	}
	return out
}
