package search

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/search"
)

// begun counts what a build has before it, for those who watch. The caller
// holds mu.
func (ix *Indexer) begun(ctx context.Context, work map[string]*place) {
	total := int64(0)
	for _, p := range work {
		if n, err := ix.engine.Count(ctx, search.Target{Indices: []string{p.index}}, &search.Request{}); err == nil {
			total += n
		}
	}
	ix.stats.done.Store(0)
	ix.stats.total.Store(total)
}

// retire lets an index that a rebuild has replaced answer under its own name
// for a while: a client may have asked for the name just before. The caller
// holds mu.
func (ix *Indexer) retire(ctx context.Context, p *place, old string) {
	before := p.old
	p.old = nil
	if p.index == p.asked.Next && old != p.env.Alias {
		p.old = []string{old}
		time.AfterFunc(ix.cfg.KeepReplaced, func() { ix.forget(ctx, p, old) })
	} else {
		before = append(before, old)
	}
	ix.publish(ctx) // before they are gone
	for _, index := range before {
		ix.drop(ctx, index)
	}
	if len(before) > 0 {
		ix.publish(ctx)
	}
}

// forget removes an index that was replaced, if it is still there.
func (ix *Indexer) forget(ctx context.Context, p *place, old string) {
	if ctx.Err() != nil { // the process ends
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if i := slices.Index(p.old, old); i >= 0 {
		p.old = slices.Delete(slices.Clone(p.old), i, i+1)
		ix.publish(ctx)
		ix.drop(ctx, old)
		ix.sweepFiles(ctx)
	}
}

// fulfilled notes which wishes of the content store a build has met. The caller
// holds mu.
func (ix *Indexer) fulfilled(p *place) {
	switch {
	case p.pending: // it has failed
		return
	case p.asked.Reindex, p.asked.Next != "" && p.asked.Next == p.index:
		ix.unconfirmed[p.env.Name] = p.index
	}
	if p.wanted() != p.index { // it was asked for while this one was built
		p.pending = true
		tell(ix.now)
	}
}

// confirm tells the content store what was built. Searches see it already, so
// whoever hears of a new index finds it.
func (ix *Indexer) confirm(ctx context.Context) error {
	ix.mu.Lock()
	built := maps.Clone(ix.unconfirmed)
	ix.mu.Unlock()
	for environment, index := range built {
		if err := ix.names.Built(ctx, environment, index); err != nil {
			return err
		}
		ix.mu.Lock()
		delete(ix.unconfirmed, environment)
		ix.mu.Unlock()
	}
	return nil
}
