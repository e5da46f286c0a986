package event_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
)

func nothing(context.Context, []event.Event) error { return nil }

// serve starts a bus that serves one subscriber and stops it again: a process
// that was there once.
func serve(t *testing.T, d *db.DB, now func() time.Time, name string, patterns ...string) {
	t.Helper()
	b, _ := newBus(d, now)
	must(t, b.Register([]event.Subscription{{Name: name, Patterns: patterns, Handle: nothing}}, nil))
	must(t, b.Start(t.Context()))
	must(t, b.Stop(t.Context()))
}

func subscribers(t *testing.T, b *event.Bus) (list []string) {
	t.Helper()
	stats, err := b.Stats(t.Context())
	must(t, err)
	for _, s := range stats {
		line := s.Name + " " + strings.Join(s.Patterns, ",")
		if s.Silent {
			line += " silent"
		}
		list = append(list, line)
	}
	return list
}

func TestAbsentSubscriberGetsItsDeliveriesForADay(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		serve(t, d, clock.Now, "plugin", "a")
		b, j := newBus(d, clock.Now) // emits only
		emit(t, d, b, event.Event{Type: "a", Subject: "1"})
		clock.Advance(24*time.Hour - time.Microsecond)
		emit(t, d, b, event.Event{Type: "a", Subject: "2"})
		if got := subscribers(t, b); !slices.Equal(got, []string{"plugin a"}) {
			t.Error(got)
		}
		clock.Advance(time.Microsecond)
		emit(t, d, b, event.Event{Type: "a", Subject: "3"})
		if got := subscribers(t, b); !slices.Equal(got, []string{"plugin a silent"}) {
			t.Error(got)
		}
		stats, err := b.Stats(t.Context())
		if err != nil || stats[0].Pending != 2 || stats[0].Lag != 24*time.Hour {
			t.Errorf("%+v, %v", stats, err)
		}
		var c collector
		begin(t, b, []event.Subscription{{Name: "plugin", Patterns: []string{"a"}, Handle: c.handle}})
		j.await(t, "plugin done", 2)
		emit(t, d, b, event.Event{Type: "a", Subject: "4"})
		j.await(t, "plugin done", 3)
		if got := c.subjects(); !slices.Equal(got, []string{"1", "2", "4"}) {
			t.Error(got)
		}
	})
}

// On SQLite there is no other process that could serve a subscriber.
func TestSubscribersThatASoleProcessDoesNotServeFallSilent(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		serve(t, d, clock.Now, "webhook", "a", "b.*")
		clock.Advance(time.Minute)
		b, _ := newBus(d, clock.Now)
		begin(t, b, []event.Subscription{{Name: "search", Patterns: []string{"a"}, Handle: nothing}})
		want := []string{"search a", "webhook a,b.*"}
		if d.Dialect() == db.SQLite {
			want[1] += " silent"
		}
		if got := subscribers(t, b); !slices.Equal(got, want) {
			t.Error(got)
		}
	})
}

func TestPatternsThatNoProcessConfirmsAreRetired(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		serve(t, d, clock.Now, "s", "old", "both")
		clock.Advance(5 * time.Minute)
		serve(t, d, clock.Now, "s", "both", "new")
		b, _ := newBus(d, clock.Now)
		want := "s both,new,old" // the older process may still run
		if d.Dialect() == db.SQLite {
			want = "s both,new"
		}
		if got := subscribers(t, b); !slices.Equal(got, []string{want}) {
			t.Error(got)
		}
		clock.Advance(6 * time.Minute)
		serve(t, d, clock.Now, "s", "both", "new")
		if got := subscribers(t, b); !slices.Equal(got, []string{"s both,new"}) {
			t.Error(got)
		}
	})
}

// During a deployment a process may claim what only another version of it
// asked for: that is left to the other version.
func TestDeliveriesOfAnotherVersion(t *testing.T) {
	d := open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())})
	clock := testkit.NewClock(start)
	serve(t, d, clock.Now, "s", "new")
	var older, newer collector
	old, j := newBus(d, clock.Now)
	begin(t, old, []event.Subscription{{Name: "s", Patterns: []string{"old"}, Handle: older.handle}})
	emit(t, d, old, event.Event{Type: "new", Subject: "1"}, event.Event{Type: "old", Subject: "2"})
	old.Wake()
	j.await(t, "s released", 1)
	j.await(t, "s done", 1)
	must(t, old.Stop(t.Context()))

	clock.Advance(time.Minute)
	next, k := newBus(d, clock.Now)
	begin(t, next, []event.Subscription{{Name: "s", Patterns: []string{"new"}, Handle: newer.handle}})
	k.await(t, "s done", 1)
	emit(t, d, next, event.Event{Type: "old", Subject: "3"})
	next.Wake()
	k.await(t, "s released", 1)
	clock.Advance(time.Hour) // nobody serves "old" any more
	serve(t, d, clock.Now, "s", "new")
	testkit.Eventually(t, func() bool { // the bus that stopped may have given it back, due later
		clock.Advance(time.Minute)
		next.Wake()
		return count(t, d, "SELECT count(*) FROM event_delivery") == 0
	})
	if a, b := older.subjects(), newer.subjects(); !slices.Equal(a, []string{"2"}) || !slices.Equal(b, []string{"1"}) {
		t.Errorf("the older version got %v, the newer %v", a, b)
	}
}

func TestDropSubscriber(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		serve(t, d, clock.Now, "gone", "a", "b")
		serve(t, d, clock.Now, "other", "a")
		b, _ := newBus(d, clock.Now)
		if d.Dialect() == db.SQLite { // serving "other" silenced it
			serve(t, d, clock.Now, "gone", "a", "b")
		}
		emit(t, d, b, numbered(3)...)
		must(t, b.DropSubscriber(t.Context(), "gone"))
		must(t, b.DropSubscriber(t.Context(), "never was"))
		if n := count(t, d, "SELECT count(*) FROM event_delivery WHERE queue = 'gone'"); n != 0 {
			t.Errorf("%d deliveries", n)
		}
		if got := subscribers(t, b); len(got) != 1 || !strings.HasPrefix(got[0], "other a") {
			t.Error(got)
		}
		begin(t, b, []event.Subscription{{Name: "served", Patterns: []string{"a"}, Handle: nothing}})
		if err := b.DropSubscriber(t.Context(), "served"); err == nil {
			t.Error("a subscriber that is served was dropped")
		}
	})
}

func TestSweepKeepsYoungAndWaitingEvents(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		serve(t, d, clock.Now, "absent", "wanted")
		b, _ := newBus(d, clock.Now)
		for range 3 {
			emit(t, d, b, event.Event{Type: "wanted"}, event.Event{Type: "done"})
		}
		clock.Advance(7 * 24 * time.Hour)
		emit(t, d, b, event.Event{Type: "young"})
		if n, err := b.Sweep(t.Context()); n != 0 || err != nil {
			t.Errorf("at the age of the retention: %d, %v", n, err)
		}
		clock.Advance(time.Microsecond)
		if n, err := b.Sweep(t.Context()); n != 3 || err != nil {
			t.Errorf("after it: %d, %v", n, err)
		}
		if n := count(t, d, "SELECT count(*) FROM event WHERE type IN ('wanted', 'young')"); n != 4 {
			t.Errorf("%d are left", n)
		}
		must(t, b.DropSubscriber(t.Context(), "absent"))
		if n, err := b.Sweep(t.Context()); n != 3 || err != nil {
			t.Errorf("without the subscriber: %d, %v", n, err)
		}
		// Ids are never used again.
		before := count(t, d, "SELECT max(id) FROM event")
		clock.Advance(30 * 24 * time.Hour)
		_, err := b.Sweep(t.Context())
		must(t, err)
		emit(t, d, b, event.Event{Type: "later"})
		if after := count(t, d, "SELECT max(id) FROM event"); after <= before {
			t.Errorf("id %d after %d", after, before)
		}
	})
}

func TestTheBusSweepsByItself(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		b, j := newBus(d, clock.Now)
		emit(t, d, b, event.Event{Type: "a"})
		clock.Advance(8 * 24 * time.Hour)
		begin(t, b, nil)
		j.await(t, "event.sweep done", 1)
		if n := count(t, d, "SELECT count(*) FROM event"); n != 0 {
			t.Errorf("%d events", n)
		}
	})
}
