package embedded_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/searchtest"
)

// reopened is an engine that is closed and opened from its files after every
// change.
type reopened struct {
	*embedded.Engine
	t    *testing.T
	dir  string
	load search.Loader

	mu       sync.RWMutex
	settings map[string]search.Settings
	restored int
	unmaps   bool // open anew after every search, and give back what was mapped before
}

func newReopened(t *testing.T, load search.Loader) *reopened {
	r := &reopened{t: t, dir: t.TempDir(), load: load, settings: map[string]search.Settings{}}
	r.Engine = r.open()
	return r
}

func (r *reopened) open() *embedded.Engine {
	return embedded.Open(r.load, embedded.Options{Dir: r.dir})
}

// again opens the files anew. An index of which some documents are indexed in
// one way and some in another cannot be opened, so the engine stays.
func (r *reopened) again() {
	ctx := context.Background()
	r.Engine.SaveAll()
	fresh := r.open()
	for name, s := range r.settings {
		ok, reason, err := fresh.Restore(ctx, name, s)
		if err != nil {
			r.t.Error(err)
		}
		if !ok {
			if reason == "" {
				n, _ := r.Engine.Count(ctx, search.Target{Indices: []string{name}}, &search.Request{})
				if n > 0 {
					r.t.Errorf("index %q has no file", name)
				}
				continue
			}
			return
		}
		r.restored++
	}
	aliases, _ := r.Engine.Aliases(ctx)
	for alias, indices := range aliases {
		for _, index := range indices {
			if err := fresh.SetAliases(ctx, []search.AliasAction{{Alias: alias, Index: index}}); err != nil {
				r.t.Error(err)
			}
		}
	}
	r.Engine.Close()
	r.Engine = fresh
}

func (r *reopened) Create(ctx context.Context, name string, s search.Settings) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.Engine.Create(ctx, name, s)
	if err == nil {
		r.settings[name] = s
	}
	return err
}

func (r *reopened) Configure(ctx context.Context, name string, s search.Settings) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.Engine.Configure(ctx, name, s)
	if err == nil {
		r.settings[name] = s
	}
	return err
}

func (r *reopened) Drop(ctx context.Context, name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.settings, name)
	return r.Engine.Drop(ctx, name)
}

func (r *reopened) Apply(ctx context.Context, name string, ops []search.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.Engine.Apply(ctx, name, ops)
	r.again()
	return err
}

func (r *reopened) Search(ctx context.Context, t search.Target, q *search.Request) (*search.Response, error) {
	if !r.unmaps {
		r.mu.RLock()
		defer r.mu.RUnlock()
		return r.Engine.Search(ctx, t, q)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out, err := r.Engine.Search(ctx, t, q)
	r.again()
	runtime.GC()
	return out, err
}

func (r *reopened) Count(ctx context.Context, t search.Target, q *search.Request) (int64, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.Engine.Count(ctx, t, q)
}

func (r *reopened) Scroll(ctx context.Context, t search.Target, q *search.Request) (search.Cursor, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.Engine.Scroll(ctx, t, q)
}

// TestConformanceReopened opens the files anew between every change and what is
// asked after it.
func TestConformanceReopened(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: opening an index again after every change takes a minute")
	}
	restored := 0
	searchtest.Run(t, func(t *testing.T, load search.Loader) search.Engine {
		r := newReopened(t, load)
		t.Cleanup(func() { restored += r.restored })
		return r
	})
	if restored < 100 {
		t.Errorf("indexes were opened %d times from a file", restored)
	}
}

// TestConformanceUnmapped reads every answer when the file that it was made
// from is mapped no more: an answer that holds a string of the file would be
// wrong, or the end of the test.
func TestConformanceUnmapped(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: a collection of garbage after every search takes a minute")
	}
	searchtest.Run(t, func(t *testing.T, load search.Loader) search.Engine {
		r := newReopened(t, load)
		r.unmaps = true
		return r
	})
}
