package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/work"
)

const (
	// leaderEvery is how often a process tries to become the one that builds.
	leaderEvery = time.Second
	// lookEvery is how often that process compares the configuration with what
	// it has made of it.
	lookEvery = 3 * time.Second
	// sweepServer is how often what was replaced on the server is looked for.
	sweepServer = 10 * time.Second
	// drainEvery is how often somebody who waits for deliveries looks at them.
	drainEvery = 20 * time.Millisecond
)

// leaderLock is the name of the lock that the process holds which makes and
// fills indexes on a search server.
const leaderLock = "search-indexes"

// serverQueue is the name under which deliveries wait for the processes that
// share a search server.
const serverQueue = "search-server"

// shared says how processes that share a search server follow the store: each
// change has a delivery that one of them works, and that waits when there is
// none.
func shared(ix *Indexer) []event.Subscription {
	return []event.Subscription{{Name: serverQueue, Patterns: patterns(), Batch: 256, Handle: ix.work}}
}

// work applies what events are about; they count as delivered when it can be
// searched.
func (ix *Indexer) work(ctx context.Context, events []event.Event) error {
	ix.deliver(events)
	if mark := ix.queue.target(); mark > 0 {
		return ix.queue.wait(ctx, mark)
	}
	return nil
}

// deliverConfig is deliver for what a process with a search server hears of
// itself: documents come as deliveries.
func (ix *Indexer) deliverConfig(events []event.Event) {
	kept := events[:0:0]
	for _, e := range events {
		if !isContent(e.Type) {
			kept = append(kept, e)
		}
	}
	ix.deliver(kept)
}

// startShared begins to apply changes, and to try to become the process that
// makes and fills indexes, until stop. It returns at once.
func (ix *Indexer) startShared(ctx context.Context, d *db.DB, perform performer) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ix.cancel = cancel
	ix.applying.Store(true)
	ix.running.Go(func() { ix.follow(ctx) })
	ix.running.Go(func() { work.Every(ctx, sweepEvery, ix.scrolls.sweep) })
	ix.running.Go(func() { ix.watch(ctx) })
	ix.running.Go(func() { ix.lead(ctx, d, perform) })
	ix.queue.signal()
}

// lead waits for the lock, watching what its holder does, and then makes and
// fills indexes until ctx ends.
func (ix *Indexer) lead(ctx context.Context, d *db.DB, perform performer) {
	for ctx.Err() == nil {
		lost, release, err := d.Hold(ctx, leaderLock)
		if err == nil {
			ix.leadNow(ctx, lost, perform)
			release()
			continue
		}
		if !errors.Is(err, db.ErrLocked) && ctx.Err() == nil {
			ix.log.WarnContext(ctx, "the lock of the search indexes could not be asked for; trying again", "error", err)
		}
		ix.insist(ctx, "the search indexes could not be looked up", ix.sync)
		work.Pause(ctx, leaderEvery)
	}
}

// leadNow makes and fills indexes until ctx ends or the lock is lost: whoever
// has it then begins again with what it finds on the server.
func (ix *Indexer) leadNow(ctx context.Context, lost <-chan struct{}, perform performer) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	ix.turn(true)
	ix.started.Store(true)
	var beside sync.WaitGroup
	beside.Go(func() { ix.away.serve(ctx, perform) })
	beside.Go(func() { ix.look(ctx) })
	beside.Go(func() {
		select {
		case <-lost:
			ix.started.Store(false)
			ix.log.WarnContext(ctx, "the lock of the search indexes is lost, as when the database is started anew; whichever process gets it goes on")
			end()
		case <-ctx.Done():
		}
	})
	tell(ix.now)
	ix.buildLoop(ctx)
	beside.Wait()
	ix.turn(false)
}

// turn makes this process the one that makes indexes, or one that watches. What
// there is to do is found out anew.
func (ix *Indexer) turn(leading bool) {
	ix.syncing.Lock()
	defer ix.syncing.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.leading.Store(leading)
	ix.config, ix.places = nil, map[string]*place{}
	ix.touched, ix.unconfirmed = nil, map[string]string{}
	ix.stats.forgive() // another process has to try what has failed
	close(ix.built)    // who waits for a build looks again
	ix.built = make(chan struct{})
}

// look sees to what the process that holds the lock does not hear of: content
// types and analyzers that others have changed, and what is left to be dropped.
func (ix *Indexer) look(ctx context.Context) {
	var waits time.Time // since when a build is waited for
	for swept := time.Now(); ; {
		if work.Pause(ctx, lookEvery); ctx.Err() != nil {
			return
		}
		ix.insist(ctx, "the search settings could not be read", ix.sync)
		switch _, wait := ix.buildState(); {
		case !wait:
			waits = time.Time{}
		case waits.IsZero():
			waits = time.Now()
		case time.Since(waits) > ix.cfg.RebuildAfter:
			tell(ix.now)
		}
		if time.Since(swept) > sweepServer {
			swept = time.Now()
			ix.server.Sweep(ctx)
		}
	}
}

// observe learns which indexes the process that makes them has made. The caller
// has locked syncing and mu.
func (ix *Indexer) observe(ctx context.Context, environments []port.Environment) error {
	places := map[string]*place{}
	for _, env := range environments {
		h, err := ix.server.Holds(ctx, env.Index, search.Settings{})
		if err != nil {
			return err
		}
		if h.There {
			places[env.Name] = &place{env: env, index: env.Index, filled: h.Whole}
		}
	}
	ix.places = places
	ix.openFilled(len(environments))
	return nil
}

// refreshShared applies documents at once, in this process: what it has sent is
// found when it returns.
func (ix *Indexer) refreshShared(ctx context.Context, keys []port.Key) error {
	ix.queue.mark(keys...)
	if mark := ix.queue.target(keys...); mark > 0 {
		if err := ix.queue.wait(ctx, mark); err != nil {
			return err
		}
	}
	return ix.wait(ctx, ix.ready)
}

// drained returns when the deliveries that waited at the call have been worked,
// by whichever process.
func (ix *Indexer) drained(ctx context.Context) error {
	if !ix.applying.Load() {
		return nil
	}
	begin := time.Now() // where writes never end, those from now on may wait
	for {
		oldest, err := ix.bus.Oldest(ctx, serverQueue)
		if err != nil || oldest.IsZero() || oldest.After(begin) {
			return err
		}
		if work.Pause(ctx, drainEvery); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// healthShared fails while the server is not there or does not write, and until
// this process knows which indexes are there: others can answer meanwhile.
func (ix *Indexer) healthShared(ctx context.Context) error {
	if ix.layout.Load() == nil {
		return errors.New("the indexes on the search server have not been looked up yet")
	}
	if err := ix.server.Ping(ctx); err != nil {
		if p := problem.From(err); p.Cause != nil {
			return p.Cause
		}
		return err
	}
	return ix.stats.failure()
}
