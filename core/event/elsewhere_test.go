package event_test

import (
	"context"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestElsewhere: a subscriber that asks for events from elsewhere gets those of
// other processes only, and nothing is written for its own.
func TestElsewhere(t *testing.T) {
	d := open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())})
	b, j := newBus(d, time.Now)
	heard := make(chan string, 10)
	begin(t, b, []event.Subscription{{Name: "index", Patterns: []string{"*"}, Elsewhere: true, Handle: func(_ context.Context, events []event.Event) error {
		for _, ev := range events {
			heard <- ev.Subject
		}
		return nil
	}}})
	emit(t, d, b, event.Event{Type: "a", Subject: "own"})
	if n := count(t, d, "SELECT count(*) FROM event_delivery"); n != 0 {
		t.Errorf("%d deliveries for an event of the same process", n)
	}
	other, _ := newBus(d, time.Now)
	emit(t, d, other, event.Event{Type: "a", Subject: "strange"})
	b.Wake()
	j.await(t, "index done", 1)
	if got := <-heard; got != "strange" || len(heard) != 0 {
		t.Errorf("heard %s and %d more", got, len(heard))
	}
}
