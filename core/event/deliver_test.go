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
				if !slices.Equal(sizes, []int{5, 1, 1, 1, 1, 1, 1, 1}) {
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

func TestBuriedCanBeDropped(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, j := newBus(d, testkit.NewClock(start).Now)
		begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: func(context.Context, []event.Event) error {
			return work.Permanent(errors.New("never"))
		}}})
		emit(t, d, b, numbered(2)...)
		j.await(t, "s buried", 2)
		buried, err := b.Buried(t.Context(), "s", 0, 1)
		must(t, err)
		if n, err := b.DropBuried(t.Context(), "s", buried[0].ID); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if buried, err = b.Buried(t.Context(), "s", 0, 10); err != nil || len(buried) != 1 {
			t.Errorf("%v, %v", buried, err)
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

// A transactional handler whose lease was lost leaves nothing behind.
func TestTransactionalHandlerThatLostItsLease(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		slow, _ := newBus(d, clock.Now)
		quick, j := newBus(d, clock.Now)
		loaded, proceed := make(chan struct{}), make(chan struct{})
		var once atomic.Bool
		handle := func(ctx context.Context, events []event.Event) error {
			for _, ev := range events {
				if err := d.Queue(ctx, addEffect, ev.ID, ev.Subject); err != nil {
					return err
				}
			}
			return nil
		}
		// The slow process stands still between its claim and its transaction:
		// its plain handler waits, then does what a transactional one would.
		c, err := work.New(d, work.Table{Name: "event_delivery", Now: clock.Now})
		must(t, err)
		begin(t, slow, nil)
		begin(t, quick, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Transactional: true, Handle: func(ctx context.Context, events []event.Event) error {
			if once.CompareAndSwap(false, true) {
				return work.NotNow(time.Minute) // lets the slow one claim first
			}
			return handle(ctx, events)
		}}})
		emit(t, d, slow, event.Event{Type: "a", Subject: "x"})
		quick.Wake()
		j.await(t, "s released", 1)
		clock.Advance(time.Minute)
		go func() {
			defer close(proceed)
			leases, err := c.Claim(context.Background(), "s", "slow", 1, time.Minute)
			if err != nil || len(leases) != 1 {
				t.Error(leases, err)
			}
			close(loaded)
			clock.Advance(time.Hour)
			quick.Wake()
			j.await(t, "s done", 1)
			err = d.InTx(context.Background(), func(ctx context.Context) error {
				if err := c.Done(ctx, leases...); err != nil {
					return err
				}
				return handle(ctx, []event.Event{{ID: 1}})
			})
			if !errors.Is(err, work.ErrLost) {
				t.Errorf("%v", err)
			}
		}()
		<-loaded
		<-proceed
		if n := count(t, d, "SELECT count(*) FROM effect"); n != 1 {
			t.Errorf("%d effects", n)
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
