// Package embedded is the search engine inside the process: an index of its
// own, derived from the documents that it is given.
//
// Each index is a base, which lies in a mapped file, and a tail in memory that
// takes what is written, until both are merged into a new base. Both are
// segments. In a segment documents and the objects of each nested path
// have numbers of their own; a field has a dictionary, a posting list per
// term, and columns of ordinals or numbers; deleted objects leave the live
// bitmaps at once and the memory later, when segments are merged. A
// query becomes bitmaps, bottom up; scores are computed only for what is read.
// Searches hold the lock of an index for reading while they evaluate, not
// while they load sources; writers hold it only while they add a chunk that
// was made ready before.
package embedded

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
)

// version is what clients of the search API compare: the version of the query
// language, then the engine.
const version = "8.0.0-quoin-embedded"

// Engine implements search.Engine in memory.
type Engine struct {
	load   search.Loader
	scores sync.Pool // of *[]float32
	policy *policy

	change  sync.Mutex // held while the catalog is replaced
	catalog atomic.Pointer[catalog]
}

// catalog is what exists at one moment; it is replaced, never changed.
type catalog struct {
	indices map[string]*index
	aliases map[string][]string // sorted names of indices
}

// New makes an empty engine that keeps nothing on the disk. load finds sources
// of documents; it is called without any lock held.
func New(load search.Loader) *Engine {
	e := &Engine{load: load, policy: newPolicy()}
	e.catalog.Store(&catalog{})
	return e
}

var _ search.Engine = (*Engine)(nil)

// Apply implements search.Engine. What it applied is searchable when it
// returns.
func (e *Engine) Apply(ctx context.Context, name string, ops []search.Op) error {
	x, err := e.catalog.Load().index(name)
	if err != nil {
		return err
	}
	return x.apply(ctx, ops)
}

// Refresh implements search.Engine; there is nothing to wait for.
func (e *Engine) Refresh(_ context.Context, name string) error {
	_, err := e.catalog.Load().index(name)
	return err
}

// Analyze implements search.Engine.
func (e *Engine) Analyze(_ context.Context, name, analyzer, text string) ([]search.Token, error) {
	x, err := e.catalog.Load().index(name)
	if err != nil {
		return nil, err
	}
	a, err := x.set.Load().Get(analyzer)
	if err != nil {
		return nil, err
	}
	terms, tokens := a.Terms(text)
	out := make([]search.Token, len(tokens))
	for i, t := range tokens {
		out[i] = search.Token{Term: terms[i], Start: int(t.Start), End: int(t.End), Position: int(t.Pos)}
	}
	return out, nil
}

// Version implements search.Engine.
func (e *Engine) Version() string { return version }

// Health implements search.Engine: yellow when an index has more fields than
// it can take, so that some are not searchable.
func (e *Engine) Health(context.Context) string {
	for _, x := range e.catalog.Load().indices {
		if x.full.Load() {
			return "yellow"
		}
	}
	return "green"
}

func (c *catalog) index(name string) (*index, error) {
	if x := c.indices[name]; x != nil {
		return x, nil
	}
	return nil, problem.New(problem.NotFound, "there is no index %q", name)
}

// start opens a run on a target. The caller closes it.
func (e *Engine) start(ctx context.Context, t search.Target, r *search.Request) (*run, error) {
	c := e.catalog.Load()
	list := make([]*index, 0, len(t.Indices))
	for _, name := range t.Indices {
		x, err := c.index(name)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	out := &run{ctx: ctx, req: r, now: r.Now, budget: &bucketing.Budget{}, aliases: c.aliases, scores: &e.scores}
	if out.now.IsZero() {
		out.now = time.Now()
	}
	out.open(list, t.Types)
	return out, nil
}
