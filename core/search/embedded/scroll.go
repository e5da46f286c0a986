package embedded

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Scroll implements search.Engine. Numbers of documents are never used again
// and what they stand for does not change, so a bitmap of them and the segment
// are all that a scroll needs.
func (e *Engine) Scroll(ctx context.Context, t search.Target, r *search.Request) (search.Cursor, error) {
	if r.Size < 1 || r.Size > search.MaxWindow {
		return nil, problem.Field(problem.Invalid, "size", "the pages of a scroll have between 1 and %d documents", search.MaxWindow)
	}
	if r.After != nil {
		return nil, problem.Field(problem.Invalid, "search_after", "a scroll has no sort, so nothing can be behind a hit")
	}
	if r.MinScore != nil {
		return nil, problem.Field(problem.Invalid, "min_score", "a scroll has no scores")
	}
	if r.Collapse != nil {
		return nil, problem.Field(problem.Invalid, r.Collapse.Path, "a scroll does not support collapse")
	}
	if plans := innerPlans(r.Query); len(plans) > 0 {
		return nil, problem.Field(problem.Invalid, plans[0].q.Inner.Path, "a scroll does not support inner hits")
	}
	run, err := e.start(ctx, t, r)
	if err != nil {
		return nil, err
	}
	defer run.close()
	if err := run.match(); err != nil {
		return nil, err
	}
	c := &scroll{engine: e, req: &search.Request{Source: r.Source, Size: r.Size}, shards: len(run.indices), totals: map[string]int64{}}
	if c.aggs, err = run.aggregate(); err != nil {
		return nil, err
	}
	if _, err = run.narrow(); err != nil {
		return nil, err
	}
	for _, v := range run.views {
		c.add(v)
	}
	c.marks.hits = run.marks(slices.Collect(maps.Keys(c.totals)))
	if err := ctx.Err(); err != nil { // a clause that stopped early cannot say so
		return nil, err
	}
	return c, nil
}

// scroll implements search.Cursor.
type scroll struct {
	engine *Engine
	req    *search.Request // what is needed of it to make hits
	shards int
	marks  marks              // what to highlight
	aggs   []search.AggResult // until the first page is given
	totals map[string]int64   // by content type
	parts  []part
}

// part is what a scroll has of one index. It is replaced as a whole when a
// page was given.
type part struct {
	x    *index
	seg  *segment        // nil once the documents are in list
	docs *roaring.Bitmap // of seg
	list []document
	next int // number in docs, or place in list, of the first that was not given
	done bool
}

// document is what a hit needs besides its source.
type document struct {
	key search.Key
	ref int64
}

func (c *scroll) add(v *view) {
	docs := v.shown.Clone() // it may be a bitmap of the segment
	if docs.IsEmpty() {
		return
	}
	docs.RunOptimize()
	c.parts = append(c.parts, part{x: v.x, seg: v.seg, docs: docs})
	for _, f := range v.seg.byPath[pathKey{0, mapping.TypeField}] {
		for ord := range uint32(f.dict.size()) {
			t := f.dict.term(ord)
			if n := docs.AndCardinality(v.ofTypes([]string{t})); n > 0 {
				c.totals[strings.Clone(t)] += int64(n)
			}
		}
	}
}

// Next implements search.Cursor.
func (c *scroll) Next(ctx context.Context, types []string) (*search.Response, error) {
	begin := time.Now()
	for {
		out := &search.Response{Shards: c.shards, Total: c.total(types), Aggs: c.aggs}
		parts := slices.Clone(c.parts)
		for i := range parts {
			out.Hits = parts[i].read(out.Hits, types, c.req.Size)
		}
		wanted := len(out.Hits)
		if err := c.engine.marked(ctx, c.req, out, c.marks); err != nil {
			return nil, err
		}
		if err := c.engine.loadTops(ctx, out.Aggs); err != nil {
			return nil, err
		}
		c.parts = slices.DeleteFunc(parts, func(p part) bool { return p.done })
		if len(out.Hits) == 0 && wanted > 0 {
			continue // every source of the page is gone, but this is not the end
		}
		c.aggs = nil
		out.Took = time.Since(begin)
		return out, nil
	}
}

// Done implements search.Cursor.
func (c *scroll) Done() bool { return len(c.parts) == 0 }

func (c *scroll) total(types []string) (n int64) {
	for t, count := range c.totals {
		if shows(types, t) {
			n += count
		}
	}
	return n
}

func shows(types []string, t string) bool { return types == nil || slices.Contains(types, t) }

// read appends the next documents of the types to a page of at most size.
func (p *part) read(page []search.Hit, types []string, size int) []search.Hit {
	if len(page) >= size {
		return page
	}
	if p.seg == nil {
		for ; p.next < len(p.list) && len(page) < size; p.next++ {
			if d := &p.list[p.next]; shows(types, d.key.Type) {
				page = append(page, search.Hit{Index: p.x.name, Key: d.key, Ref: d.ref})
			}
		}
		p.done = p.next == len(p.list)
		return page
	}
	p.x.mu.RLock()
	defer p.x.mu.RUnlock()
	it := p.docs.Iterator()
	it.AdvanceIfNeeded(uint32(p.next))
	for it.HasNext() && len(page) < size {
		doc := it.Next()
		if key := p.seg.key(doc); shows(types, key.Type) {
			page = append(page, search.Hit{Index: p.x.name, Key: key, Ref: p.seg.refs[doc]})
		}
		p.next = int(doc) + 1
	}
	p.done = !it.HasNext()
	return page
}

// Tidy implements search.Cursor. A segment that was merged or whose index is gone
// would stay in memory for the scroll alone; a list of the documents takes its
// place. One in a file takes next to no memory, however many scrolls hold it.
func (c *scroll) Tidy() {
	current := c.engine.catalog.Load()
	for i := range c.parts {
		p := &c.parts[i]
		if p.seg != nil && (current.indices[p.x.name] != p.x || !p.seg.mapped && !p.x.has(p.seg)) {
			p.detach()
		}
	}
}

func (p *part) detach() {
	p.x.mu.RLock()
	defer p.x.mu.RUnlock()
	names := map[string]string{} // one string for each content type
	it := p.docs.Iterator()
	it.AdvanceIfNeeded(uint32(p.next))
	for it.HasNext() {
		doc := it.Next()
		d := document{key: p.seg.key(doc), ref: p.seg.refs[doc]}
		if name, ok := names[d.key.Type]; ok {
			d.key.Type = name
		} else {
			names[d.key.Type] = d.key.Type
		}
		p.list = append(p.list, d)
	}
	// The index itself holds its segment; only its name is needed from now on.
	p.x, p.seg, p.docs, p.next = &index{name: p.x.name}, nil, nil, 0
}
