package typesense

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// Search implements search.Engine.
func (e *Engine) Search(ctx context.Context, t search.Target, r *search.Request) (*search.Response, error) {
	begin := time.Now()
	if err := checkWindow(r); err != nil {
		return nil, err
	}
	var out *search.Response
	err := e.asked(ctx, t, r, func(run *run) (err error) {
		out, err = run.answer()
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Took = time.Since(begin)
	return out, nil
}

// asked answers a request; once more if another process has meanwhile put other
// collections in the place of those that were searched.
func (e *Engine) asked(ctx context.Context, t search.Target, r *search.Request, answer func(*run) error) error {
	for again := true; ; again = false {
		run, err := e.start(ctx, t, r)
		if err != nil {
			return err
		}
		if err = answer(run); !again || !e.stale(err) {
			return err
		}
	}
}

// checkWindow refuses pages that are too far from the start.
func checkWindow(r *search.Request) error {
	if r.From < 0 || r.Size < 0 || r.From+r.Size > search.MaxWindow {
		return problem.Field(problem.Invalid, "size", "from + size must not be above %d", search.MaxWindow)
	}
	return nil
}

// Count implements search.Engine.
func (e *Engine) Count(ctx context.Context, t search.Target, r *search.Request) (int64, error) {
	n := int64(0)
	err := e.asked(ctx, t, r, func(run *run) (err error) {
		if err := run.match(); err != nil {
			return err
		}
		sets := make([]set, len(run.views))
		for i, v := range run.views {
			sets[i] = set{v, v.root(), v.hits}
		}
		n, err = run.count(sets)
		return err
	})
	return n, err
}

// Get implements search.Engine.
func (e *Engine) Get(ctx context.Context, t search.Target, ouuid string) (search.Hit, error) {
	r := &search.Request{Size: 2, Query: &search.IDs{Clause: search.Clause{Name: "ids", Path: "query", Boost: 1}, Values: []string{ouuid}}}
	out, err := e.Search(ctx, t, r)
	if err != nil {
		return search.Hit{}, err
	}
	switch len(out.Hits) {
	case 0:
		return search.Hit{}, problem.New(problem.NotFound, "there is no document %q", ouuid)
	case 1:
		h := out.Hits[0]
		h.Score = nil
		return h, nil
	}
	return search.Hit{}, problem.New(problem.Conflict, "there are several documents %q", ouuid)
}

// start opens a run on a target.
func (e *Engine) start(ctx context.Context, t search.Target, r *search.Request) (*run, error) {
	gens, aliases, err := e.openAll(ctx, t.Indices)
	if err != nil {
		return nil, err
	}
	return newRun(ctx, e.client.multiSearch, r, gens, aliases, t.Types), nil
}

// match compiles the query for each index.
func (r *run) match() error {
	return r.each(len(r.views), func(i int) error {
		v := r.views[i]
		p, err := v.compile(r.req.Query, v.root())
		if err != nil {
			return err
		}
		c := both(v.visible, p.cond())
		if len(r.req.ContentTypes) > 0 {
			c = both(v.ofTypes(r.req.ContentTypes), c)
		}
		v.query = p
		if least := r.req.MinScore; least != nil {
			if err := r.loadStats(); err != nil {
				return err
			}
			c = v.above(c, *least)
		}
		v.hits, _, err = v.express(v.root(), c)
		return err
	})
}

// above leaves out the documents that score less than the least.
func (v *view) above(c cond, least float64) cond {
	if score, same := constantScore(v.query); !same {
		return &verified{v.root(), c, func(o *object) bool { return v.query.score(o) >= least }, "min_score"}
	} else if score < least {
		return nothing{}
	}
	return c
}

// narrow applies the post filter.
func (r *run) narrow() error {
	return r.each(len(r.views), func(i int) error {
		v := r.views[i]
		v.shown = v.hits
		if r.req.PostFilter == nil {
			return nil
		}
		p, err := v.compile(r.req.PostFilter, v.root())
		if err != nil {
			return err
		}
		v.shown, _, err = v.express(v.root(), both(v.hits, p.cond()))
		return err
	})
}

// answer evaluates the request. Aggregations and hits are asked for together.
func (r *run) answer() (*search.Response, error) {
	if err := r.match(); err != nil {
		return nil, err
	}
	out := &search.Response{Shards: len(r.views), TrackTotal: r.req.TrackTotal}
	err := r.each(3, func(part int) (err error) {
		switch part {
		case 0:
			out.Aggs, err = r.aggregate()
			return err
		case 1:
			out.Suggest, err = r.suggestions()
			return err
		}
		if err := r.narrow(); err != nil {
			return err
		}
		return r.page(out)
	})
	return out, cmp.Or(err, r.fault)
}

// needsScores tells whether the hits have to be scored.
func (r *run) needsScores() bool {
	scored := r.req.TrackScores || len(r.req.Sort) == 0 && r.req.Size > 0
	if c := r.req.Collapse; c != nil {
		scored = scored || len(c.Inner) > 0
	}
	for i := range r.req.Sort {
		scored = scored || r.req.Sort[i].Field == "_score"
	}
	return scored && slices.ContainsFunc(r.views, func(v *view) bool {
		_, same := constantScore(v.query)
		return !same
	})
}

// candidates gives documents with what they are sorted by, those that stand
// behind the position.
func (v *view) candidates(keys []search.SortKey, docs []*document, position []sorting.Value) ([]candidate, error) {
	scored := v.run.req.TrackScores
	readers := make([]reader, len(keys))
	for i := range keys {
		var err error
		if readers[i], err = v.sortReader(&keys[i], v.root()); err != nil {
			return nil, err
		}
		scored = scored || keys[i].Field == "_score"
	}
	constant, same := constantScore(v.query)
	var out []candidate
	for _, d := range docs {
		if err := v.run.ctx.Err(); err != nil {
			return nil, err
		}
		c := candidate{doc: d, at: d.objects[0], vals: make([]sorting.Value, len(keys))}
		if scored {
			if c.score = constant; !same {
				c.score = v.scoreOf(d)
			}
		}
		for i, read := range readers {
			c.vals[i] = read(&c)
		}
		if position == nil || compareHits(keys, c.vals, position) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

// present makes the hits of the page.
func (r *run) present(list []candidate) ([]search.Hit, error) {
	marks := newMarks(r.req.Highlight, r.req.Query)
	out := make([]search.Hit, len(list))
	scored := len(r.req.Sort) == 0 || r.req.TrackScores
	whole := make([]bool, len(r.req.Sort))
	for i := range r.req.Sort {
		scored = scored || r.req.Sort[i].Field == "_score"
		whole[i] = sorting.Whole(&r.req.Sort[i], r.fields)
	}
	for i := range list {
		c := &list[i]
		h := search.Hit{Index: c.doc.view.gen.index, Key: c.doc.key, Ref: c.doc.ref}
		if scored {
			s := c.score
			h.Score = &s
		}
		for k := range r.req.Sort {
			h.Sort = append(h.Sort, c.vals[k].Shown(whole[k]))
		}
		h.Highlight = marks.of(c.at)
		var err error
		if h.Source, err = r.req.Source.Apply(c.doc.raw, c.doc.key.Type); err != nil {
			return nil, problem.Wrap(err, problem.Internal, "the source of %s:%s cannot be read", h.Key.Type, h.Key.OUUID)
		}
		out[i] = h
	}
	return out, nil
}
