package typesense

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// version is what clients of the search API compare: the version of the query
// language, then the engine.
const version = "8.0.0-quoin-typesense"

// fieldsAge is how old what a process knows of the fields of a collection may
// be. Only fields that other processes have made are missing for so long.
const fieldsAge = time.Second

// slowWrite is how long an import may take until health says so: a node can hang
// with its writes and still call itself healthy.
const slowWrite = 30 * time.Second

// Options say where the server is.
type Options struct {
	URLs   []string // of the nodes of one cluster, http or https
	Key    string   // must be allowed to do everything with collections and documents
	Prefix string   // of all collections; "qi" when empty
	Log    *slog.Logger
}

// Engine implements search.Engine on a Typesense server, which any number of
// processes may share.
type Engine struct {
	client  *client
	catalog *catalog
	prefix  string
	log     *slog.Logger

	mu          sync.Mutex
	generations map[string]*generation // by main collection
	writing     map[*time.Time]bool    // when imports that run have begun
	sweptAt     time.Time
}

// New makes an engine. It does not talk to the server yet.
func New(o Options) (*Engine, error) {
	if o.Prefix == "" {
		o.Prefix = "qi"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c, err := newClient(o.URLs, o.Key, o.Log)
	if err != nil {
		return nil, err
	}
	return &Engine{
		client: c, catalog: newCatalog(c, o.Prefix), prefix: o.Prefix, log: o.Log,
		generations: map[string]*generation{}, writing: map[*time.Time]bool{},
	}, nil
}

// open gives the generation behind the name of an index.
func (e *Engine) open(ctx context.Context, name string) (*generation, error) {
	s, err := e.catalog.load(ctx)
	if err != nil {
		return nil, err
	}
	p, ok := s.Indices[name]
	if !ok {
		return nil, noIndex(name)
	}
	return e.generation(ctx, p)
}

// openAll gives the generations of a target, in its order, and the aliases at
// the same moment.
func (e *Engine) openAll(ctx context.Context, names []string) (list []*generation, aliases map[string][]string, err error) {
	s, err := e.catalog.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		p, ok := s.Indices[name]
		if !ok {
			return nil, nil, noIndex(name)
		}
		g, err := e.generation(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, g)
	}
	return list, s.Aliases, nil
}

func noIndex(name string) error {
	return problem.New(problem.NotFound, "there is no index %q", name)
}

// generation gives what this process knows of a place, with the settings that
// are in force there.
func (e *Engine) generation(ctx context.Context, p place) (*generation, error) {
	e.mu.Lock()
	g := e.generations[p.Main]
	e.mu.Unlock()
	if g == nil || g.settingsHash() != p.Settings {
		s, err := e.catalog.settingsOf(ctx, p.Settings)
		if err != nil {
			return nil, err
		}
		if g == nil {
			g, err = newGeneration(p.Index, p.Main, p.Settings, s)
		} else {
			err = g.configure(p.Settings, s)
		}
		if err != nil {
			return nil, err
		}
		g = e.remember(g)
	}
	return g, e.refreshFields(ctx, g)
}

// remember keeps a generation; the one that is known wins.
func (e *Engine) remember(g *generation) *generation {
	e.mu.Lock()
	defer e.mu.Unlock()
	if old := e.generations[g.main]; old != nil {
		return old
	}
	e.generations[g.main] = g
	return g
}

// forget drops what is known of generations that are gone.
func (e *Engine) forget(s *state) {
	alive := map[string]bool{}
	for _, p := range s.Indices {
		alive[p.Main] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for main := range e.generations {
		if !alive[main] {
			delete(e.generations, main)
		}
	}
}

// refreshFields learns of the fields that other processes have made: at once
// the first time, in the background later.
func (e *Engine) refreshFields(ctx context.Context, g *generation) error {
	never, again := g.due()
	if never {
		g.first.Lock()
		defer g.first.Unlock()
		if never, _ := g.due(); never {
			return e.askFields(ctx, g)
		}
		return nil
	}
	if !again {
		return nil
	}
	go func() {
		if err := e.askFields(context.WithoutCancel(ctx), g); err != nil {
			e.log.DebugContext(ctx, "the fields of an index could not be read", "collection", g.main, "error", err)
		}
	}()
	return nil
}

func (e *Engine) askFields(ctx context.Context, g *generation) error {
	begin := time.Now()
	main, err := e.client.fieldsOf(ctx, g.main)
	if err != nil {
		g.answered(time.Time{})
		return err
	}
	rows, err := e.client.fieldsOf(ctx, g.rows)
	if err != nil {
		g.answered(time.Time{})
		return err
	}
	g.learn(main, rows)
	g.answered(begin)
	return nil
}

// Analyze implements search.Engine.
func (e *Engine) Analyze(ctx context.Context, index, analyzer, text string) ([]search.Token, error) {
	g, err := e.open(ctx, index)
	if err != nil {
		return nil, err
	}
	a, err := g.analyzer(analyzer)
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

// Ping tells whether the server answers, and why not.
func (e *Engine) Ping(ctx context.Context) error {
	if err := e.client.healthy(ctx); err != nil {
		return err
	}
	if age := e.oldestWrite(); age > slowWrite {
		return unavailable(fmt.Errorf("an import has been running for %s", age.Round(time.Second)))
	}
	return nil
}

// Health implements search.Engine: red when the server is not there, yellow when
// it does not write or an index has more fields than it can take.
func (e *Engine) Health(ctx context.Context) string {
	if err := e.client.healthy(ctx); err != nil {
		return "red"
	}
	if e.oldestWrite() > slowWrite {
		return "yellow"
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range e.generations {
		if g.full() {
			return "yellow"
		}
	}
	return "green"
}

// write notes that a request writes, until done is called.
func (e *Engine) write() (done func()) {
	begin := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writing[&begin] = true
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.writing, &begin)
	}
}

func (e *Engine) oldestWrite() (age time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for begin := range e.writing {
		age = max(age, time.Since(*begin))
	}
	return age
}

// stale forgets what was read of the catalog when a collection was not there:
// another process may have put a new one in its place.
func (e *Engine) stale(err error) bool {
	var p *problem.Problem
	if !errors.As(err, &p) || p.Kind != problem.NotFound || p.Cause == nil {
		return false
	}
	e.catalog.expire()
	return true
}
