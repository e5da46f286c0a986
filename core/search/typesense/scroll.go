package typesense

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Scroll implements search.Engine. The server keeps nothing for it: the cursor
// has the filters and the place in a stable order of the documents. So each
// document that matches all the time is given once; one that is written or
// deleted meanwhile may be given as it is then, or not at all.
func (e *Engine) Scroll(ctx context.Context, t search.Target, r *search.Request) (search.Cursor, error) {
	if r.Size < 1 || r.Size > search.MaxWindow {
		return nil, problem.Field(problem.Invalid, "size", "the pages of a scroll have between 1 and %d documents", search.MaxWindow)
	}
	if r.After != nil {
		return nil, problem.Field(problem.Invalid, "search_after", "a scroll has no sort, so nothing can be behind a hit")
	}
	if r.MinScore != nil {
		return nil, problem.Field(problem.Invalid, "min_score", "a scroll has no scores, so min_score cannot be used with it")
	}
	if r.Collapse != nil {
		return nil, problem.Field(problem.Invalid, r.Collapse.Path, "a scroll does not support collapse")
	}
	if plans := innerPlans(r.Query); len(plans) > 0 {
		return nil, problem.Field(problem.Invalid, plans[0].q.Inner.Path, "a scroll does not support inner hits")
	}
	var c *scroll
	err := e.asked(ctx, t, r, func(run *run) error {
		if err := run.match(); err != nil {
			return err
		}
		c = &scroll{engine: e, req: r, marks: newMarks(r.Highlight, r.Query), shards: len(run.views), totals: map[string]int64{}}
		return run.each(2, func(part int) (err error) {
			if part == 0 {
				c.aggs, err = run.aggregate()
				return err
			}
			if err := run.narrow(); err != nil {
				return err
			}
			return c.open(run)
		})
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// scroll implements search.Cursor.
type scroll struct {
	engine *Engine
	req    *search.Request
	marks  *marks
	shards int
	aggs   []search.AggResult // until the first page is given
	totals map[string]int64   // by content type
	parts  []scrollPart
}

// scrollPart is what is left of one index.
type scrollPart struct {
	gen    *generation
	filter string
	last   int64 // order of the last document that was given
	size   int64 // documents that matched at the beginning
}

// open counts what matches, by content type.
func (c *scroll) open(r *run) error {
	parts := make([]scrollPart, len(r.views))
	totals := make([]map[string]int64, len(r.views))
	err := r.each(len(r.views), func(i int) error {
		v := r.views[i]
		filter, err := v.filter(v.root(), v.shown)
		if err != nil || filter == matchNothing {
			return err
		}
		columns := v.columns(v.root(), mapping.TypeField)
		if len(columns) == 0 {
			return nil
		}
		answer, err := r.one(entry{Collection: v.gen.main, FilterBy: filter, FacetBy: columns[0].Name, MaxFacetValues: maxTerms})
		if err != nil {
			return err
		}
		totals[i] = map[string]int64{}
		for _, n := range facetCounts(answer) {
			if name, ok := DecodeKeyword(n.Value); ok {
				totals[i][name] = n.Count
			}
		}
		parts[i] = scrollPart{gen: v.gen, filter: filter, last: -1, size: answer.Found}
		return nil
	})
	for i, p := range parts {
		if p.size > 0 {
			c.parts = append(c.parts, p)
		}
		for name, n := range totals[i] {
			c.totals[name] += n
		}
	}
	return err
}

// Next implements search.Cursor.
func (c *scroll) Next(ctx context.Context, types []string) (*search.Response, error) {
	begin := time.Now()
	out := &search.Response{Shards: c.shards, Aggs: c.aggs}
	for name, n := range maps.All(c.totals) {
		if types == nil || slices.Contains(types, name) {
			out.Total += n
		}
	}
	parts := slices.Clone(c.parts)
	for i := range parts {
		if err := c.read(ctx, &parts[i], types, out); err != nil {
			return nil, err
		}
		if len(out.Hits) == c.req.Size {
			break
		}
	}
	c.parts = slices.DeleteFunc(parts, func(p scrollPart) bool { return p.size <= 0 })
	c.aggs = nil
	out.Took = time.Since(begin)
	return out, nil
}

// read appends the next documents of an index to a page.
func (c *scroll) read(ctx context.Context, p *scrollPart, types []string, out *search.Response) error {
	wanted := int64(c.req.Size - len(out.Hits))
	v := newRun(ctx, c.engine.client.multiSearch, &search.Request{}, []*generation{p.gen}, nil, types).views[0]
	visible, err := v.filter(v.root(), v.visible)
	if err != nil {
		return err
	}
	filter := fmt.Sprintf("%s:[%d..%d]", fieldOrder, p.last+1, int64(MaxNumber))
	for _, more := range []string{p.filter, visible} {
		if more != "" {
			filter = "(" + more + ") && " + filter
		}
	}
	e := entry{Collection: p.gen.main, FilterBy: filter, SortBy: fieldOrder + ":asc", IncludeFields: documentFields, PerPage: int(min(maxPage, wanted))}
	first, err := v.run.one(e)
	if err != nil {
		return err
	}
	hits, err := v.rest(e, first.Hits, min(first.Found, wanted))
	if err != nil {
		return err
	}
	docs, err := v.documents(hits)
	if err != nil {
		return err
	}
	for _, d := range docs {
		h := search.Hit{Index: p.gen.index, Key: d.key, Ref: d.ref, Highlight: c.marks.of(d.objects[0])}
		if h.Source, err = c.req.Source.Apply(d.raw, d.key.Type); err != nil {
			return problem.Wrap(err, problem.Internal, "the source of %s:%s cannot be read", d.key.Type, d.key.OUUID)
		}
		out.Hits = append(out.Hits, h)
		p.last = d.order
	}
	if first.Found <= wanted {
		p.size = 0
	}
	return nil
}

// Done implements search.Cursor.
func (c *scroll) Done() bool { return len(c.parts) == 0 }

// Tidy implements search.Cursor: nothing is held for a scroll.
func (c *scroll) Tidy() {}
