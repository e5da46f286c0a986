package typesense

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Limits of what is worked out here and not by the server.
const (
	maxPage    = 250    // hits of one search of the server
	maxSources = 10_000 // documents whose sources are looked at for one purpose

	maxRead     = 256 << 20 // bytes of documents that are read for one purpose
	maxAnswered = 16 << 20  // bytes of pages that are asked for together
)

// run is one request on its way.
type run struct {
	*batch
	req   *search.Request
	views []*view
	now   time.Time

	mu     sync.Mutex
	freqs  map[termKey]*float64 // how many objects hold a term
	noted  []*termOp            // one of each term
	texts  map[textKey]*fieldStats
	budget bucketing.Budget
	fault  error // of a score, the first

	columnsToo bool // documents that are only ranked may be read without sources
}

// view is one index in a run.
type view struct {
	run     *run
	gen     *generation
	names   []string // of the index and of its aliases
	spaces  []*mapping.Space
	visible cond // documents of the types that the caller may see
	query   op
	hits    cond // visible documents that match the query, prepared
	shown   cond // hits that also match the post filter, prepared
}

// newRun opens the generations for a request.
func newRun(ctx context.Context, send func(context.Context, []entry) ([]rawResult, error), r *search.Request, gens []*generation, aliases map[string][]string, types []string) *run {
	out := &run{batch: newBatch(ctx, send), columnsToo: true, req: r, now: r.Now, freqs: map[termKey]*float64{}, texts: map[textKey]*fieldStats{}}
	if out.now.IsZero() {
		out.now = time.Now()
	}
	for _, g := range gens {
		v := &view{run: out, gen: g, names: []string{g.index}, spaces: g.spaces()}
		for alias, members := range aliases {
			if slices.Contains(members, g.index) {
				v.names = append(v.names, alias)
			}
		}
		v.visible = v.ofTypes(types)
		out.views = append(out.views, v)
	}
	return out
}

func (v *view) root() *mapping.Space { return v.spaces[0] }

// ofTypes holds for documents of the types; nil means all.
func (v *view) ofTypes(types []string) cond {
	if types == nil {
		return all{}
	}
	var list []cond
	for _, c := range v.columns(v.root(), mapping.TypeField) {
		list = append(list, ofTerms(c, types))
	}
	return either(list...)
}

// columns gives the columns of a path in a space.
func (v *view) columns(sp *mapping.Space, path string) []column {
	if !v.placed(sp, path) {
		return nil
	}
	return v.gen.columns(sp.Path, path)
}

// placed tells whether a path can be one of a space: the rows of all nested
// paths are in one collection.
func (v *view) placed(sp *mapping.Space, path string) bool {
	return sp.Parent == nil || len(path) > len(sp.Path) && path[:len(sp.Path)] == sp.Path && path[len(sp.Path)] == '.'
}

const documentFields = "id," + fieldKey + "," + fieldRef + "," + fieldOrder + "," + fieldSource
