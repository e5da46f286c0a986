package embedded

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// run is one search. It holds its indices locked for reading from open to close.
type run struct {
	ctx      context.Context
	req      *search.Request
	indices  []*index // locked
	views    []*view
	now      time.Time
	aliases  map[string][]string
	scores   *sync.Pool // of *[]float32
	stats    map[statsKey]*termStats
	filters  map[filterKey][]uint64
	lexicons map[*family]*lexicon
	budget   *bucketing.Budget
	best     float32 // score of the best hit
	fault    error   // why the score of an object is not a number
}

// view is one segment in a run.
type view struct {
	run     *run
	x       *index
	seg     *segment
	place   int             // among the views
	before  uint32          // documents in the segments of the index before this one
	visible *roaring.Bitmap // live documents of the types that the caller may see
	query   op
	hits    *roaring.Bitmap // visible documents that match the query
	shown   *roaring.Bitmap // hits that also match the post filter
	scores  []float32       // of all documents, for top_hits; nil until asked for
}

// open locks the indices in the order of their names, so that two searches and
// the writers between them cannot wait for each other in a circle. Documents
// that compare alike come in the same order, which a restart does not change.
func (r *run) open(indices []*index, types []string) {
	slices.SortFunc(indices, func(a, b *index) int { return strings.Compare(a.name, b.name) })
	r.indices = slices.Compact(indices)
	for _, x := range r.indices {
		x.mu.RLock()
		before := uint32(0)
		for _, seg := range x.segs {
			if seg.root().n == 0 && len(x.segs) > 1 {
				continue
			}
			v := &view{run: r, x: x, seg: seg, place: len(r.views), before: before}
			before += seg.root().n
			r.views = append(r.views, v)
			v.visible = seg.root().live
			if types != nil {
				v.visible = roaring.And(v.visible, v.ofTypes(types))
			}
		}
	}
}

func (r *run) close() {
	for _, x := range r.indices {
		x.mu.RUnlock()
	}
}

// ofTypes gives the documents of content types, deleted ones included.
func (v *view) ofTypes(types []string) *roaring.Bitmap {
	out := roaring.New()
	for _, f := range v.seg.byPath[pathKey{0, mapping.TypeField}] {
		for _, t := range types {
			if p := f.posting(t); p != nil {
				p.into(out)
			}
		}
	}
	return out
}

// match compiles the query for each view and finds its documents.
func (r *run) match() error {
	for _, v := range r.views {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		q, err := v.compile(r.req.Query, v.seg.root())
		if err != nil {
			return err
		}
		v.query = q
		v.hits = v.visible
		if r.req.Query != nil {
			v.hits = roaring.And(v.hits, q.match())
		}
		if len(r.req.ContentTypes) > 0 {
			v.hits = roaring.And(v.hits, v.ofTypes(r.req.ContentTypes))
		}
	}
	return nil
}

// narrow applies the post filter and gives the number of hits that are left.
func (r *run) narrow() (total int64, err error) {
	for _, v := range r.views {
		v.shown = v.hits
		if q := r.req.PostFilter; q != nil {
			o, err := v.compile(q, v.seg.root())
			if err != nil {
				return 0, err
			}
			v.shown = roaring.And(v.hits, o.match())
		}
		total += int64(v.shown.GetCardinality())
	}
	return total, nil
}

// floats gives an array of n zeros; it goes back with release.
func (r *run) floats(n uint32) []float32 {
	if p, _ := r.scores.Get().(*[]float32); p != nil && cap(*p) >= int(n) {
		a := (*p)[:n]
		clear(a)
		return a
	}
	return make([]float32, n, n+n/4)
}

func (r *run) release(a []float32) { r.scores.Put(&a) }
