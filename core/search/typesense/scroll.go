package typesense

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

var (
	_ search.Portable = (*scroll)(nil)
	_ search.Resumer  = (*Engine)(nil)
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
	if r.Now.IsZero() { // later pages ask the same
		r.Now = time.Now()
	}
	var c *scroll
	err := e.asked(ctx, t, r, func(run *run) error {
		if err := run.match(); err != nil {
			return err
		}
		c = e.scroll(r)
		c.at.Shards = len(run.views)
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

func (e *Engine) scroll(r *search.Request) *scroll {
	return &scroll{engine: e, req: r, marks: newMarks(r.Highlight, r.Query), at: scrollPlace{Totals: map[string]int64{}}}
}

// Resume implements search.Resumer. The order of documents comes from their ids
// alone: so a scroll goes on in whatever index is behind the name by then.
func (e *Engine) Resume(r *search.Request, place []byte) (search.Cursor, error) {
	c := e.scroll(r)
	if err := json.Unmarshal(place, &c.at); err != nil || r.Now.IsZero() || r.Size < 1 {
		return nil, problem.Wrap(err, problem.Invalid, "this is not the place of a scroll")
	}
	return c, nil
}

// scroll implements search.Portable.
type scroll struct {
	engine *Engine
	req    *search.Request
	marks  *marks
	aggs   []search.AggResult // until the first page is given
	at     scrollPlace
}

// scrollPlace is where a scroll stands.
type scrollPlace struct {
	Shards int              `json:"s"`
	Totals map[string]int64 `json:"t"` // documents that matched at the beginning, by content type
	Parts  []scrollPart     `json:"p,omitempty"`
}

// scrollPart is what is left of one index.
type scrollPart struct {
	Index string `json:"i"`
	Last  int64  `json:"l"` // order of the last document that was given

	gen    *generation // nil until the filter is known
	filter string
	over   bool
}

// open counts what matches, by content type.
func (c *scroll) open(r *run) error {
	parts := make([]scrollPart, len(r.views))
	totals := make([]map[string]int64, len(r.views))
	err := r.each(len(r.views), func(i int) error {
		v := r.views[i]
		parts[i].over = true
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
		parts[i] = scrollPart{Index: v.gen.index, Last: -1, gen: v.gen, filter: filter, over: answer.Found == 0}
		return nil
	})
	for i, p := range parts {
		if !p.over {
			c.at.Parts = append(c.at.Parts, p)
		}
		for name, n := range totals[i] {
			c.at.Totals[name] += n
		}
	}
	return err
}

// compile finds the filter of a part anew. Content types of which nothing
// matched at the beginning are left out: they are not in the total.
func (c *scroll) compile(ctx context.Context, p *scrollPart) error {
	types := slices.Sorted(maps.Keys(c.at.Totals))
	return c.engine.asked(ctx, search.Target{Indices: []string{p.Index}, Types: types}, c.req, func(run *run) (err error) {
		if err := run.match(); err != nil {
			return err
		}
		if err := run.narrow(); err != nil {
			return err
		}
		v := run.views[0]
		p.gen = v.gen
		p.filter, err = v.filter(v.root(), v.shown)
		return err
	})
}

// Next implements search.Cursor.
func (c *scroll) Next(ctx context.Context, types []string) (*search.Response, error) {
	begin := time.Now()
	out := &search.Response{Shards: c.at.Shards, Aggs: c.aggs}
	for name, n := range c.at.Totals {
		if types == nil || slices.Contains(types, name) {
			out.Total += n
		}
	}
	parts := slices.Clone(c.at.Parts)
	for i := range parts {
		err := c.read(ctx, &parts[i], types, out)
		if c.engine.stale(err) { // the index was replaced
			parts[i].gen = nil
			err = c.read(ctx, &parts[i], types, out)
		}
		if err != nil {
			return nil, err
		}
		if len(out.Hits) == c.req.Size {
			break
		}
	}
	c.at.Parts = slices.DeleteFunc(parts, func(p scrollPart) bool { return p.over })
	c.aggs = nil
	out.Took = time.Since(begin)
	return out, nil
}

// read appends the next documents of an index to a page.
func (c *scroll) read(ctx context.Context, p *scrollPart, types []string, out *search.Response) error {
	if p.gen == nil {
		if err := c.compile(ctx, p); err != nil {
			return err
		}
	}
	if p.filter == matchNothing {
		p.over = true
		return nil
	}
	wanted := int64(c.req.Size - len(out.Hits))
	v := newRun(ctx, c.engine.client.multiSearch, &search.Request{}, []*generation{p.gen}, nil, types).views[0]
	visible, err := v.filter(v.root(), v.visible)
	if err != nil {
		return err
	}
	filter := fmt.Sprintf("%s:[%d..%d]", fieldOrder, p.Last+1, int64(MaxNumber))
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
		p.Last = d.order
	}
	p.over = first.Found <= wanted
	return nil
}

// Place implements search.Portable.
func (c *scroll) Place() ([]byte, error) { return json.Marshal(c.at) }

// Done implements search.Cursor.
func (c *scroll) Done() bool { return len(c.at.Parts) == 0 }

// Tidy implements search.Cursor: nothing is held for a scroll.
func (c *scroll) Tidy() {}
