// Package embedded is the search engine inside the process: an index of its
// own in memory, derived from the documents that it is given.
//
// Each index is one segment. Documents and the objects of each nested path
// have numbers of their own; a field has a dictionary, a posting list per
// term, and columns of ordinals or numbers; deleted objects leave the live
// bitmaps at once and the memory later, when the segment is written anew. A
// query becomes bitmaps, bottom up; scores are computed only for what is read.
// Searches hold the lock of a segment for reading while they evaluate, not
// while they load sources; writers hold it only while they add a chunk that
// was made ready before.
package embedded

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// version is what clients of the search API compare: the version of the query
// language, then the engine.
const version = "8.0.0-quoin-embedded"

// Engine implements search.Engine in memory.
type Engine struct {
	load    search.Loader
	scores  sync.Pool // of *[]float32
	minDead int       // see index.minDead

	change  sync.Mutex // held while the catalog is replaced
	catalog atomic.Pointer[catalog]
	nextID  uint64
}

// catalog is what exists at one moment; it is replaced, never changed.
type catalog struct {
	indices map[string]*index
	aliases map[string][]string // sorted names of indices
}

// New makes an empty engine. load finds sources of documents; it is called
// without any lock held.
func New(load search.Loader) *Engine {
	e := &Engine{load: load, minDead: 512}
	e.catalog.Store(&catalog{})
	return e
}

var _ search.Engine = (*Engine)(nil)

// Create implements search.Engine.
func (e *Engine) Create(_ context.Context, name string, s search.Settings) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	if name == "" {
		return problem.Field(problem.Invalid, "index", "an index needs a name")
	}
	if _, taken := old.aliases[name]; taken || old.indices[name] != nil {
		return problem.New(problem.Conflict, "there is an index or alias %q already", name)
	}
	e.nextID++
	x, err := newIndex(e.nextID, name, s)
	if err != nil {
		return err
	}
	fresh := &catalog{indices: maps.Clone(old.indices), aliases: old.aliases}
	if fresh.indices == nil {
		fresh.indices = map[string]*index{}
	}
	fresh.indices[name] = x
	x.minDead = e.minDead
	e.catalog.Store(fresh)
	return nil
}

// Configure implements search.Engine.
func (e *Engine) Configure(_ context.Context, name string, s search.Settings) error {
	x, err := e.catalog.Load().index(name)
	if err != nil {
		return err
	}
	x.writer.Lock()
	defer x.writer.Unlock()
	return x.configure(s)
}

// Drop implements search.Engine.
func (e *Engine) Drop(_ context.Context, name string) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	if _, err := old.index(name); err != nil {
		return err
	}
	fresh := &catalog{indices: maps.Clone(old.indices), aliases: map[string][]string{}}
	delete(fresh.indices, name)
	for alias, members := range old.aliases {
		kept := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == name })
		if len(kept) > 0 {
			fresh.aliases[alias] = kept
		}
	}
	e.catalog.Store(fresh)
	return nil
}

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

// SetAliases implements search.Engine.
func (e *Engine) SetAliases(_ context.Context, actions []search.AliasAction) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	fresh := &catalog{indices: old.indices, aliases: maps.Clone(old.aliases)}
	if fresh.aliases == nil {
		fresh.aliases = map[string][]string{}
	}
	for _, a := range actions {
		if _, err := fresh.index(a.Index); err != nil {
			return err
		}
		if a.Alias == "" || fresh.indices[a.Alias] != nil {
			return problem.New(problem.Conflict, "%q cannot be an alias", a.Alias)
		}
		members := slices.DeleteFunc(slices.Clone(fresh.aliases[a.Alias]), func(m string) bool { return m == a.Index })
		if !a.Remove {
			members = append(members, a.Index)
			slices.Sort(members)
		}
		if len(members) == 0 {
			delete(fresh.aliases, a.Alias)
		} else {
			fresh.aliases[a.Alias] = members
		}
	}
	e.catalog.Store(fresh)
	return nil
}

// Aliases implements search.Engine.
func (e *Engine) Aliases(context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	for alias, members := range e.catalog.Load().aliases {
		out[alias] = slices.Clone(members)
	}
	return out, nil
}

// Indices implements search.Engine.
func (e *Engine) Indices(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(e.catalog.Load().indices)), nil
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
	out := &run{ctx: ctx, req: r, now: r.Now, aliases: c.aliases, scores: &e.scores}
	if out.now.IsZero() {
		out.now = time.Now()
	}
	out.open(list, t.Types)
	return out, nil
}
