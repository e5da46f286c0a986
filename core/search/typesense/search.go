package typesense

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// Search implements search.Engine.
func (e *Engine) Search(ctx context.Context, t search.Target, r *search.Request) (*search.Response, error) {
	begin := time.Now()
	if r.From < 0 || r.Size < 0 || r.From+r.Size > search.MaxWindow {
		return nil, problem.Field(problem.Invalid, "size", "from + size must not be above %d", search.MaxWindow)
	}
	run, err := e.start(ctx, t, r)
	if err != nil {
		return nil, err
	}
	out, err := run.answer()
	if err != nil {
		return nil, err
	}
	out.Took = time.Since(begin)
	return out, nil
}

// Count implements search.Engine.
func (e *Engine) Count(ctx context.Context, t search.Target, r *search.Request) (int64, error) {
	run, err := e.start(ctx, t, r)
	if err != nil {
		return 0, err
	}
	if err := run.match(); err != nil {
		return 0, err
	}
	sets := make([]set, len(run.views))
	for i, v := range run.views {
		sets[i] = set{v, v.root(), v.hits}
	}
	return run.count(sets)
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
	if r.needsScores() {
		if err := r.loadStats(); err != nil {
			return nil, err
		}
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

// needsScores tells whether the documents have to be scored.
func (r *run) needsScores() bool {
	scored := r.req.TrackScores || len(r.req.Sort) == 0 && r.req.Size > 0 || ranksHits(r.req.Aggs)
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

// ranksHits tells whether a top_hits among the aggregations needs scores.
func ranksHits(list []search.Agg) bool {
	return slices.ContainsFunc(list, func(a search.Agg) bool {
		body, ok := a.Body.(*search.TopHitsAgg)
		return ranksHits(a.Subs) || ok && (len(body.Sort) == 0 || slices.ContainsFunc(body.Sort, func(k search.SortKey) bool { return k.Field == "_score" }))
	})
}

// candidate is a document that may be among the hits.
type candidate struct {
	doc   *document
	at    *object // the document itself, or a nested object of it
	score float64
	vals  []sortable
}

// page finds the hits of the page and the total.
func (r *run) page(out *search.Response) error {
	filters, counts := make([]string, len(r.views)), make([]int64, len(r.views))
	err := r.each(len(r.views), func(i int) error {
		v := r.views[i]
		var err error
		if filters[i], err = v.filter(v.root(), v.shown); err != nil {
			return err
		}
		answer, err := r.one(entry{Collection: v.gen.main, FilterBy: filters[i]})
		counts[i] = answer.Found
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range counts {
		out.Total += n
	}
	keys := r.req.Sort
	if len(keys) == 0 {
		keys = []search.SortKey{{Field: "_score", Desc: true, Path: "query"}}
	}
	for i := range keys {
		if err := r.checkSort(&keys[i]); err != nil {
			return err
		}
	}
	if err := r.checkCollapse(); err != nil {
		return err
	}
	position, err := r.after(keys)
	if err != nil || r.req.Size == 0 || out.Total == 0 {
		return err
	}
	list, err := r.top(keys, filters, counts, position)
	if err != nil {
		return err
	}
	if len(list) > 0 && (len(r.req.Sort) == 0 || r.req.Sort[0].Field == "_score" && r.req.Sort[0].Desc || r.req.TrackScores) {
		best := slices.MaxFunc(list, func(a, b candidate) int { return cmp.Compare(a.score, b.score) }).score
		out.MaxScore = &best
	}
	var groups *collapsing
	if r.req.Collapse != nil {
		if groups, list, err = r.collapse(list); err != nil {
			return err
		}
	}
	list = list[min(r.req.From, len(list)):]
	list = list[:min(r.req.Size, len(list))]
	if out.Hits, err = r.present(list); err != nil {
		return err
	}
	if groups != nil {
		if err := groups.show(list, out.Hits); err != nil {
			return err
		}
	}
	err = r.innerHits(list, out.Hits)
	if len(out.Hits) == 0 {
		out.MaxScore = nil
	}
	return err
}

// top gives the documents of the page and all before it, in order.
func (r *run) top(keys []search.SortKey, filters []string, counts []int64, position []sortable) ([]candidate, error) {
	lists := make([][]candidate, len(r.views))
	err := r.each(len(r.views), func(i int) (err error) {
		lists[i], err = r.views[i].top(keys, filters[i], counts[i], position)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(compareHits(keys, a.vals, b.vals), r.order(&a, &b)) })
	return all, nil
}

// top gives the first documents of one index: as the server sorts them if it
// can, else sorted here.
func (v *view) top(keys []search.SortKey, filter string, total int64, position []sortable) ([]candidate, error) {
	if total == 0 {
		return nil, nil
	}
	e := entry{Collection: v.gen.main, FilterBy: filter, IncludeFields: documentFields, PerPage: maxPage}
	sortBy, native := v.sortBy(keys)
	wanted := total
	switch {
	case native && position == nil && v.run.req.Collapse == nil && !(v.run.req.TrackScores && total <= maxSources):
		e.SortBy = sortBy
		wanted = min(total, int64(v.run.req.From+v.run.req.Size))
	case total > maxSources:
		return v.approximate(keys, e, total, position)
	default:
		e.SortBy = fieldOrder + ":asc"
	}
	e.PerPage = int(min(maxPage, wanted))
	first, err := v.run.one(e)
	if err != nil {
		return nil, err
	}
	hits, err := v.rest(e, first.Hits, wanted)
	if err != nil {
		return nil, err
	}
	docs, err := v.documents(hits)
	if err != nil {
		return nil, err
	}
	return v.candidates(keys, docs, position)
}

// candidates gives documents with what they are sorted by, those that stand
// behind the position.
func (v *view) candidates(keys []search.SortKey, docs []*document, position []sortable) ([]candidate, error) {
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
		c := candidate{doc: d, at: d.objects[0], vals: make([]sortable, len(keys))}
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
		whole[i] = r.wholeSort(&r.req.Sort[i])
	}
	for i := range list {
		c := &list[i]
		h := search.Hit{Index: c.doc.view.gen.index, Key: c.doc.key, Ref: c.doc.ref}
		if scored {
			s := c.score
			h.Score = &s
		}
		for k := range r.req.Sort {
			h.Sort = append(h.Sort, c.vals[k].value(whole[k]))
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
