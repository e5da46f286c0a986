package user

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// entry is what is known about a token. It never changes but for the note of
// its last use.
type entry struct {
	*grant               // nil: there is no such token
	checked int64        // when the database was asked, microseconds
	used    atomic.Int64 // last use that was noted, microseconds
}

const shards = 16

// cache is a bounded map of entries by the hash of their token.
type cache struct {
	limit int // entries per shard
	shard [shards]struct {
		sync.RWMutex
		entries map[[32]byte]*entry
	}
}

func newCache(size int) *cache {
	c := &cache{limit: max(1, (size+shards-1)/shards)}
	for i := range c.shard {
		c.shard[i].entries = map[[32]byte]*entry{}
	}
	return c
}

func (c *cache) get(hash [32]byte) *entry {
	s := &c.shard[hash[0]%shards]
	s.RLock()
	e := s.entries[hash]
	s.RUnlock()
	return e
}

// put stores an entry if valid, asked while nothing can be dropped, says yes.
// A full shard loses the one of a few entries that was checked longest ago.
func (c *cache) put(hash [32]byte, e *entry, valid func() bool) {
	s := &c.shard[hash[0]%shards]
	s.Lock()
	defer s.Unlock()
	if !valid() {
		return
	}
	if _, there := s.entries[hash]; !there && len(s.entries) >= c.limit {
		var victim [32]byte
		oldest, seen := int64(0), 0
		for h, old := range s.entries {
			if seen == 0 || old.checked < oldest {
				victim, oldest = h, old.checked
			}
			if seen++; seen == 8 {
				break
			}
		}
		delete(s.entries, victim)
	}
	s.entries[hash] = e
}

func (c *cache) drop(which func(*grant) bool) {
	for i := range c.shard {
		s := &c.shard[i]
		s.Lock()
		for h, e := range s.entries {
			if which(e.grant) {
				delete(s.entries, h)
			}
		}
		s.Unlock()
	}
}

func (c *cache) len() (n int) {
	for i := range c.shard {
		c.shard[i].RLock()
		n += len(c.shard[i].entries)
		c.shard[i].RUnlock()
	}
	return n
}

// flights makes those who ask about the same token at the same time share one
// query. A new era begins with every change: who asks then must not share a
// query that began before.
type flights struct {
	era atomic.Uint64
	mu  sync.Mutex
	now map[[32]byte]*flight
}

type flight struct {
	done  chan struct{}
	entry *entry
	err   error
}

func (f *flights) newEra() {
	f.mu.Lock()
	f.era.Add(1)
	f.now = nil
	f.mu.Unlock()
}

func (f *flights) do(ctx context.Context, hash [32]byte, load func(era uint64) (*entry, error)) (*entry, error) {
	f.mu.Lock()
	if shared := f.now[hash]; shared != nil {
		f.mu.Unlock()
		select {
		case <-shared.done:
			return shared.entry, shared.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if f.now == nil {
		f.now = map[[32]byte]*flight{}
	}
	mine := &flight{done: make(chan struct{}), err: errPanicked}
	f.now[hash] = mine
	era := f.era.Load()
	f.mu.Unlock()
	defer func() { // also when load panics, or the others would wait for ever
		f.mu.Lock()
		if f.now[hash] == mine {
			delete(f.now, hash)
		}
		f.mu.Unlock()
		close(mine.done)
	}()
	mine.entry, mine.err = load(era)
	return mine.entry, mine.err
}

var errPanicked = errors.New("user: checking the token panicked")
