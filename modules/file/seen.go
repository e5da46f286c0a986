package file

import (
	"context"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

const (
	// flushEvery is how late the counters of files are stored.
	flushEvery = 5 * time.Second
	// fresh is how old the time a file was last seen may become before it is
	// stored at once: whoever is told that a file is there relies on the
	// garbage collection to know that.
	fresh = time.Hour
)

// seen collects which files were asked for. Reads write nothing: it is stored
// every few seconds.
type seen struct {
	store store
	now   func() time.Time
	mu    sync.Mutex
	heads map[string]int64
}

// add counts a question about files that are there.
func (s *seen) add(ctx context.Context, files map[string]*object) error {
	limit := db.Micros(s.now().Add(-fresh))
	stale := false
	s.mu.Lock()
	for hash, o := range files {
		s.heads[hash]++
		stale = stale || o.LastSeen < limit
	}
	s.mu.Unlock()
	if stale {
		return s.flush(ctx)
	}
	return nil
}

// flush stores what was collected. After an error it is kept for later.
func (s *seen) flush(ctx context.Context) error {
	s.mu.Lock()
	heads := s.heads
	s.heads = map[string]int64{}
	s.mu.Unlock()
	err := s.store.touch(ctx, heads, s.now())
	if err != nil {
		s.mu.Lock()
		for hash, n := range heads {
			s.heads[hash] += n
		}
		s.mu.Unlock()
	}
	return err
}
