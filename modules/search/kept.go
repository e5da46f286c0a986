package search

import (
	"context"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

// keeper is an engine that finds its indexes again after a start, as they were
// some time before it.
type keeper interface {
	Clean() error
	Restore(ctx context.Context, index string, s search.Settings) (restored bool, reason string, err error)
	Compare(index string) (*embedded.Comparison, error)
	Save(ctx context.Context, index string) error
	Sweep() error
	Close()
}

// clean takes away what a crash has left in the folder of the engine.
func (ix *Indexer) clean(ctx context.Context) {
	if ix.keeper == nil {
		return
	}
	if err := ix.keeper.Clean(); err != nil {
		ix.log.WarnContext(ctx, "files that a crash has left stay", "error", err)
	}
}

// create makes an index and tells whether it has found what it had before.
func (ix *Indexer) create(ctx context.Context, index string) (restored bool, err error) {
	if ix.server != nil {
		return false, ix.adopt(ctx, index)
	}
	if ix.keeper == nil {
		return false, ix.engine.Create(ctx, index, ix.settings)
	}
	restored, reason, err := ix.keeper.Restore(ctx, index, ix.settings)
	if reason != "" {
		ix.log.WarnContext(ctx, "a search index is built anew", "index", index, "reason", reason)
	}
	return restored, err
}

// catchUp brings the indexes that were restored to the state of the store. It
// compares every document, which is quick, instead of reading what has changed
// since: so nothing can be missed, whatever happened to the file or the
// database in the meantime. What differs takes the way of any change.
func (ix *Indexer) catchUp(ctx context.Context) error {
	begin := time.Now()
	work, err := ix.beginCatchUp()
	if len(work) == 0 || err != nil {
		return err
	}
	var keys []port.Key
	n := 0
	err = ix.docs.Heads(ctx, func(p port.Published) error {
		if c := work[p.Environment]; c != nil {
			n++
			if !c.Same(search.Key(p.Key), p.Revision, p.At) {
				keys = append(keys, p.Key)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare the index with the documents: %w", err)
	}
	for _, c := range work {
		err := c.Rest(func(k search.Key) error {
			keys = append(keys, port.Key(k))
			return nil
		})
		if err != nil {
			return err
		}
	}
	ix.queue.mark(keys...)
	if mark := ix.queue.target(keys...); mark > 0 && len(keys) > 0 {
		if err := ix.queue.wait(ctx, mark); err != nil {
			return err
		}
	}
	ix.endCatchUp(work)
	ix.log.InfoContext(ctx, "search indexes restored", "indexes", len(work), "documents", n, "changed", len(keys), "ms", time.Since(begin).Milliseconds())
	return nil
}

func (ix *Indexer) beginCatchUp() (map[string]*embedded.Comparison, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	work := map[string]*embedded.Comparison{}
	for name, p := range ix.places {
		if !p.restored {
			continue
		}
		c, err := ix.keeper.Compare(p.index)
		if err != nil {
			return nil, err
		}
		work[name] = c
	}
	return work, nil
}

func (ix *Indexer) endCatchUp(work map[string]*embedded.Comparison) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for name := range work {
		if p := ix.places[name]; p != nil && p.restored {
			p.restored, p.filled = false, true
		}
	}
}

// save writes indexes that were built to their files, and deletes the files of
// those that are gone.
func (ix *Indexer) save(ctx context.Context, work map[string]*place) {
	if ix.keeper == nil {
		return
	}
	for _, p := range work {
		ix.mu.Lock()
		index := p.index
		ix.mu.Unlock()
		if err := ix.keeper.Save(ctx, index); err != nil {
			ix.log.WarnContext(ctx, "a search index could not be saved", "index", index, "error", err)
		}
	}
	ix.sweepFiles(ctx)
}

// sweepFiles deletes the files of indexes that are gone.
func (ix *Indexer) sweepFiles(ctx context.Context) {
	if ix.keeper == nil {
		return
	}
	if err := ix.keeper.Sweep(); err != nil {
		ix.log.WarnContext(ctx, "files of old search indexes stay", "error", err)
	}
}
