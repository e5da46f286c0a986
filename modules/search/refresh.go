package search

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

var _ port.Refresher = (*Indexer)(nil)

// Refresh implements port.Refresher: it returns when the changes of the
// documents that were committed before the call can be searched. Callers at the
// same time share batches. Where the index is not in this process, the one that
// holds it is told.
func (ix *Indexer) Refresh(ctx context.Context, keys []port.Key) error {
	if len(keys) == 0 {
		return nil
	}
	if ix.applying.Load() {
		return ix.refreshShared(ctx, keys)
	}
	if !ix.started.Load() {
		_, err := ix.away.ask(ctx, askChanged, question{Keys: keys}, func(string) {})
		return err
	}
	if mark := ix.queue.target(keys...); mark > 0 {
		if err := ix.queue.wait(ctx, mark); err != nil {
			return err
		}
	}
	return ix.wait(ctx, ix.ready)
}

// RefreshAll is Refresh for everything, a change of the configuration included:
// indexes that must be built anew are built now.
func (ix *Indexer) RefreshAll(ctx context.Context) error {
	if ix.unsettled.Load() || ix.server != nil { // another process may have changed the configuration
		if err := ix.sync(ctx); err != nil {
			return err
		}
	}
	if err := ix.drained(ctx); err != nil {
		return err
	}
	if mark := ix.queue.target(); mark > 0 {
		if err := ix.queue.wait(ctx, mark); err != nil {
			return err
		}
	}
	if err := ix.wait(ctx, ix.ready); err != nil {
		return err
	}
	for {
		built, wait := ix.buildState()
		if !wait {
			return nil
		}
		tell(ix.now)
		if err := ix.wait(ctx, built); err != nil {
			return err
		}
	}
}

// buildState tells whether an index waits to be built or is being built, and
// gives what is closed when the next build ends.
func (ix *Indexer) buildState() (built chan struct{}, wait bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	wait = ix.touched != nil
	for _, p := range ix.places {
		wait = wait || p.pending || p.unread
	}
	return ix.built, wait
}

func (ix *Indexer) wait(ctx context.Context, c chan struct{}) error {
	select {
	case <-c:
		return nil
	default:
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// searchable gives Unavailable until every document is in the index.
func (ix *Indexer) searchable() error {
	select {
	case <-ix.ready:
		return nil
	default:
		return ix.notReady()
	}
}

// notReady says that waiting helps.
func (ix *Indexer) notReady() error {
	p := problem.New(problem.Unavailable, "the search index is being built, %d documents so far: try again in a moment", ix.stats.scanned.Load())
	p.RetryAfter = time.Second
	return p.WithCode("index_not_ready")
}

// health is the check `search`: it fails while indexing fails. An index that is
// being built at start is no failure, for everything else works.
func (ix *Indexer) health(ctx context.Context) error {
	if ix.server != nil {
		return ix.healthShared(ctx)
	}
	return ix.stats.failure()
}

// Stats counts what the indexer has done since start.
type Stats struct {
	Batches   int64 // batches of changes applied
	Documents int64 // changes in them
	Scanned   int64 // documents read to build indexes
	Builds    int64 // builds that ended
	Refused   int64 // documents that could not be read
	Pending   int   // changes that wait
}

// Stats gives the counts.
func (ix *Indexer) Stats() Stats {
	s := &ix.stats
	return Stats{
		Batches: s.batches.Load(), Documents: s.documents.Load(), Scanned: s.scanned.Load(),
		Builds: s.builds.Load(), Refused: s.refused.Load(), Pending: ix.queue.pending(),
	}
}

// stats are the counts while they change, and what fails at the moment.
type stats struct {
	batches, documents, scanned, builds, refused atomic.Int64

	done, total atomic.Int64 // documents of the build that runs; total is a guess

	mu      sync.Mutex
	failing map[string]error // by what was tried
}

func (s *stats) failed(what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = map[string]error{}
	}
	s.failing[what] = err
}

func (s *stats) recovered(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failing, what)
}

// forgive forgets what fails; what still does is noted again.
func (s *stats) forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = nil
}

func (s *stats) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, err := range s.failing {
		return err
	}
	return nil
}
