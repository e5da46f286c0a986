package user

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

const (
	// recheck is how long an answer of the database is believed: the longest
	// that a change made by another process takes to show.
	recheck = time.Second
	// useEvery is how often the last use of one token is noted.
	useEvery = time.Minute
	// maxDenied bounds the refused tokens that are remembered.
	maxDenied = 1024
	// loadLimit is how long the database may take to tell about a token.
	loadLimit = 10 * time.Second
)

// Authenticator turns tokens into identities. A token in use costs no query:
// it is looked up in memory, where a change made by this process removes it at
// once, and read again every second because of changes made by others. It
// implements auth.Authenticator.
type Authenticator struct {
	store    *store
	now      func() time.Time
	refusals *refusals
	known    *cache
	denied   *cache // refused tokens, apart, so that guessing cannot push out the others
	loads    atomic.Uint64
	flights  flights

	mu   sync.Mutex
	used map[int64]int64 // token id → microseconds, not yet stored
}

func newAuthenticator(s *store, size int, now func() time.Time, r *refusals) *Authenticator {
	return &Authenticator{store: s, now: now, refusals: r, known: newCache(size), denied: newCache(maxDenied), used: map[int64]int64{}}
}

// Authenticate implements auth.Authenticator: Unauthenticated for a token that
// is unknown, revoked or expired, or of an expired user; Forbidden for one of a
// disabled user.
func (a *Authenticator) Authenticate(ctx context.Context, token string) (*auth.Identity, error) {
	if !auth.WellFormed(token) {
		return nil, a.refuse(ctx, nil, forUnknown)
	}
	hash := auth.HashToken(token)
	now := a.now().UnixMicro()
	e := a.known.get(hash)
	if e == nil || now-e.checked > int64(recheck/time.Microsecond) || now < e.checked {
		var err error
		if e, err = a.load(ctx, hash, now); err != nil {
			return nil, err
		}
	}
	return a.judge(ctx, e, now)
}

// judge says what an entry means at this moment.
func (a *Authenticator) judge(ctx context.Context, e *entry, now int64) (*auth.Identity, error) {
	switch {
	case e.grant == nil:
		return nil, a.refuse(ctx, nil, forUnknown)
	case e.expiresAt != 0 && now >= e.expiresAt:
		return nil, a.refuse(ctx, e.grant, forExpired)
	case e.actorRefused:
		return nil, a.refuse(ctx, e.grant, forDisabled)
	case !e.enabled:
		_ = a.refuse(ctx, e.grant, forDisabled)
		return nil, problem.New(problem.Forbidden, "the account is disabled").WithCode("account_disabled")
	}
	if last := e.used.Load(); now-last >= int64(useEvery/time.Microsecond) && e.used.CompareAndSwap(last, now) {
		a.mu.Lock()
		a.used[e.identity.TokenID] = now
		a.mu.Unlock()
	}
	return e.identity, nil
}

// refuse notes that a token was refused, and answers the same for every one.
func (a *Authenticator) refuse(ctx context.Context, g *grant, reason string) error {
	name := ""
	if g != nil {
		name = g.identity.Username
	}
	a.refusals.note(ctx, name, byToken, reason, web.RemoteIP(ctx))
	return problem.New(problem.Unauthenticated, "Authentication failed")
}

// load asks the database, once for all who ask about the same token now.
func (a *Authenticator) load(ctx context.Context, hash [32]byte, now int64) (*entry, error) {
	if e := a.denied.get(hash); e != nil && now-e.checked <= int64(recheck/time.Microsecond) && now >= e.checked {
		return e, nil
	}
	return a.flights.do(ctx, hash, func(era uint64) (*entry, error) {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadLimit)
		defer cancel()
		a.loads.Add(1)
		checked := a.now().UnixMicro() // before the query: it may be older than its answer
		g, err := a.store.grant(within, hash)
		if err != nil {
			busy := problem.Wrap(err, problem.Unavailable, "the token cannot be checked at the moment")
			busy.RetryAfter = time.Second
			return nil, busy
		}
		e := &entry{grant: g, checked: checked}
		to := a.denied
		if g != nil {
			e.used.Store(g.lastUsedAt)
			to = a.known
		}
		to.put(hash, e, func() bool { return a.flights.era.Load() == era })
		return e, nil
	})
}

// forget removes what is remembered about tokens of or obtained by these
// users. A query that runs at this moment is not remembered, whatever it says.
func (a *Authenticator) forget(users ...int64) {
	a.drop(func(g *grant) bool {
		for _, id := range users {
			if g.identity.UserID == id || g.actorID == id {
				return true
			}
		}
		return false
	})
}

func (a *Authenticator) forgetToken(id int64) {
	a.drop(func(g *grant) bool { return g.identity.TokenID == id })
}

func (a *Authenticator) drop(which func(*grant) bool) {
	a.flights.newEra()
	a.known.drop(which)
}

// flush stores when tokens were last used.
func (a *Authenticator) flush(ctx context.Context) error {
	a.mu.Lock()
	used := a.used
	a.used = map[int64]int64{}
	a.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := a.store.touchTokens(ctx, used)
	if err != nil { // keep what is not stored for the next time
		a.mu.Lock()
		for id, at := range used {
			a.used[id] = max(at, a.used[id])
		}
		a.mu.Unlock()
	}
	return err
}
