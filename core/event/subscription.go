package event

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/work"
)

// Subscription is a durable subscriber: it gets every event that fits at least
// once, whatever happens to processes.
type Subscription struct {
	// Name is the same in every process that serves it, and stays: deliveries
	// wait under it.
	Name string
	// Patterns are names of types, or prefixes ending in *.
	Patterns []string
	// Handle takes up to Batch events, the oldest first. After an error of a
	// batch it is called for each of them alone. ctx ends when the process
	// stops or the leases were lost.
	Handle func(ctx context.Context, events []Event) error
	// Batch is the largest number of events per call; 0 is 50. An event that
	// has failed before comes alone.
	Batch int
	// Concurrency is how many calls run at the same time in this process; 0 is
	// 1.
	Concurrency int
	// MaxAttempts is after how many failures a delivery is buried; 0 is 20,
	// which takes about nine hours with the default Backoff.
	MaxAttempts int
	Backoff     work.Backoff
	// Transactional runs Handle inside the transaction that marks the
	// deliveries done: what it writes with its ctx happens exactly once. Like
	// any function given to db.InTx it may then be called again when that
	// transaction is, and on SQLite it runs on the writer and must wait for
	// nothing but the database.
	Transactional bool
	// Elsewhere leaves out the events of processes that serve the name
	// themselves, and costs them nothing: they hear those from a Live
	// subscriber. On SQLite, which has one process, nothing is left.
	Elsewhere bool
}

func (s Subscription) check() error {
	if s.Name == "" || len(s.Name) > maxName || s.Handle == nil {
		return fmt.Errorf("event: the subscriber %q needs a name of at most %d bytes and a function", s.Name, maxName)
	}
	return checkPatterns(s.Name, s.Patterns)
}

const (
	// silence is after how long without a heartbeat a subscriber gets no more
	// deliveries.
	silence = 24 * time.Hour
	// beat is how often a process says which subscribers it serves.
	beat = time.Minute
	// retire is after how long a pattern that no process confirms is taken from
	// a subscriber that is served: a newer version dropped it.
	retire = 10 * time.Minute
)

var (
	// oneAtATime keeps processes that start together from waiting for each
	// other's rows in a circle; the number is this lock's own.
	oneAtATime  = db.Dual(`SELECT 1`, `SELECT pg_advisory_xact_lock(4741982360715)`)
	announceOne = db.SQL(`INSERT INTO event_subscriber (name, pattern, low, high, heartbeat_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name, pattern) DO UPDATE SET heartbeat_at = ?`)
	retireOld    = db.SQL(`DELETE FROM event_subscriber WHERE name = ? AND heartbeat_at < ?`)
	silenceOther = db.SQL(`UPDATE event_subscriber SET heartbeat_at = 0 WHERE heartbeat_at < ?`)
	isWanted     = db.SQL(`SELECT 1 FROM event_subscriber WHERE name = ? AND low <= ? AND high >= ? LIMIT 1`)
)

// announce says which subscribers this process serves. On SQLite there is no
// other process, so at the start those it does not serve fall silent at once.
func (b *Bus) announce(ctx context.Context, start bool) error {
	now := b.o.Now()
	sole := start && b.db.Dialect() == db.SQLite
	before := db.Micros(now.Add(-retire))
	if sole {
		before = db.Micros(now)
	}
	return b.db.InTx(ctx, func(ctx context.Context) error {
		if err := b.db.Queue(ctx, oneAtATime); err != nil {
			return err
		}
		for _, s := range b.subscribers() {
			if s.Elsewhere && b.db.Dialect() == db.SQLite {
				continue
			}
			for _, p := range s.Patterns {
				low, high := bounds(p)
				if err := b.db.Queue(ctx, announceOne, s.Name, p, low, high, db.Micros(now), db.Micros(now)); err != nil {
					return err
				}
			}
			if err := b.db.Queue(ctx, retireOld, s.Name, before); err != nil {
				return err
			}
		}
		if sole {
			return b.db.Queue(ctx, silenceOther, before)
		}
		return nil
	})
}

// heartbeat announces again and again until ctx ends.
func (b *Bus) heartbeat(ctx context.Context) {
	work.Every(ctx, beat, func() {
		if err := b.announce(ctx, false); err != nil && ctx.Err() == nil {
			b.o.Log.Warn("the heartbeat of the event subscribers failed", "error", err)
		}
	})
}

// subscriber is a subscription that this process serves.
type subscriber struct {
	Subscription
	bus    *Bus
	runner *work.Runner
}

func newSubscriber(b *Bus, s Subscription) *subscriber {
	sub := &subscriber{Subscription: s, bus: b}
	sub.runner = work.NewRunner(work.Options{
		Claimer: b.deliveries, Queue: s.Name, Handle: sub.handle,
		Batch: cmp.Or(s.Batch, 50), Concurrency: s.Concurrency,
		Lease: b.o.Lease, Poll: b.o.Poll, Grace: b.o.Grace,
		MaxAttempts: cmp.Or(s.MaxAttempts, 20), Backoff: s.Backoff,
		Log: b.o.Log, Observe: b.o.Observe,
	})
	return sub
}

func (s *subscriber) wantsAny(events []Event) bool {
	for _, ev := range events {
		if matchAny(s.Patterns, ev.Type) {
			return true
		}
	}
	return false
}
