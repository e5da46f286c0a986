package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/typesense"
	"github.com/quoin-cms/quoin/core/work"
)

// catalogAge is after how long every process has seen what one has changed on
// the search server.
const catalogAge = 1500 * time.Millisecond

// serverBatch is how many documents a build sends to a server at a time.
const serverBatch = 1000

// server is an engine that several processes share and that outlives them.
// Every process applies changes of documents; one of them, that holds a lock,
// makes and fills indexes.
type server interface {
	Holds(ctx context.Context, index string, s search.Settings) (typesense.Holdings, error)
	Filled(ctx context.Context, index string, s search.Settings) error
	Staged(ctx context.Context, index string) (string, error)
	Documents(ctx context.Context, index string, each func(key search.Key, ref int64) error) error
	Sweep(ctx context.Context)
	Ping(ctx context.Context) error
}

// buildBatch is how many documents a build adds at a time. A request to a server
// costs more than what is in it.
func (ix *Indexer) buildBatch() int {
	if ix.server != nil {
		return serverBatch
	}
	return buildBatch
}

// adopt makes an index unless it is there already.
func (ix *Indexer) adopt(ctx context.Context, index string) error {
	h, err := ix.server.Holds(ctx, index, ix.settings)
	if err != nil {
		return err
	}
	if !h.There {
		return ix.engine.Create(ctx, index, ix.settings)
	}
	if h.Current {
		return nil
	}
	return ix.engine.Configure(ctx, index, ix.settings)
}

// settle says of an index that was adopted what is to be done with it. The
// caller holds mu.
func (ix *Indexer) settle(ctx context.Context, p *place) error {
	if ix.server == nil {
		return nil
	}
	h, err := ix.server.Holds(ctx, p.index, ix.settings)
	if err != nil {
		return err
	}
	p.filled, p.unread = h.Whole, h.Whole
	p.pending = !h.Current || p.env.Reindex || p.wanted() != p.index
	return nil
}

// fresh makes an empty index to be filled. One of the name can only be what a
// process that died was filling.
func (ix *Indexer) fresh(ctx context.Context, index string) error {
	if ix.server != nil && !ix.answers(index) {
		if err := ix.engine.Drop(ctx, index); err != nil && !problem.Is(err, problem.NotFound) {
			return err
		}
	}
	return ix.engine.Create(ctx, index, ix.settings)
}

// answers tells whether searches of some environment may use an index. The
// caller holds mu.
func (ix *Indexer) answers(index string) bool {
	for _, p := range ix.places {
		if index == p.index || slices.Contains(p.old, index) {
			return true
		}
	}
	return false
}

// whole notes on the server that an index holds every document. If that fails
// the index is filled again after the next start.
func (ix *Indexer) whole(ctx context.Context, index string, s search.Settings) {
	if ix.server == nil {
		return
	}
	if err := ix.server.Filled(ctx, index, s); err != nil {
		ix.log.WarnContext(ctx, "that an index was filled could not be noted", "index", index, "error", err)
	}
}

// openFilled lets searches in when every environment has an index that was
// filled at some time, also while new ones are built. The caller holds mu.
func (ix *Indexer) openFilled(environments int) {
	if ix.server == nil || len(ix.places) < environments {
		return
	}
	for _, p := range ix.places {
		if !p.filled {
			return
		}
	}
	select {
	case <-ix.ready:
	default:
		close(ix.ready)
	}
}

// learn looks again at the environments when documents are in one that this
// process has not heard of.
func (ix *Indexer) learn(ctx context.Context, found map[string]map[port.Key]port.Published) error {
	if ix.server == nil {
		return nil
	}
	ix.mu.Lock()
	unknown := false
	for name := range found {
		unknown = unknown || ix.places[name] == nil
	}
	ix.mu.Unlock()
	if !unknown {
		return nil
	}
	return ix.sync(ctx)
}

// targets gives the indexes that get the changes of documents of an environment:
// also those that another process is building. The caller holds mu.
func (ix *Indexer) targets(ctx context.Context, p *place) ([]string, error) {
	names := p.names()
	if ix.server == nil {
		return names, nil
	}
	if p.env.Next != "" {
		names = append(names, p.env.Next)
	}
	var out []string
	for _, name := range names {
		staged, err := ix.server.Staged(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, index := range []string{name, staged} {
			if index == "" || slices.Contains(out, index) {
				continue
			}
			h, err := ix.server.Holds(ctx, index, search.Settings{})
			if err != nil {
				return nil, err
			}
			if h.There {
				out = append(out, index)
			}
		}
	}
	return out, nil
}

// changedSince gives those documents whose state is another one than that which
// was applied; all of them if an index has come up in the meantime. Another
// process may have applied a newer state just before, which is gone then: so
// whoever is last must look.
func (ix *Indexer) changedSince(ctx context.Context, keys []port.Key, applied map[string]map[port.Key]port.Published, wrote map[string][]string) ([]port.Key, error) {
	if err := ix.keepUp(ctx); err != nil {
		return nil, err
	}
	ix.mu.Lock()
	for name, p := range ix.places {
		now, err := ix.targets(ctx, p)
		if err != nil || !slices.Equal(now, wrote[name]) {
			ix.mu.Unlock()
			return keys, err
		}
	}
	ix.mu.Unlock()
	seen := map[string]map[port.Key]int64{}
	err := ix.docs.States(ctx, keys, func(p port.Published) error {
		if seen[p.Environment] == nil {
			seen[p.Environment] = map[port.Key]int64{}
		}
		seen[p.Environment][p.Key] = p.Revision
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load documents: %w", err)
	}
	var again []port.Key
	for _, k := range keys {
		for name := range wrote {
			if applied[name][k].Revision != seen[name][k] {
				again = append(again, k)
				break
			}
		}
	}
	return again, nil
}

// keepUp looks again at the environments when another process has asked for a
// new index or put one into force. It asks the database: an index that is asked
// for after that is filled from a store with the changes that were just applied.
func (ix *Indexer) keepUp(ctx context.Context) error {
	environments, err := ix.names.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the environments: %w", err)
	}
	ix.mu.Lock()
	behind := false
	for _, env := range environments {
		p := ix.places[env.Name]
		behind = behind || p == nil || p.env.Index != env.Index || p.env.Next != env.Next
	}
	ix.mu.Unlock()
	if !behind {
		return nil
	}
	return ix.sync(ctx)
}

// recheck compares what a scan has put into new indexes with the store, once all
// processes know of these and write to them: what others have changed before is
// applied again.
func (ix *Indexer) recheck(ctx context.Context, filled map[string]*place, scanned map[string]map[port.Key]int64, begin time.Time) error {
	if work.Pause(ctx, catalogAge-time.Since(begin)); ctx.Err() != nil {
		return ctx.Err()
	}
	stale := map[port.Key]struct{}{}
	err := ix.docs.Heads(ctx, func(p port.Published) error {
		if filled[p.Environment] == nil {
			return nil
		}
		if ref, ok := scanned[p.Environment][p.Key]; !ok || ref != p.Revision {
			stale[p.Key] = struct{}{}
		}
		delete(scanned[p.Environment], p.Key)
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare new indexes with the documents: %w", err)
	}
	for _, left := range scanned {
		for k := range left {
			stale[k] = struct{}{}
		}
	}
	return ix.again(ctx, stale)
}

// again applies documents as if they had changed, and waits for it.
func (ix *Indexer) again(ctx context.Context, keys map[port.Key]struct{}) error {
	if len(keys) == 0 {
		return nil
	}
	list := slices.Collect(maps.Keys(keys))
	ix.queue.mark(list...)
	if mark := ix.queue.target(list...); mark > 0 {
		return ix.queue.wait(ctx, mark)
	}
	return nil
}

// catchUpServer compares the indexes that were found on the server with the
// store. Changes wait for processes that apply them, so there should be no
// difference; after a restore of either side, or a time with another engine,
// there is.
func (ix *Indexer) catchUpServer(ctx context.Context) error {
	ix.mu.Lock()
	work := map[string]string{}
	for name, p := range ix.places {
		if p.unread && !p.pending {
			work[name] = p.index
		}
	}
	ix.mu.Unlock()
	if len(work) == 0 {
		return nil
	}
	begin := time.Now()
	have := map[string]map[port.Key]int64{}
	for name, index := range work {
		have[name] = map[port.Key]int64{}
		err := ix.server.Documents(ctx, index, func(k search.Key, ref int64) error {
			have[name][port.Key(k)] = ref
			return nil
		})
		if err != nil {
			return fmt.Errorf("read index %s: %w", index, err)
		}
	}
	n := 0
	for _, list := range have {
		n += len(list)
	}
	stale := map[port.Key]struct{}{}
	err := ix.docs.Heads(ctx, func(p port.Published) error {
		list := have[p.Environment]
		if list == nil {
			return nil
		}
		if list[p.Key] != p.Revision {
			stale[p.Key] = struct{}{}
		}
		delete(list, p.Key)
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare the indexes with the documents: %w", err)
	}
	for _, list := range have {
		for k := range list {
			stale[k] = struct{}{}
		}
	}
	if err := ix.again(ctx, stale); err != nil {
		return err
	}
	ix.mu.Lock()
	for name := range work {
		if p := ix.places[name]; p != nil {
			p.unread = false
		}
	}
	ix.mu.Unlock()
	ix.log.InfoContext(ctx, "search indexes found on the server", "indexes", len(work), "documents", n, "changed", len(stale), "ms", time.Since(begin).Milliseconds())
	return nil
}
