package webhook

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// A subscription may ask that the calls about one document follow each other in
// the order of the events. Such a call begins blocked. It is let go when it is
// the oldest of its document that has not ended, and when every event of before
// has become a call: after a crash, an event that the dead process had in hand
// comes later than those after it.

// queueOf is a document whose calls to an endpoint are made in order.
type queueOf struct{ subscription, subject string }

// order knows where a call may have to be let go. It forgets with the process:
// releaseAll finds the rest.
type order struct {
	mu      sync.Mutex
	waiting map[queueOf]struct{}
}

func (o *order) add(q queueOf) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		o.waiting = map[queueOf]struct{}{}
	}
	o.waiting[q] = struct{}{}
}

// take gives what was added, and forgets it.
func (o *order) take() []queueOf {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := slices.Collect(maps.Keys(o.waiting))
	clear(o.waiting)
	return list
}

var (
	headOf = db.SQL(`SELECT id, at, due_at FROM webhook_delivery WHERE queue = ? AND subject = ? AND subject <> ''
		AND due_at < 9223372036854775807 AND buried_at IS NULL ORDER BY at, id LIMIT 1`)
	letGo = db.SQL(`UPDATE webhook_delivery SET due_at = ? WHERE id = ? AND due_at = 9223372036854775806`)
	// blockedHeads finds documents whose oldest call is blocked.
	blockedHeads = db.SQL(`SELECT DISTINCT d.queue, d.subject FROM webhook_delivery d WHERE d.due_at = 9223372036854775806 AND d.buried_at IS NULL`)
)

// release lets calls go whose turn has come, of the documents that were noted.
// It tells whether some must wait for older events.
func (s *Service) release(ctx context.Context) (waiting bool, err error) {
	list := s.order.take()
	if len(list) == 0 {
		return false, nil
	}
	defer func() {
		if err != nil {
			for _, q := range list {
				s.order.add(q)
			}
		}
	}()
	oldest, err := s.bus.Oldest(ctx, subscriberName)
	if err != nil {
		return false, err
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		waiting = false // a transaction may run again
		for _, q := range list {
			early, err := s.releaseOne(ctx, q, oldest)
			if err != nil {
				return err
			}
			if early {
				waiting = true
				s.order.add(q)
			}
		}
		return nil
	})
	return waiting, err
}

// releaseOne lets the oldest call about a document go, unless events of before
// it have not become calls yet: then it is too early.
func (s *Service) releaseOne(ctx context.Context, q queueOf, oldest time.Time) (early bool, err error) {
	var id, at, due int64
	_, err = found(&id, s.store.db.Row(ctx, headOf, q.subscription, q.subject).Scan(&id, &at, &due))
	switch {
	case err != nil || id == 0 || due != blocked:
		return false, err
	case !oldest.IsZero() && db.Micros(oldest) <= at:
		return true, nil
	}
	_, err = s.store.db.Exec(ctx, letGo, db.Micros(s.now()), id)
	return false, err
}

// releaseAll notes every document with a blocked call: those that a process
// knew of which is no more.
func (s *Service) releaseAll(ctx context.Context) error {
	rows, err := s.store.db.Query(ctx, blockedHeads)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var q queueOf
		if err := rows.Scan(&q.subscription, &q.subject); err != nil {
			return err
		}
		s.order.add(q)
	}
	s.wake()
	return rows.Err()
}
