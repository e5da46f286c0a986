package event_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/work"
)

func TestASubscriberMayComeLate(t *testing.T) {
	d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(t.TempDir(), "late.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if _, err := d.Migrate(t.Context(), []db.Source{work.Migrations(), event.Migrations()}); err != nil {
		t.Fatal(err)
	}
	bus := event.New(d, event.Options{Poll: 10 * time.Millisecond})
	got := make(chan string, 10)
	late := func(pattern string) event.Subscription {
		return event.Subscription{Name: "late", Patterns: []string{pattern}, Handle: func(_ context.Context, events []event.Event) error {
			for _, e := range events {
				got <- pattern + " " + e.Type
			}
			return nil
		}}
	}
	if err := bus.Serve(t.Context(), late("a.*")); err == nil {
		t.Error("a bus that does not run serves nobody")
	}
	if err := bus.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bus.Stop(context.Background()) }()
	emit := func(kind string) {
		if err := d.InTx(t.Context(), func(ctx context.Context) error { return bus.Emit(ctx, event.Event{Type: kind}) }); err != nil {
			t.Fatal(err)
		}
	}
	emit("a.before")
	for _, pattern := range []string{"a.*", "b.*"} { // the second time with other patterns
		if err := bus.Serve(t.Context(), late(pattern)); err != nil {
			t.Fatal(err)
		}
		emit(pattern[:2] + "x")
		if want, have := pattern+" "+pattern[:2]+"x", <-got; have != want {
			t.Errorf("got %s, want %s", have, want)
		}
	}
	if err := bus.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := bus.Serve(t.Context(), late("c.*")); err == nil {
		t.Error("a bus that has stopped serves somebody")
	}
}
