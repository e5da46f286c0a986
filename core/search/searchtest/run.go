// Package searchtest is the conformance suite of the search port: what every
// adapter must answer, by fixed cases and by comparison with a naive evaluator
// over the raw JSON of random documents and random requests.
package searchtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// Factory makes an empty engine that finds sources with load. It registers
// its own clean-up.
type Factory func(t *testing.T, load search.Loader) search.Engine

// Abilities says in what an engine differs from what the suite asks for. An
// engine of the zero value does everything.
//
// What an engine cannot do it must refuse: problem.Invalid that names the path
// of the clause. Refuses tells the suite beforehand for which requests that is
// so, from the parsed tree (search.Walk visits all clauses of a query): such a
// request must fail in exactly this way, and what would have been its answer
// is not looked at. An engine may neither refuse what Refuses does not tell,
// nor answer what it tells.
type Abilities struct {
	Refuses func(r *search.Request) bool // nil: nothing
	// OwnScores: the scores follow another formula. They must be numbers in
	// descending order; their values are not compared.
	OwnScores bool
	// OwnOrder: documents that are equal by a sort, and those of a scroll, come
	// in an order of the engine's own, always the same; _doc is by it.
	OwnOrder bool
	// LiveScrolls: a scroll shows documents as they are when their page is
	// given, and ends with the index. What does not change meanwhile is given
	// exactly once.
	LiveScrolls bool
}

// subject is an engine under test.
type subject struct {
	make Factory
	Abilities
}

// errRefused is the error of a request that the engine refused, as it said it
// would.
var errRefused = errors.New("refused, as the abilities of the engine say")

// Run runs the suite for an engine that does everything.
func Run(t *testing.T, factory Factory) { RunFor(t, factory, Abilities{}) }

// RunFor runs the suite for an engine of the abilities.
func RunFor(t *testing.T, engine Factory, a Abilities) {
	factory := subject{engine, a}
	t.Run("Lifecycle", func(t *testing.T) { lifecycle(t, factory) })
	t.Run("Cases", func(t *testing.T) { cases(t, factory) })
	t.Run("Pages", func(t *testing.T) { pages(t, factory) })
	t.Run("HighlightTypes", func(t *testing.T) { highlightTypes(t, factory) })
	t.Run("Shapes", func(t *testing.T) { shapes(t, factory) })
	t.Run("Ends", func(t *testing.T) { ends(t, factory) })
	t.Run("Marks", func(t *testing.T) { markCases(t, factory) })
	t.Run("Inner", func(t *testing.T) { innerHits(t, factory) })
	t.Run("Nested", func(t *testing.T) { nestedSemantics(t, factory) })
	t.Run("Refused", func(t *testing.T) { refused(t, factory) })
	t.Run("Types", func(t *testing.T) { visibleTypes(t, factory) })
	t.Run("Sources", func(t *testing.T) { sources(t, factory) })
	t.Run("Scrolls", func(t *testing.T) { scrolls(t, factory) })
	t.Run("Concurrent", func(t *testing.T) { concurrent(t, factory) })
	t.Run("RandomInner", func(t *testing.T) { randomInner(t, factory) })
	t.Run("Seeds", func(t *testing.T) { seeds(t, factory) })
	t.Run("Random", func(t *testing.T) { random(t, factory) })
}

// Store keeps the sources of a test's documents by ref.
type Store struct {
	mu   sync.Mutex
	raws [][]byte
}

// Put keeps a source and gives its ref.
func (s *Store) Put(raw []byte) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raws = append(s.raws, raw)
	return int64(len(s.raws))
}

// Load implements search.Loader.
func (s *Store) Load(_ context.Context, _ string, refs []int64) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([][]byte, len(refs))
	for i, ref := range refs {
		if ref < 1 || int(ref) > len(s.raws) {
			return nil, fmt.Errorf("no ref %d", ref)
		}
		out[i] = s.raws[ref-1]
	}
	return out, nil
}

// bench is an engine with the documents of a test.
type bench struct {
	t     *testing.T
	e     search.Engine
	store Store
	Abilities
}

func newBench(t *testing.T, factory subject) *bench {
	b := &bench{t: t, Abilities: factory.Abilities}
	b.e = factory.make(t, b.store.Load)
	return b
}

// index makes an index of documents given as "type:ouuid" and JSON.
func (b *bench) index(name string, s search.Settings, docs ...[2]string) {
	b.t.Helper()
	if err := b.e.Create(b.t.Context(), name, s); err != nil {
		b.t.Fatal(err)
	}
	b.apply(name, docs...)
}

func (b *bench) apply(name string, docs ...[2]string) {
	b.t.Helper()
	ops := make([]search.Op, len(docs))
	for i, d := range docs {
		ops[i] = b.op(d[0], d[1])
	}
	if err := b.e.Apply(b.t.Context(), name, ops); err != nil {
		b.t.Fatal(err)
	}
	if err := b.e.Refresh(b.t.Context(), name); err != nil {
		b.t.Fatal(err)
	}
}

// op is an upsert, or a deletion when raw is empty.
func (b *bench) op(key, raw string) search.Op {
	k := parseKey(key)
	if raw == "" {
		return search.Op{Key: k}
	}
	return search.Op{Key: k, Doc: &search.Doc{Key: k, Ref: b.store.Put([]byte(raw)), Raw: []byte(raw)}}
}

func parseKey(key string) search.Key {
	for i := range key {
		if key[i] == ':' {
			return search.Key{Type: key[:i], OUUID: key[i+1:]}
		}
	}
	panic("a key is type:ouuid, not " + key)
}

func target(indices ...string) search.Target { return search.Target{Indices: indices} }

// search runs a search object given as JSON. The error is errRefused if the
// engine refuses it and says so.
func (b *bench) search(t search.Target, object string) (*search.Response, error) {
	r, err := dsl.Parse([]byte(object))
	if err != nil {
		return nil, err
	}
	r.Now = now
	out, err := b.e.Search(b.t.Context(), t, r)
	if b.Refuses == nil || !b.Refuses(r) {
		return out, err
	}
	if err == nil {
		return nil, errors.New("the engine said that it refuses this, and answers it")
	}
	if p := problem.From(err); p.Kind != problem.Invalid || len(p.Fields) == 0 || p.Fields[0].Path == "" {
		return nil, fmt.Errorf("the engine said that it refuses this as invalid, but its error is: %w", err)
	}
	return nil, errRefused
}

func (b *bench) mustSearch(t search.Target, object string) *search.Response {
	b.t.Helper()
	out, err := b.search(t, object)
	if errors.Is(err, errRefused) {
		b.t.Skipf("%s is %v", object, err)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", object, err)
	}
	return out
}

// answer gives the answer as a client sees it.
func answer(out *search.Response) map[string]any {
	var m map[string]any
	if err := json.Unmarshal(out.AppendJSON(nil), &m); err != nil {
		panic("the response is no JSON: " + err.Error())
	}
	return m
}
