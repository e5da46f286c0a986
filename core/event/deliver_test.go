package event_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/work"
)

var addEffect = db.SQL("INSERT INTO effect (event_id, subject) VALUES (?, ?)")

func numbered(n int) (events []event.Event) {
	for i := range n {
		events = append(events, event.Event{Type: "a", Subject: fmt.Sprint(i)})
	}
	return events
}

// One poisoned event is tried again alone and buried in the end; its
// neighbours are not held up.
func TestPoisonIsIsolatedBuriedAndRevived(t *testing.T) {
	for name, transactional := range map[string]bool{"plain": false, "transactional": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				clock := testkit.NewClock(start)
				b, j := newBus(d, clock.Now)
				var sick atomic.Bool
				sick.Store(true)
				var sizes []int
				begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, MaxAttempts: 3, Batch: 5, Transactional: transactional,
					Handle: func(ctx context.Context, events []event.Event) error {
						sizes = append(sizes, len(events))
						for _, ev := range events {
							if err := d.InTx(ctx, func(ctx context.Context) error { return d.Queue(ctx, addEffect, ev.ID, ev.Subject) }); err != nil {
								return err
							}
							if ev.Subject == "2" && sick.Load() {
								return errors.New("bad egg")
							}
						}
						return nil
					}}})
				emit(t, d, b, numbered(5)...)
				j.await(t, "s done", 4)
				for n := 1; n < 3; n++ {
					j.await(t, "s retried", n)
					clock.Advance(time.Hour)
					b.Wake()
				}
				j.await(t, "s buried", 1)
				if !transactional && !slices.Equal(sizes, []int{5, 1, 1, 1, 1, 1, 1, 1}) {
					t.Errorf("calls of %v", sizes)
				}
				buried, err := b.Buried(t.Context(), "s", 0, 10)
				if err != nil || len(buried) != 1 || buried[0].Event.Subject != "2" || buried[0].Attempt != 3 || buried[0].Error != "bad egg" || buried[0].At != clock.Now() {
					t.Fatalf("%+v, %v", buried, err)
				}
				stats, err := b.Stats(t.Context())
				if err != nil || len(stats) != 1 || stats[0].Buried != 1 || stats[0].Pending+stats[0].Leased != 0 || stats[0].Silent || stats[0].Heartbeat != start {
					t.Errorf("%+v, %v", stats, err)
				}
				sick.Store(false)
				if n, err := b.RetryBuried(t.Context(), "s", buried[0].ID); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				j.await(t, "s done", 5)
				once := count(t, d, "SELECT count(*) FROM (SELECT event_id FROM effect GROUP BY event_id HAVING count(*) = 1) AS x")
				all := count(t, d, "SELECT count(*) FROM effect")
				if transactional && (once != 5 || all != 5) || !transactional && all <= 5 {
					t.Errorf("%d effects, %d of them alone", all, once)
				}
				if n := count(t, d, "SELECT count(*) FROM event_delivery"); n != 0 {
					t.Errorf("%d deliveries are left", n)
				}
			})
		})
	}
}

func TestBuriedAreListedInPages(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, j := newBus(d, testkit.NewClock(start).Now)
		begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: func(context.Context, []event.Event) error {
			return work.Permanent(errors.New("never"))
		}}})
		emit(t, d, b, numbered(2)...)
		j.await(t, "s buried", 2)
		first, err := b.Buried(t.Context(), "s", 0, 1)
		if err != nil || len(first) != 1 {
			t.Fatal(first, err)
		}
		if rest, err := b.Buried(t.Context(), "s", first[0].ID, 10); err != nil || len(rest) != 1 || rest[0].ID <= first[0].ID {
			t.Errorf("%v, %v", rest, err)
		}
	})
}

func TestPanicsAreFailures(t *testing.T) {
	for name, transactional := range map[string]bool{"plain": false, "transactional": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				b, j := newBus(d, testkit.NewClock(start).Now)
				begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, MaxAttempts: 1, Transactional: transactional,
					Handle: func(_ context.Context, events []event.Event) error {
						for _, ev := range events {
							if ev.Subject == "1" {
								panic("at the disco")
							}
						}
						return nil
					}}})
				emit(t, d, b, numbered(3)...)
				j.await(t, "s done", 2)
				j.await(t, "s buried", 1)
				buried, err := b.Buried(t.Context(), "s", 0, 10)
				if err != nil || len(buried) != 1 || !strings.Contains(buried[0].Error, "at the disco") || buried[0].Event.Subject != "1" {
					t.Errorf("%+v, %v", buried, err)
				}
			})
		})
	}
}

// A process that stood still past its lease leaves nothing behind: its mark
// fails, and with it what it wrote in the same transaction.
func TestTransactionThatLostItsLeaseLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		serve(t, d, clock.Now, "s", "*")
		b, j := newBus(d, clock.Now)
		emit(t, d, b, event.Event{Type: "a", Subject: "x"})
		slow, err := work.New(d, work.Table{Name: "event_delivery", Now: clock.Now})
		must(t, err)
		leases, err := slow.Claim(t.Context(), "s", "slow", 1, time.Minute)
		if err != nil || len(leases) != 1 {
			t.Fatal(leases, err)
		}
		effect := func(ctx context.Context, events []event.Event) error {
			return d.Queue(ctx, addEffect, events[0].ID, events[0].Subject)
		}
		clock.Advance(time.Hour)
		begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Transactional: true, Handle: effect}})
		j.await(t, "s done", 1)
		err = d.InTx(t.Context(), func(ctx context.Context) error {
			return errors.Join(effect(ctx, make([]event.Event, 1)), slow.Done(ctx, leases...))
		})
		if n := count(t, d, "SELECT count(*) FROM effect"); n != 1 || !errors.Is(err, work.ErrLost) {
			t.Errorf("%d effects, %v", n, err)
		}
	})
}

func TestStopGivesDeliveriesBack(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, _ := newBus(d, testkit.NewClock(start).Now)
		entered := make(chan struct{})
		begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: func(ctx context.Context, events []event.Event) error {
			close(entered)
			<-ctx.Done()
			return ctx.Err()
		}}})
		emit(t, d, b, numbered(3)...)
		<-entered
		must(t, b.Stop(t.Context()))
		if n := count(t, d, "SELECT count(*) FROM event_delivery WHERE owner IS NULL AND attempt = 0 AND due_at <= ?", db.Micros(start)); n != 3 {
			t.Errorf("%d deliveries are free", n)
		}
		var c collector
		next, j := newBus(d, testkit.NewClock(start).Now)
		begin(t, next, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: c.handle}})
		j.await(t, "s done", 3)
		if got := c.subjects(); !slices.Equal(got, []string{"0", "1", "2"}) {
			t.Error(got)
		}
	})
}

// Deliveries are found by polling when nobody is woken.
func TestPollingAloneDelivers(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		j := newJournal()
		serving := event.New(d, event.Options{Poll: 5 * time.Millisecond, Observe: j.observe})
		begin(t, serving, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: func(context.Context, []event.Event) error { return nil }}})
		deaf := event.New(d, event.Options{}) // was not started, so it tells nobody
		emit(t, d, deaf, numbered(3)...)
		j.await(t, "s done", 3)
	})
}

// On PostgreSQL another process, here another bus, hears of events at once.
func TestOtherProcessesAreWoken(t *testing.T) {
	d := open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())})
	serving, j := newBus(d, time.Now)
	begin(t, serving, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: func(context.Context, []event.Event) error { return nil }}})
	emitting, _ := newBus(d, time.Now)
	begin(t, emitting, nil)
	for n := range 3 {
		emit(t, d, emitting, event.Event{Type: "a"})
		j.await(t, "s done", n+1)
	}
}
