package search

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// sweepEvery is how often scrolls that nobody reads any more are forgotten.
const sweepEvery = 5 * time.Second

// scroll is one open scroll.
type scroll struct {
	id     string
	user   int64
	cursor search.Cursor
	turn   chan struct{} // holds a value while somebody uses the cursor

	// Guarded by scrolls.mu.
	until time.Time // when it expires
	done  bool      // nothing is left in it
}

// scrolls are the scrolls that are open in this process.
type scrolls struct {
	cfg *Config
	now func() time.Time

	mu   sync.Mutex
	open map[string]*scroll
}

func newScrolls(cfg *Config) *scrolls {
	return &scrolls{cfg: cfg, now: time.Now, open: map[string]*scroll{}}
}

// add keeps a cursor for a user. TooManyRequests when the user, or everybody
// together, has too many scrolls.
func (s *scrolls) add(user int64, c search.Cursor, keep time.Duration) (*scroll, error) {
	secret := make([]byte, 24)
	_, _ = rand.Read(secret) // it never fails
	now := s.now()
	sc := &scroll{id: base64.RawURLEncoding.EncodeToString(secret), user: user, cursor: c, turn: make(chan struct{}, 1), until: now.Add(keep)}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, limit := range []struct {
		most int
		mine func(*scroll) bool
		what string
	}{
		{s.cfg.ScrollsPerUser, func(other *scroll) bool { return other.user == user }, "this user has"},
		{s.cfg.Scrolls, func(*scroll) bool { return true }, "the server has"},
	} {
		if wait, full := s.makeRoom(now, limit.most, limit.mine); full {
			p := problem.New(problem.TooManyRequests, "%s %d scrolls open, which is the limit: read them to the end, or let them expire", limit.what, limit.most)
			p.RetryAfter = wait
			return nil, p.WithCode("too_many_scrolls")
		}
	}
	s.open[sc.id] = sc
	return sc, nil
}

// makeRoom forgets what is in the way of one more scroll among those that mine
// tells: expired ones, and if need be those that were read to the end. If there
// is no room, it tells how long until there may be.
func (s *scrolls) makeRoom(now time.Time, most int, mine func(*scroll) bool) (wait time.Duration, full bool) {
	n := 0
	var done []string
	for id, sc := range s.open {
		switch left := sc.until.Sub(now); {
		case left <= 0:
			delete(s.open, id)
		case mine(sc):
			n++
			if sc.done {
				done = append(done, id)
			}
			if wait == 0 || left < wait {
				wait = left
			}
		}
	}
	for _, id := range done {
		if n < most {
			break
		}
		delete(s.open, id)
		n--
	}
	return wait, n >= most
}

// find gives a scroll of the user, that lives on for keep. NotFound is all that
// somebody learns of scrolls of others.
func (s *scrolls) find(user int64, id string, keep time.Duration) (*scroll, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	sc := s.open[id]
	if sc == nil || sc.user != user || !now.Before(sc.until) {
		return nil, noScroll()
	}
	sc.until = now.Add(keep)
	return sc, nil
}

// page gives the next page of a scroll. Callers at the same time take turns.
func (s *scrolls) page(ctx context.Context, sc *scroll, types []string) (*search.Response, error) {
	select {
	case sc.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-sc.turn }()
	out, err := sc.cursor.Next(ctx, types)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sc.done = sc.cursor.Done()
	return out, nil
}

// forget closes a scroll.
func (s *scrolls) forget(sc *scroll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, sc.id)
}

// sweep forgets expired scrolls and gives back memory of the others.
func (s *scrolls) sweep() {
	s.mu.Lock()
	now := s.now()
	left := make([]*scroll, 0, len(s.open))
	for id, sc := range s.open {
		if now.Before(sc.until) {
			left = append(left, sc)
		} else {
			delete(s.open, id)
		}
	}
	s.mu.Unlock()
	for _, sc := range left {
		select {
		case sc.turn <- struct{}{}:
			sc.cursor.Tidy()
			<-sc.turn
		default: // in use; the next sweep will do
		}
	}
}
