package embedded

import (
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// candidate is a document that may be among the hits. rest holds its values
// for all keys but the first.
type candidate struct {
	v     *view
	doc   uint32
	score float32
	first sorting.Value
	rest  []sorting.Value
	set   int // of a top_hits: which set it is of
}

// top finds the hits of the page, in their order.
func (r *run) top() ([]candidate, error) {
	keys := r.req.Sort
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true}}
	}
	scored := r.req.TrackScores
	for i := range keys {
		scored = scored || keys[i].Field == "_score"
		if err := sorting.Check(&keys[i], r.fields); err != nil {
			return nil, err
		}
	}
	position, err := sorting.After(r.req, keys, r.fields)
	if err != nil {
		return nil, err
	}
	if r.req.Collapse != nil {
		list, err := r.collapsed(keys)
		if len(list) > 0 {
			r.best = list[0].score
		}
		return list[min(r.req.From, len(list)):], err
	}
	h := heap[candidate]{max: r.req.From + r.req.Size, compare: func(a, b candidate) int { return compareHits(keys, &a, &b) }}
	for _, v := range r.views {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		var scores []float32
		if scored {
			scores = r.floats(v.seg.root().n)
			v.query.score(scores, 1, false)
			if err := r.ctx.Err(); err != nil {
				return nil, err
			}
		}
		if err := v.offer(&h, keys, scores, position); err != nil {
			return nil, err
		}
		if scored {
			r.release(scores)
		}
	}
	first, list := h.page(r.req.From)
	if len(list) > 0 && !r.req.TrackScores {
		r.best = first.score
	}
	return list, nil
}

// offer puts the documents of a view into the heap. Most are refused by their
// first value, before the others are read.
func (v *view) offer(h *heap[candidate], keys []search.SortKey, scores []float32, position []sorting.Value) error {
	readers := make([]reader, len(keys))
	for i := range keys {
		var err error
		if readers[i], err = v.sortReader(&keys[i], scores); err != nil {
			return err
		}
	}
	byScore := keys[0].Field == "_score" && keys[0].Desc
	odd, tracked, over, asked := false, v.run.req.TrackScores, false, 0
	var spare []sorting.Value // for the other values of many candidates
	others := len(keys) - 1
	each(v.shown, func(doc uint32) {
		if asked++; asked&4095 == 0 {
			over = v.run.ctx.Err() != nil
		}
		if over {
			return
		}
		score := float32(0)
		if scores != nil {
			score = scores[doc]
		}
		if score != score {
			odd = true
			return
		}
		if tracked {
			v.run.best = max(v.run.best, score)
		}
		if byScore && h.full() {
			// The plain case, before anything is made.
			if s, top := float64(scores[doc]), h.top().first.Num; s < top || s == top && len(keys) == 1 {
				return
			}
		}
		c := candidate{v: v, doc: doc, first: readers[0](doc)}
		if h.full() && c.first.Compare(&h.top().first, keys[0].Desc) > 0 {
			return
		}
		c.score = score
		if others > 0 {
			if len(spare) < others {
				spare = make([]sorting.Value, 64*others)
			}
			c.rest, spare = spare[:others:others], spare[others:]
			for i := range c.rest {
				c.rest[i] = readers[i+1](doc)
			}
		}
		if position != nil && !behind(keys, &c, position) {
			return
		}
		h.offer(c)
	})
	switch {
	case over:
		return v.run.ctx.Err()
	case odd:
		return v.run.noScore()
	}
	return nil
}

// noScore is the error when a hit has no number as its score.
func (r *run) noScore() error {
	if r.fault != nil {
		return r.fault
	}
	return problem.Field(problem.Invalid, "query", "the score of a hit is not a number")
}

func compareHits(keys []search.SortKey, a, b *candidate) int {
	if c := a.first.Compare(&b.first, keys[0].Desc); c != 0 {
		return c
	}
	for i := range a.rest {
		if c := a.rest[i].Compare(&b.rest[i], keys[i+1].Desc); c != 0 {
			return c
		}
	}
	if a.v != b.v {
		return a.v.place - b.v.place
	}
	return int(int64(a.doc) - int64(b.doc))
}

// hits makes the hits of the page, still without their sources.
func (r *run) hits(list []candidate) []search.Hit {
	out := make([]search.Hit, len(list))
	scored := len(r.req.Sort) == 0 || r.req.TrackScores
	whole := make([]bool, len(r.req.Sort))
	for i := range r.req.Sort {
		scored = scored || r.req.Sort[i].Field == "_score"
		whole[i] = sorting.Whole(&r.req.Sort[i], r.fields)
	}
	for i := range list {
		c := &list[i]
		h := search.Hit{Index: c.v.x.name, Key: c.v.seg.key(c.doc), Ref: c.v.seg.refs[c.doc]}
		if scored {
			s := float64(c.score)
			h.Score = &s
		}
		for k := range r.req.Sort {
			s := &c.first
			if k > 0 {
				s = &c.rest[k-1]
			}
			h.Sort = append(h.Sort, s.Shown(whole[k]))
		}
		out[i] = h
	}
	return out
}
