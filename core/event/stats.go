package event

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// Stats is the state of one durable subscriber.
type Stats struct {
	Name string `json:"name"`
	// Patterns are those of all processes that serve it; none when the
	// subscriber is gone and only its deliveries are left.
	Patterns []string `json:"patterns"`
	// Heartbeat is when a process last said that it serves the subscriber; zero
	// when none does.
	Heartbeat time.Time `json:"heartbeat,omitzero"`
	// Silent subscribers get no new deliveries: nobody has served them for a
	// day.
	Silent bool `json:"silent"`
	// Pending, Leased and Buried count deliveries.
	Pending int64 `json:"pending"`
	Leased  int64 `json:"leased"`
	Buried  int64 `json:"buried"`
	// Lag is for how long the oldest delivery that is due has been due.
	Lag time.Duration `json:"lag"`
}

// Buried is a delivery that was given up, with its event.
type Buried struct {
	ID         int64     `json:"id"` // of the delivery, for RetryBuried
	Subscriber string    `json:"subscriber"`
	Attempt    int       `json:"attempt"`
	At         time.Time `json:"buried_at"`
	Error      string    `json:"error"`
	Event      Event     `json:"event"`
}

var (
	listSubscribers = db.SQL(`SELECT name, pattern, heartbeat_at FROM event_subscriber ORDER BY name, pattern`)
	dropSubscriber  = db.SQL(`DELETE FROM event_subscriber WHERE name = ?`)
	dropDeliveries  = db.SQL(`DELETE FROM event_delivery WHERE id IN (SELECT id FROM event_delivery WHERE queue = ? ORDER BY id LIMIT ?)`)
	listBuried      = db.SQL(`SELECT d.id, d.queue, d.attempt, d.buried_at, coalesce(d.last_error, ''),
			e.id, e.type, e.subject, e.data, e.at, e.actor, e.request_id, e.trace
		FROM event_delivery d JOIN event e ON e.id = d.event_id
		WHERE d.queue = ? AND d.buried_at IS NOT NULL AND d.id > ? ORDER BY d.id LIMIT ?`)
)

// Stats gives the state of every subscriber there is or was, by name.
func (b *Bus) Stats(ctx context.Context) ([]Stats, error) {
	queues, err := b.deliveries.Stats(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string]*Stats{}
	for _, q := range queues {
		byName[q.Queue] = &Stats{Name: q.Queue, Pending: q.Pending, Leased: q.Leased, Buried: q.Buried, Lag: q.Lag}
	}
	rows, err := b.db.Query(ctx, listSubscribers)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, pattern string
		var at int64
		if err := rows.Scan(&name, &pattern, &at); err != nil {
			return nil, err
		}
		s := byName[name]
		if s == nil {
			s = &Stats{Name: name}
			byName[name] = s
		}
		s.Patterns = append(s.Patterns, pattern)
		if t := db.Time(at); t.After(s.Heartbeat) {
			s.Heartbeat = t
		}
	}
	all := make([]Stats, 0, len(byName))
	for _, s := range byName {
		s.Silent = !s.Heartbeat.After(b.o.Now().Add(-silence))
		all = append(all, *s)
	}
	slices.SortFunc(all, func(x, y Stats) int { return cmp.Compare(x.Name, y.Name) })
	return all, rows.Err()
}

// Buried lists up to limit deliveries of a subscriber that were given up, those
// after the id `after`, by id.
func (b *Bus) Buried(ctx context.Context, subscriber string, after int64, limit int) ([]Buried, error) {
	return db.All(ctx, b.db, func(row db.Row) (d Buried, err error) {
		var at int64
		d.Event, err = scanEvent(row, &d.ID, &d.Subscriber, &d.Attempt, &at, &d.Error)
		d.At = db.Time(at)
		return d, err
	}, listBuried, subscriber, after, limit)
}

// RetryBuried makes buried deliveries of a subscriber due now, all of them when
// no ids are given, and tells how many there were.
func (b *Bus) RetryBuried(ctx context.Context, subscriber string, ids ...int64) (int, error) {
	n, err := b.deliveries.Revive(ctx, subscriber, ids...)
	if n > 0 {
		b.Wake()
	}
	return n, err
}

// dropAtOnce bounds how many rows are deleted in one transaction, so that
// writers need not wait long.
const dropAtOnce = 5000

// DropSubscriber forgets a subscriber and its deliveries. A process that serves
// it makes it known again within a minute, so that is refused for this one.
func (b *Bus) DropSubscriber(ctx context.Context, name string) error {
	b.mu.Lock()
	served := b.started && slices.ContainsFunc(b.subscribers(), func(s *subscriber) bool { return s.Name == name })
	b.mu.Unlock()
	if served {
		return fmt.Errorf("event: the subscriber %q is served by this process: stop or disable what subscribes first", name)
	}
	if _, err := b.db.Exec(ctx, dropSubscriber, name); err != nil {
		return err
	}
	for {
		n, err := b.db.Exec(ctx, dropDeliveries, name, dropAtOnce)
		if err != nil || n < dropAtOnce {
			return err
		}
	}
}
