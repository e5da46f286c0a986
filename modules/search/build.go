package search

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/search"
)

// buildBatch is how many documents a build adds at a time; changes of
// documents wait for so many at most.
const buildBatch = 128

// buildLoop fills new indexes and builds anew those whose configuration has
// changed, once it has been quiet for a while.
func (ix *Indexer) buildLoop(ctx context.Context) {
	if ix.heard != nil { // what others write while the store is read must not be missed
		select {
		case <-ix.heard:
		case <-ctx.Done():
			return
		}
	}
	quiet := time.NewTimer(ix.cfg.RebuildAfter)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ix.changed:
			quiet.Reset(ix.cfg.RebuildAfter)
			continue
		case <-quiet.C:
			ix.unsettled.Store(false)
			ix.insist(ctx, "the search settings could not be read", ix.sync)
		case <-ix.now:
			ix.insist(ctx, "the search settings could not be read", ix.sync)
		}
		ix.insist(ctx, "the search index could not be built", ix.build)
	}
}

// build fills the places that wait for it, all in one pass over the store.
func (ix *Indexer) build(ctx context.Context) error {
	begin := time.Now()
	if err := ix.catchUp(ctx); err != nil {
		return err
	}
	if ix.server != nil {
		if err := ix.catchUpServer(ctx); err != nil {
			return err
		}
	}
	work, err := ix.beginBuild(ctx)
	n := int64(0)
	if len(work) > 0 && err == nil {
		n, err = ix.scan(ctx, work)
	}
	if err := ix.endBuild(ctx, work, err); err != nil {
		return err
	}
	if err := ix.confirm(ctx); err != nil {
		return err
	}
	if len(work) > 0 {
		ix.save(ctx, work)
		ix.scrolls.sweep()
		debug.FreeOSMemory() // what the building left behind would stay for minutes
		ix.log.InfoContext(ctx, "search indexes built", "indexes", len(work), "documents", n, "ms", time.Since(begin).Milliseconds())
	}
	return nil
}

// beginBuild prepares what scan will fill: the index itself where it is new, a
// second one beside it otherwise. What it has prepared before an error is for
// endBuild to take back.
func (ix *Indexer) beginBuild(ctx context.Context) (map[string]*place, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	work := map[string]*place{}
	for name, p := range ix.places {
		if !p.pending {
			continue
		}
		var err error
		next := ""
		target := p.env.Index
		if p.filled { // an empty index has to answer first
			target = p.wanted()
		}
		p.asked = p.env
		p.moving = p.index != target // the environment has an index of another name now
		switch {
		case p.moving:
			next = target
			err = ix.fresh(ctx, next)
		case p.filled:
			next, err = ix.engine.Stage(ctx, p.index, ix.settings)
		}
		if err != nil {
			return work, fmt.Errorf("create index %s: %w", p.env.Index, err)
		}
		p.next = next
		p.pending, p.made = false, ix.settings
		work[name] = p
	}
	if len(work) > 0 {
		ix.begun(ctx, work)
		ix.touched = map[port.Key]struct{}{}
		ix.publish(ctx)
	}
	return work, nil
}

// scan reads the whole store into the indexes that are being built.
func (ix *Indexer) scan(ctx context.Context, work map[string]*place) (n int64, err error) {
	begin := time.Now()
	batches := map[string][]port.Published{}
	scanned := map[string]map[port.Key]int64{} // what went to a server, by environment
	if ix.server != nil {
		for name := range work {
			scanned[name] = map[port.Key]int64{}
		}
	}
	err = ix.docs.Scan(ctx, func(p port.Published) error {
		if work[p.Environment] == nil {
			return nil
		}
		n++
		if ix.server != nil {
			scanned[p.Environment][p.Key] = p.Revision
		}
		batches[p.Environment] = append(batches[p.Environment], p)
		if len(batches[p.Environment]) < ix.buildBatch() {
			return nil
		}
		err := ix.add(ctx, work[p.Environment], batches[p.Environment])
		clear(batches[p.Environment])
		batches[p.Environment] = batches[p.Environment][:0]
		return err
	})
	for name, batch := range batches {
		if err == nil {
			err = ix.add(ctx, work[name], batch)
		}
	}
	if err == nil && ix.server != nil {
		err = ix.recheck(ctx, work, scanned, begin)
	}
	return n, err
}

// add puts what a scan has read into an index, without the documents that have
// been applied since: theirs is newer.
func (ix *Indexer) add(ctx context.Context, to *place, batch []port.Published) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.places[to.env.Name] != to { // the environment was removed
		return nil
	}
	ops := make([]search.Op, 0, len(batch))
	for _, p := range batch {
		if _, newer := ix.touched[p.Key]; !newer {
			ops = append(ops, operation(p.Key, p))
		}
	}
	index := to.index
	if to.next != "" {
		index = to.next
	}
	ix.stats.scanned.Add(int64(len(batch)))
	ix.stats.done.Add(int64(len(batch)))
	return ix.write(ctx, index, ops)
}

// endBuild puts what was built into its place, or takes a failed build back.
func (ix *Indexer) endBuild(ctx context.Context, work map[string]*place, failed error) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for name, p := range work {
		if ix.places[name] != p {
			continue
		}
		next := p.next
		p.next = ""
		switch {
		case failed != nil:
			p.pending = true
			if next != "" {
				ix.drop(ctx, next)
			}
		case next == "":
			p.filled = true
			ix.whole(ctx, p.index, p.made)
		case p.moving:
			ix.whole(ctx, next, p.made)
			old := p.index
			p.index, p.filled, p.moving = next, true, false
			ix.retire(ctx, p, old)
		default:
			if err := ix.engine.Swap(ctx, p.index); err != nil {
				p.pending, failed = true, fmt.Errorf("swap index %s: %w", p.index, err)
			}
		}
		ix.fulfilled(p)
	}
	ix.touched = nil
	ix.publish(ctx)
	if failed != nil {
		return failed
	}
	if len(work) > 0 {
		ix.stats.builds.Add(1) // before those who wait for the build look
	}
	select {
	case <-ix.ready:
	default:
		close(ix.ready)
	}
	close(ix.built)
	ix.built = make(chan struct{})
	return nil
}
