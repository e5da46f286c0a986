package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/work"
)

// settleTime is how long a change of the configuration may take to be seen
// everywhere: the content store compares what it remembers with the database
// once a second.
const settleTime = 1200 * time.Millisecond

// A failed attempt is repeated after firstPause, then after twice as long each
// time, up to longestPause.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
)

// engine is what the indexer needs of a search engine beyond the port.
type engine interface {
	search.Engine
	// Stage makes an empty index to be filled beside the one with the name,
	// and gives the name by which it is known until Swap.
	Stage(ctx context.Context, index string, s search.Settings) (staged string, err error)
	// Swap puts the staged index in the place of the one it was made for, in
	// one step. Searches that run on that finish.
	Swap(ctx context.Context, index string) error
}

// Indexer keeps the indexes in line with the content store. It loads the
// newest state of a document whenever it hears that the document has changed,
// so the order and number of events do not matter. It implements
// port.Refresher.
type Indexer struct {
	engine engine
	keeper keeper // the engine, if it keeps its indexes from one start to the next; else nil
	docs   port.Documents
	types  port.ContentTypes
	names  port.Indexes
	cfg    *Config
	log    *slog.Logger
	queue  *queue
	// scrolls may keep what an index was; sweeping gives it back.
	scrolls *scrolls
	heard   <-chan struct{} // closed when other processes are heard; nil if there cannot be any

	syncing  sync.Mutex // one sync at a time; it guards the next two
	config   *configuration
	findings []string // what was wrong with config

	// mu is held while an engine is written to; it guards what follows.
	mu       sync.Mutex
	settings search.Settings
	places   map[string]*place   // by environment
	managed  map[string][]string // managed aliases → environments
	// touched are the documents that were applied since a build began: what
	// the build reads of them may be older. Nil while nothing is built.
	touched map[port.Key]struct{}
	// built by environment: indexes that a build has filled as it was asked to,
	// which the content store does not know yet.
	unconfirmed map[string]string
	built       chan struct{} // closed when a build ends

	layout    atomic.Pointer[layout] // nil before the first sync
	ready     chan struct{}          // closed when the first build has ended
	unsettled atomic.Bool            // the configuration has changed not long ago
	changed   chan struct{}          // tells the builder of a change
	now       chan struct{}          // asks the builder not to wait
	stats     stats
	doubted   map[port.Key]struct{} // looked for once without a trace; only used by the loop
	running   sync.WaitGroup
	started   atomic.Bool // this process holds the index
	server    server      // the engine if processes share it, else nil
	bus       *event.Bus  // brings what changes to the processes that share server
	leading   atomic.Bool // this process makes and fills the indexes of server
	applying  atomic.Bool // this process applies changes to the indexes of server
	away      *requests   // asks the process that holds it
	cancel    context.CancelFunc
}

func newIndexer(docs port.Documents, types port.ContentTypes, names port.Indexes, cfg *Config, log *slog.Logger) *Indexer {
	ix := &Indexer{
		docs: docs, types: types, names: names, unconfirmed: map[string]string{}, cfg: cfg, log: log, queue: newQueue(), scrolls: newScrolls(cfg), places: map[string]*place{},
		built: make(chan struct{}), ready: make(chan struct{}),
		changed: make(chan struct{}, 1), now: make(chan struct{}, 1), doubted: map[port.Key]struct{}{},
	}
	ix.unsettled.Store(true)
	return ix
}

// start begins to fill the indexes and to follow changes until stop. It
// returns at once.
func (ix *Indexer) start(ctx context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ix.cancel = cancel
	ix.started.Store(true)
	ix.running.Go(func() { ix.follow(ctx) })
	ix.running.Go(func() { ix.buildLoop(ctx) })
	ix.running.Go(func() { work.Every(ctx, sweepEvery, ix.scrolls.sweep) })
	tell(ix.now)
	ix.queue.signal()
}

// stop ends what start began, and saves the indexes.
func (ix *Indexer) stop() {
	ix.started.Store(false)
	ix.applying.Store(false)
	if ix.cancel != nil {
		ix.cancel()
		ix.running.Wait()
		if ix.keeper != nil {
			ix.keeper.Close()
		}
	}
}

// tell puts a signal into a channel that holds one.
func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// configChanged notes that the configuration is another one. It is quick.
func (ix *Indexer) configChanged() {
	ix.unsettled.Store(true)
	tell(ix.changed)
	ix.queue.signal()
}

// follow applies what is marked until ctx ends.
func (ix *Indexer) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ix.queue.wake:
		}
		for first := true; ; first = false {
			if ix.unsettled.Load() && (first || ix.queue.pending() > 0) {
				ix.insist(ctx, "the search settings could not be read", ix.sync)
			}
			keys := ix.queue.take(ix.cfg.Batch)
			if len(keys) == 0 {
				break
			}
			ix.insist(ctx, "documents could not be indexed", func(ctx context.Context) error { return ix.apply(ctx, keys) })
			if ctx.Err() != nil {
				return
			}
			ix.queue.done()
		}
	}
}

// insist runs fn until it succeeds or ctx ends.
func (ix *Indexer) insist(ctx context.Context, what string, fn func(context.Context) error) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		err := fn(ctx)
		if err == nil {
			ix.stats.recovered(what)
			return
		}
		if ctx.Err() != nil {
			return
		}
		ix.stats.failed(what, err)
		ix.log.WarnContext(ctx, what+"; trying again", "pause", pause, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// apply brings documents to their newest state in every index.
func (ix *Indexer) apply(ctx context.Context, keys []port.Key) error {
	found := map[string]map[port.Key]port.Published{} // by environment
	seen := make(map[port.Key]struct{}, len(keys))
	err := ix.docs.States(ctx, keys, func(p port.Published) error {
		seen[p.Key] = struct{}{}
		if found[p.Environment] == nil {
			found[p.Environment] = make(map[port.Key]port.Published, len(keys))
		}
		found[p.Environment][p.Key] = p
		return nil
	})
	if err != nil {
		return fmt.Errorf("load documents: %w", err)
	}
	ix.doubt(keys, seen)
	if err := ix.learn(ctx, found); err != nil {
		return err
	}
	wrote, err := ix.spread(ctx, keys, found)
	if err != nil || ix.server == nil {
		return err
	}
	again, err := ix.changedSince(ctx, keys, found, wrote)
	if err != nil || len(again) == 0 {
		return err
	}
	return ix.apply(ctx, again)
}

// spread writes the states of documents to every index and gives the indexes by
// environment.
func (ix *Indexer) spread(ctx context.Context, keys []port.Key, found map[string]map[port.Key]port.Published) (map[string][]string, error) {
	ops := make([]search.Op, len(keys))
	wrote := map[string][]string{}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for name, p := range ix.places {
		states := found[name]
		for i, k := range keys {
			ops[i] = operation(k, states[k])
		}
		targets, err := ix.targets(ctx, p)
		if err != nil {
			return nil, err
		}
		wrote[name] = targets
		for _, index := range targets {
			if err := ix.write(ctx, index, ops); err != nil {
				return nil, err
			}
		}
	}
	if ix.touched != nil {
		for _, k := range keys {
			ix.touched[k] = struct{}{}
		}
	}
	ix.stats.batches.Add(1)
	ix.stats.documents.Add(int64(len(keys)))
	return wrote, nil
}

// operation makes the change that brings an index to the state of a document;
// one that is not published is deleted.
func operation(k port.Key, p port.Published) search.Op {
	op := search.Op{Key: search.Key(k)}
	if p.Revision != 0 && p.Raw != nil {
		op.Doc = &search.Doc{Key: op.Key, Ref: p.Revision, Stamp: p.At, Raw: p.Raw}
	}
	return op
}

// write applies operations. Documents that the engine cannot read are logged
// and no reason to try again.
func (ix *Indexer) write(ctx context.Context, index string, ops []search.Op) error {
	err := ix.engine.Apply(ctx, index, ops)
	var p *problem.Problem
	if errors.As(err, &p) && p.Kind == problem.Invalid && len(p.Fields) > 0 {
		ix.stats.refused.Add(int64(len(p.Fields)))
		ix.log.WarnContext(ctx, "documents cannot be searched", "index", index, "count", len(p.Fields), "first", p.Fields[0].Path, "reason", p.Fields[0].Message)
		return nil
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", index, err)
	}
	return nil
}

// sources is how the engine finds the documents of its hits.
func (ix *Indexer) sources(ctx context.Context, index string, revisions []int64) ([][]byte, error) {
	return ix.docs.Sources(ctx, ix.layout.Load().environments[index], revisions)
}

// doubt looks again, once and later, for documents without any state: their
// content type may be so new that the content store does not know it yet.
func (ix *Indexer) doubt(keys []port.Key, seen map[port.Key]struct{}) {
	if len(seen) == len(keys) {
		return
	}
	var again []port.Key
	for _, k := range keys {
		if _, ok := seen[k]; ok {
			continue
		}
		if _, twice := ix.doubted[k]; twice {
			delete(ix.doubted, k)
			continue
		}
		ix.doubted[k] = struct{}{}
		again = append(again, k)
	}
	if len(again) > 0 {
		time.AfterFunc(settleTime, func() { ix.queue.mark(again...) })
	}
}
