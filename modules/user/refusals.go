package user

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/telemetry"
)

const (
	// tellEvery is how late the trail hears of refused sign-ins.
	tellEvery = time.Minute
	// mostTold is how many events that takes, for known accounts and for
	// unknown ones each; what is more is told in one.
	mostTold = 20
)

// The doors, and why nobody was let in.
const (
	byPassword = "password"
	byToken    = "token"

	forUnknown  = "unknown"  // there is no such account, or no such token
	forPassword = "password" // it was wrong
	forDisabled = "disabled"
	forExpired  = "expired"
	forSeveral  = "several" // too many in a minute to tell them apart
)

// refusal is what refused sign-ins that are told in one event have in common.
type refusal struct {
	account string // as it is stored, never as it was typed; empty when there is none
	network string
	door    string
	reason  string
}

// refused is how often, when, and from where in the end.
type refused struct {
	count       int
	first, last time.Time
	from        string
	request     string // its id
}

// refusals counts refused sign-ins in memory until they are told of, so that a
// refusal costs the same whoever was refused, and no attempt writes a row.
type refusals struct {
	now func() time.Time

	mu       sync.Mutex
	named    map[refusal]refused
	nameless map[refusal]refused
	rest     map[refusal]refused // one at most
}

func newRefusals(now func() time.Time) *refusals {
	return &refusals{now: now, named: map[refusal]refused{}, nameless: map[refusal]refused{}, rest: map[refusal]refused{}}
}

// note counts a refused sign-in of the request of ctx. The account is empty
// when there is none: what was typed as its name may be a password.
func (r *refusals) note(ctx context.Context, account, door, reason, address string) {
	at := r.now()
	r.add(refusal{account, network(address), door, reason}, refused{1, at, at, address, telemetry.RequestID(ctx)})
}

// add counts in refused sign-ins of one kind.
func (r *refusals) add(key refusal, more refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.nameless
	if key.account != "" {
		all = r.named
	}
	known, there := all[key]
	if !there && len(all) >= mostTold {
		all, key = r.rest, refusal{reason: forSeveral}
		more.from, more.request = "", ""
		known, there = all[key]
	}
	if !there || more.first.Before(known.first) {
		known.first = more.first
	}
	if !there || !more.last.Before(known.last) {
		known.last, known.from, known.request = more.last, more.from, more.request
	}
	known.count += more.count
	all[key] = known
}

// take gives what was counted since the last call.
func (r *refusals) take() map[refusal]refused {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[refusal]refused{}
	for _, part := range []map[refusal]refused{r.named, r.nameless, r.rest} {
		maps.Copy(all, part)
		clear(part)
	}
	return all
}

// tellRefusals emits what was counted, and counts it again when that fails.
func (s *Service) tellRefusals(ctx context.Context) error {
	all := s.refusals.take()
	if len(all) == 0 || s.bus == nil {
		return nil
	}
	err := s.store.db.InTx(ctx, func(ctx context.Context) error {
		for key, much := range all {
			subject := ""
			if key.account != "" {
				subject = "user:" + key.account
			}
			err := s.bus.EmitAdmin(telemetry.WithRequestID(ctx, much.request), "user.login_failed", subject, map[string]any{
				"user": key.account, "door": key.door, "reason": key.reason, "count": much.count, "from": much.from,
				"since": much.first.UTC().Format(time.RFC3339), "until": much.last.UTC().Format(time.RFC3339),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for key, much := range all {
			s.refusals.add(key, much)
		}
	}
	return err
}
