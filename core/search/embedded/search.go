package embedded

import (
	"context"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Search implements search.Engine.
func (e *Engine) Search(ctx context.Context, t search.Target, r *search.Request) (*search.Response, error) {
	begin := time.Now()
	if r.From < 0 || r.Size < 0 || r.From+r.Size > search.MaxWindow {
		return nil, problem.Field(problem.Invalid, "size", "from + size must not be above %d", search.MaxWindow)
	}
	out, m, err := e.evaluate(ctx, t, r)
	if err == nil {
		err = ctx.Err() // a clause that stopped early cannot say so
	}
	if err != nil {
		return nil, err
	}
	if err := e.marked(ctx, r, out, m); err != nil {
		return nil, err
	}
	if err := e.loadTops(ctx, out.Aggs); err != nil {
		return nil, err
	}
	out.Took = time.Since(begin)
	return out, nil
}

// evaluate does what needs the segments.
func (e *Engine) evaluate(ctx context.Context, t search.Target, r *search.Request) (*search.Response, marks, error) {
	run, err := e.start(ctx, t, r)
	if err != nil {
		return nil, marks{}, err
	}
	defer run.close()
	if err := run.found(); err != nil {
		return nil, marks{}, err
	}
	out := &search.Response{Shards: len(run.indices)}
	if out.Aggs, err = run.aggregate(); err != nil {
		return nil, marks{}, err
	}
	if out.Total, err = run.narrow(); err != nil {
		return nil, marks{}, err
	}
	out.TrackTotal = r.TrackTotal
	if out.Suggest, err = run.suggestions(); err != nil {
		return nil, marks{}, err
	}
	if r.Size == 0 {
		return out, marks{}, nil
	}
	list, err := run.top()
	if err != nil {
		return nil, marks{}, err
	}
	out.Hits = run.hits(list)
	if len(out.Hits) > 0 && (len(r.Sort) == 0 || r.Sort[0].Field == "_score" && r.Sort[0].Desc || r.TrackScores) {
		best := float64(run.best)
		out.MaxScore = &best
	}
	if err := run.groups(list, out.Hits); err != nil {
		return nil, marks{}, err
	}
	if err := run.innerHits(list, out.Hits); err != nil {
		return nil, marks{}, err
	}
	types := typesOf(out.Hits)
	return out, marks{run.marks(types), run.innerMarks(types)}, nil
}

// typesOf gives the content types of hits.
func typesOf(hits []search.Hit) []string {
	var out []string
	for i := range hits {
		if t := hits[i].Key.Type; !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// sources loads the sources of the hits, index by index, and filters them.
// Hits whose source is gone are left out.
func (e *Engine) sources(ctx context.Context, r *search.Request, out *search.Response) error {
	return e.marked(ctx, r, out, marks{})
}

// marked does so and marks what is to be highlighted.
func (e *Engine) marked(ctx context.Context, r *search.Request, out *search.Response, m marks) error {
	byIndex := map[string][]int{}
	for i := range out.Hits {
		byIndex[out.Hits[i].Index] = append(byIndex[out.Hits[i].Index], i)
	}
	for name, places := range byIndex {
		refs := make([]int64, len(places))
		for k, i := range places {
			refs[k] = out.Hits[i].Ref
		}
		loaded, err := e.load(ctx, name, refs)
		if err != nil {
			return err
		}
		if len(loaded) != len(refs) {
			return problem.New(problem.Internal, "%d sources were loaded for %d hits", len(loaded), len(refs))
		}
		for k, i := range places {
			if loaded[k] == nil {
				continue
			}
			h := &out.Hits[i]
			h.Highlight = highlight(loaded[k], m.hits[typeKey{name, h.Key.Type}])
			if h.Source, err = r.Source.Apply(loaded[k], h.Key.Type); err != nil {
				return problem.Wrap(err, problem.Internal, "the source of %s:%s cannot be read", h.Key.Type, h.Key.OUUID)
			}
			if err := fillObjects(loaded[k], h.Inner, m.inner); err != nil {
				return problem.Wrap(err, problem.Internal, "the source of %s:%s cannot be read", h.Key.Type, h.Key.OUUID)
			}
		}
	}
	kept := out.Hits[:0]
	for _, h := range out.Hits {
		if h.Source != nil {
			kept = append(kept, h)
		}
	}
	out.Hits = kept
	return e.fillGroups(ctx, out.Hits, m)
}

// fillGroups loads the sources of the documents behind collapsed hits.
func (e *Engine) fillGroups(ctx context.Context, hits []search.Hit, m marks) error {
	for i := range hits {
		if hits[i].Group == nil {
			continue
		}
		for k := range hits[i].Inner {
			in := &hits[i].Inner[k]
			if len(in.Hits) > 0 && len(in.Hits[0].Path) > 0 {
				continue
			}
			part := &search.Response{Hits: make([]search.Hit, len(in.Hits))}
			for n := range in.Hits {
				part.Hits[n] = in.Hits[n].Hit
			}
			if err := e.marked(ctx, &search.Request{Source: in.Of.Source}, part, marks{hits: m.inner[in.Of]}); err != nil {
				return err
			}
			in.Hits = in.Hits[:len(part.Hits)]
			for n := range part.Hits {
				in.Hits[n].Hit = part.Hits[n]
			}
		}
	}
	return nil
}

// Count implements search.Engine.
func (e *Engine) Count(ctx context.Context, t search.Target, r *search.Request) (int64, error) {
	run, err := e.start(ctx, t, r)
	if err != nil {
		return 0, err
	}
	defer run.close()
	if err := run.found(); err != nil {
		return 0, err
	}
	n := int64(0)
	for _, v := range run.views {
		n += int64(v.hits.GetCardinality())
	}
	return n, ctx.Err()
}

// Get implements search.Engine.
func (e *Engine) Get(ctx context.Context, t search.Target, ouuid string) (search.Hit, error) {
	r := &search.Request{Size: 2}
	out, err := e.lookUp(ctx, t, r, ouuid)
	if err != nil {
		return search.Hit{}, err
	}
	if err := e.sources(ctx, r, out); err != nil {
		return search.Hit{}, err
	}
	switch len(out.Hits) {
	case 0:
		return search.Hit{}, problem.New(problem.NotFound, "there is no document %q", ouuid)
	case 1:
		return out.Hits[0], nil
	}
	return search.Hit{}, problem.New(problem.Conflict, "there are several documents %q", ouuid)
}

func (e *Engine) lookUp(ctx context.Context, t search.Target, r *search.Request, ouuid string) (*search.Response, error) {
	run, err := e.start(ctx, t, r)
	if err != nil {
		return nil, err
	}
	defer run.close()
	out := &search.Response{}
	for _, v := range run.views {
		for _, f := range v.families(v.seg.root(), mapping.IDField) {
			p := f.posting(ouuid)
			if p == nil {
				continue
			}
			each(roaring.And(p.bitmap(), v.visible), func(doc uint32) {
				out.Hits = append(out.Hits, search.Hit{Index: v.x.name, Key: v.seg.key(doc), Ref: v.seg.refs[doc]})
			})
		}
	}
	return out, nil
}
