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
	nudge   chan struct{} // something was added
	mu      sync.Mutex
	waiting map[queueOf]struct{}
	fresh   bool      // something was added since held
	held    time.Time // the event that the calls waited for at the last look
}

func (o *order) add(q queueOf) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		o.waiting = map[queueOf]struct{}{}
	}
	o.waiting[q] = struct{}{}
	o.fresh = true
	select {
	case o.nudge <- struct{}{}:
	default:
	}
}

// take gives what was added, and forgets it; nothing when all of it waits for
// the event that it waited for before.
func (o *order) take(oldest time.Time) (list []queueOf, waiting bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) > 0 && !o.fresh && oldest.Equal(o.held) {
		return nil, true
	}
	list = slices.Collect(maps.Keys(o.waiting))
	clear(o.waiting)
	o.fresh, o.held = false, oldest
	return list, false
}

// empty tells whether there is nothing to look at.
func (o *order) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) == 0
}

// again puts back what has to wait.
func (o *order) again(list []queueOf) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, q := range list {
		o.waiting[q] = struct{}{}
	}
}

var (
	// SQLite would take the index by due_at, and read all that waits.
	headOf = db.Dual(
		`SELECT id, at, due_at FROM webhook_delivery INDEXED BY webhook_delivery_order WHERE queue = ? AND subject = ? AND subject <> ''
			AND due_at < 9223372036854775807 AND buried_at IS NULL ORDER BY at, id LIMIT 1`,
		`SELECT id, at, due_at FROM webhook_delivery WHERE queue = ? AND subject = ? AND subject <> ''
			AND due_at < 9223372036854775807 AND buried_at IS NULL ORDER BY at, id LIMIT 1`)
	setFree = db.SQL(`UPDATE webhook_delivery SET due_at = ? WHERE id = ? AND due_at = 9223372036854775806`)
	// blockedHeads finds documents whose oldest call is blocked.
	blockedHeads = db.SQL(`SELECT DISTINCT d.queue, d.subject FROM webhook_subscription s
		JOIN webhook_delivery d ON d.queue = s.id AND d.due_at = 9223372036854775806 AND d.buried_at IS NULL`)
)

// release lets calls go whose turn has come, of the documents that were noted.
// It tells whether some must wait for older events. It reads beside the writers,
// who have to go on for those events to become calls.
func (s *Service) release(ctx context.Context) (waiting bool, err error) {
	if s.order.empty() {
		return false, nil
	}
	oldest, err := s.bus.Oldest(ctx, subscriberName)
	if err != nil {
		return false, err
	}
	list, waiting := s.order.take(oldest)
	var free, later []queueOf
	var ids []int64
	for i, q := range list {
		id, at, due, err := s.head(ctx, q)
		if err != nil {
			s.order.again(append(append(later, free...), list[i:]...))
			return false, err
		}
		switch {
		case id == 0 || due != blocked:
		case !oldest.IsZero() && db.Micros(oldest) <= at:
			later = append(later, q)
		default:
			free, ids = append(free, q), append(ids, id)
		}
	}
	s.order.again(later)
	if len(ids) > 0 {
		if err := s.letGo(ctx, ids); err != nil {
			s.order.again(free)
			return false, err
		}
		s.wake()
	}
	return waiting || len(later) > 0, nil
}

// head finds the oldest call about a document that has not ended; id is 0 when
// there is none.
func (s *Service) head(ctx context.Context, q queueOf) (id, at, due int64, err error) {
	_, err = db.Found(&id, s.store.db.Row(ctx, headOf, q.subscription, q.subject).Scan(&id, &at, &due))
	return id, at, due, err
}

// letGo makes blocked calls due. One that is no longer blocked stays as it is.
func (s *Service) letGo(ctx context.Context, ids []int64) error {
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		for _, id := range ids {
			if err := s.store.db.Queue(ctx, setFree, db.Micros(s.now()), id); err != nil {
				return err
			}
		}
		return nil
	})
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
	return rows.Err()
}
