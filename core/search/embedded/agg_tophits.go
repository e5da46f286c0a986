package embedded

import (
	"context"
	"math"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// topHits is the result of a top_hits whose sources are still to be loaded,
// which is done when no segment is held any more.
type topHits struct {
	*search.TopHits
	body  *search.TopHitsAgg
	marks map[typeKey][]marked
}

func (r *run) topHits(a *search.Agg, body *search.TopHitsAgg, sets []set) (search.ResultBody, error) {
	keys, scored := body.Sort, false
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true}}
	}
	for i := range keys {
		scored = scored || keys[i].Field == "_score"
		if err := sorting.Check(&keys[i], r.fields); err != nil {
			return nil, err
		}
	}
	h := heap[candidate]{max: body.From + body.Size, compare: func(a, b candidate) int { return compareHits(keys, &a, &b) }}
	best, spaces := float32(math.Inf(-1)), map[*view][]*space{}
	for i, s := range sets {
		var scores []float32
		if scored {
			if scores = r.scoresOf(s.v); r.fault != nil {
				return nil, r.fault
			}
		}
		readers := make([]reader, len(keys))
		for k := range keys {
			var err error
			if readers[k], err = s.reader(&keys[k], scores); err != nil {
				return nil, err
			}
		}
		spaces[s.v] = append(spaces[s.v], s.sp)
		for n, object := range s.objects {
			if n&4095 == 4095 && r.ctx.Err() != nil {
				return nil, r.ctx.Err()
			}
			c := candidate{v: s.v, doc: object, first: readers[0](object)}
			if scored {
				c.score = scores[s.sp.outer(s.v.seg.root(), object)]
				best = max(best, c.score)
			}
			if h.full() && (h.max == 0 || c.first.Compare(&h.top().first, keys[0].Desc) > 0) {
				continue
			}
			for k := range readers[1:] {
				c.rest = append(c.rest, readers[k+1](object))
			}
			c.set = i
			h.offer(c)
		}
	}
	list := h.sorted()
	if err := r.budget.TopHits(a, max(len(list)-body.From, 0)); err != nil {
		return nil, err
	}
	out := &search.TopHits{Total: count(sets)}
	if total := count(sets); scored && total > 0 && (len(body.Sort) == 0 || keys[0].Field == "_score") {
		score := float64(best)
		out.MaxScore = &score
	}
	out.Hits = r.nestedHits(body, list[min(body.From, len(list)):], sets, scored)
	if err := r.budget.Buckets(a, 1); err != nil {
		return nil, err
	}
	marks := map[typeKey][]marked(nil)
	if body.Highlight != nil {
		req := &search.Request{Query: r.req.Query, Highlight: body.Highlight}
		hits := make([]search.Hit, len(out.Hits))
		for i := range hits {
			hits[i] = out.Hits[i].Hit
		}
		marks = (&run{ctx: r.ctx, req: req, views: r.views}).marks(typesOf(hits))
	}
	return &topHits{out, body, marks}, nil
}

// scoresOf gives the scores of the documents of a view, which are made once.
func (r *run) scoresOf(v *view) []float32 {
	if v.scores == nil {
		v.scores = make([]float32, v.seg.root().n)
		v.query.score(v.scores, 1, false)
	}
	return v.scores
}

// reader gives the values of objects of a set for a sort key. Nested objects
// have the scores of their documents and their own values.
func (s *set) reader(key *search.SortKey, scores []float32) (reader, error) {
	root := s.v.seg.root()
	if s.sp == root {
		return s.v.sortReader(key, scores)
	}
	if key.Field == "_score" {
		return func(object uint32) sorting.Value {
			return sorting.Number(float64(scores[s.sp.outer(root, object)]))
		}, nil
	}
	src := source{sp: s.sp}
	for _, fam := range s.v.families(s.sp, key.Field) {
		if fam.field.Listable() {
			src.nums = append(src.nums, cursor[float64]{c: &fam.nums})
			src.ords = append(src.ords, cursor[uint32]{c: &fam.ords})
			src.families = append(src.families, fam)
		}
	}
	return newFold(key, s.sp, []source{src}).read, nil
}

// nestedHits makes the hits, still without their sources.
func (r *run) nestedHits(body *search.TopHitsAgg, list []candidate, sets []set, scored bool) []search.NestedHit {
	out := make([]search.NestedHit, len(list))
	for i := range list {
		c := &list[i]
		sp, root := sets[c.set].sp, c.v.seg.root()
		doc := sp.outer(root, c.doc)
		h := search.NestedHit{Hit: search.Hit{Index: c.v.x.name, Key: c.v.seg.key(doc), Ref: c.v.seg.refs[doc]}, Path: sp.steps(c.doc)}
		if scored {
			score := float64(c.score)
			h.Score = &score
		}
		for k := range body.Sort {
			s := &c.first
			if k > 0 {
				s = &c.rest[k-1]
			}
			h.Sort = append(h.Sort, s.Shown(sorting.Whole(&body.Sort[k], r.fields)))
		}
		out[i] = h
	}
	return out
}

// steps gives the way from a document to a nested object of the space.
func (sp *space) steps(object uint32) []search.NestedStep {
	if sp.parent == nil {
		return nil
	}
	outer := sp.up[object]
	first, _ := sp.down(outer)
	field := strings.TrimPrefix(sp.of.Path, sp.parent.of.Path+".")
	return append(sp.parent.steps(outer), search.NestedStep{Field: field, Offset: int(object - first)})
}

// loadTops loads the sources of all top_hits of an answer, index by index.
func (e *Engine) loadTops(ctx context.Context, aggs []search.AggResult) error {
	places := map[string][]*topHit{}
	for t := range eachTop(aggs) {
		for i := range t.Hits {
			h := &topHit{t, &t.Hits[i]}
			places[h.hit.Index] = append(places[h.hit.Index], h)
		}
	}
	for name, list := range places {
		refs := make([]int64, len(list))
		for i, h := range list {
			refs[i] = h.hit.Ref
		}
		loaded, err := e.load(ctx, name, refs)
		if err != nil {
			return err
		}
		if len(loaded) != len(refs) {
			return problem.New(problem.Internal, "%d sources were loaded for %d hits", len(loaded), len(refs))
		}
		for i, h := range list {
			if loaded[i] == nil {
				continue
			}
			if err := h.fill(loaded[i]); err != nil {
				return problem.Wrap(err, problem.Internal, "the source of %s:%s cannot be read", h.hit.Key.Type, h.hit.Key.OUUID)
			}
		}
	}
	for t := range eachTop(aggs) {
		kept := t.Hits[:0]
		for _, h := range t.Hits {
			if h.Source != nil {
				kept = append(kept, h)
			}
		}
		t.Hits = kept
	}
	return nil
}

// topHit is one hit of a top_hits.
type topHit struct {
	of  *topHits
	hit *search.NestedHit
}

// fill gives a hit its part of the source of its document.
func (h *topHit) fill(raw []byte) (err error) {
	if len(h.hit.Path) == 0 {
		h.hit.Highlight = highlight(raw, h.of.marks[typeKey{h.hit.Index, h.hit.Key.Type}])
		h.hit.Source, err = h.of.body.Source.Apply(raw, h.hit.Key.Type)
		return err
	}
	if raw, err = search.NestedSource(raw, h.hit.Path); err != nil || raw == nil {
		return err
	}
	h.hit.Source, err = h.of.body.Source.ApplyPart(raw, search.NestedPath(h.hit.Path))
	return err
}
