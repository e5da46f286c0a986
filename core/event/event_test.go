package event_test

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed testdata
var files embed.FS

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// each runs a test on SQLite and on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		fn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		fn(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())}))
	})
}

func open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d := migrated(t, c)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// migrated opens a database and leaves closing it to the caller.
func migrated(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), c)
	must(t, err)
	sub, err := fs.Sub(files, "testdata")
	must(t, err)
	_, err = d.Migrate(context.Background(), []db.Source{work.Migrations(), event.Migrations(), {Module: "thing", Files: sub}})
	must(t, err)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count runs a query that answers one number.
func count(t testing.TB, d *db.DB, query string, args ...any) (n int) {
	t.Helper()
	must(t, d.Row(t.Context(), db.SQL(query), args...).Scan(&n))
	return n
}

// journal hears what happens to deliveries and lets a test wait for it.
type journal struct {
	mu    sync.Mutex
	count map[string]int
	moved chan struct{} // closed and replaced at each entry
	text  bytes.Buffer
}

func newJournal() *journal {
	return &journal{count: map[string]int{}, moved: make(chan struct{})}
}

func (j *journal) observe(subscriber, what string, n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.count[subscriber+" "+what] += n
	close(j.moved)
	j.moved = make(chan struct{})
}

// Write takes the log.
func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

// await waits until something happened to n deliveries of a subscriber in all,
// such as "search done".
func (j *journal) await(t testing.TB, what string, n int) {
	t.Helper()
	j.until(t, what, func() bool { j.mu.Lock(); defer j.mu.Unlock(); return j.count[what] >= n })
}

func (j *journal) summary() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprintf("all: %v; log: %s", j.count, j.text.String())
}

// until waits until something holds, asking after each entry.
func (j *journal) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.After(3 * time.Minute) // only a failing test gets there
	for {
		j.mu.Lock()
		moved := j.moved
		j.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-moved:
		case <-limit:
			t.Fatalf("%s did not come true; %s", what, j.summary())
		}
	}
}

// newBus makes a bus that polls once an hour, so that only wakes move it.
func newBus(d *db.DB, now func() time.Time) (*event.Bus, *journal) {
	j := newJournal()
	return event.New(d, event.Options{Now: now, Poll: time.Hour, Grace: -1, Observe: j.observe, Log: slog.New(slog.NewTextHandler(j, nil))}), j
}

func begin(t testing.TB, b *event.Bus, durable []event.Subscription, live ...event.Live) {
	t.Helper()
	must(t, b.Register(durable, live))
	must(t, b.Start(t.Context()))
	t.Cleanup(func() { must(t, b.Stop(context.Background())) })
}

func emit(t testing.TB, d *db.DB, b *event.Bus, events ...event.Event) {
	t.Helper()
	must(t, d.InTx(t.Context(), func(ctx context.Context) error {
		for _, ev := range events {
			if err := b.Emit(ctx, ev); err != nil {
				return err
			}
		}
		return nil
	}))
}

// collector is a handler that keeps what it got.
type collector struct {
	mu     sync.Mutex
	events []event.Event
	sizes  []int
}

func (c *collector) handle(_ context.Context, events []event.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, events...)
	c.sizes = append(c.sizes, len(events))
	return nil
}

func (c *collector) subjects() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ev := range c.events {
		list = append(list, ev.Subject)
	}
	return list
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"content.finalize", "content.finalize", true}, {"content.finalize", "content.finalized", false},
		{"content.finalized", "content.finalize", false}, {"content.*", "content.finalize", true},
		{"content.published.*", "content.published.live", true}, {"content.published.*", "content.published.", true},
		{"content.published.*", "content.published", false}, {"*", "webhook_test", true}, {"content.*", "Content.x", false},
		{"é*", "été", true}, {"é*", "e", false}, {"é*", "éa", true}, {"content.publié.*", "content.publié.préview", true}, {"a_c", "abc", false}, {"a%", "abc", false},
	} {
		if got := event.Match(c.pattern, c.name); got != c.want {
			t.Errorf("%q %q: %t", c.pattern, c.name, got)
		}
	}
}

// The patterns must mean in SQL what they mean in Go.
func TestFanOutFollowsThePatterns(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, _ := newBus(d, testkit.NewClock(start).Now)
		patterns := []string{"content.finalize", "content.finalized", "content.*", "content.published.*", "*", "é*", "content.publié.*", "a_c", "a%", "webhook_test"}
		names := []string{"content.\U0010fffe", "content", "content/", "content.finalize", "content.finalized", "content.published.live", "content.published.", "content.published", "Content.x", "webhook_test", "été", "éa", "content.publié.préview", "abc", "a"}
		var subs []event.Subscription
		for _, p := range patterns {
			subs = append(subs, event.Subscription{Name: "of " + p, Patterns: []string{p}, Handle: func(ctx context.Context, _ []event.Event) error { <-ctx.Done(); return ctx.Err() }})
		}
		begin(t, b, subs)
		for _, name := range names {
			emit(t, d, b, event.Event{Type: name})
			for _, p := range patterns {
				n := count(t, d, "SELECT count(*) FROM event_delivery d JOIN event e ON e.id = d.event_id WHERE e.type = ? AND d.queue = ?", name, "of "+p)
				if (n == 1) != event.Match(p, name) || n > 1 {
					t.Errorf("%q fits %q: %d deliveries", p, name, n)
				}
			}
		}
	})
}

func TestEventArrivesAsItWasEmitted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		b, j := newBus(d, clock.Now)
		var c collector
		var alive []event.Event
		begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"content.*", "content.finalize", "x"}, Handle: c.handle}},
			event.Live{Name: "l", Patterns: []string{"content.*"}, Deliver: func(e []event.Event) { alive = append(alive, e...) }})
		full := event.Event{Type: "content.finalize", Subject: "page:1", Data: json.RawMessage(`{"b":1.0,  "a":[{},"é"]}`),
			At: start.Add(-time.Hour + 999), Actor: "admin", RequestID: "r1"}
		emit(t, d, b, full, event.Event{Type: "content.delete"}, event.Event{Type: "other"})
		j.await(t, "s done", 2)
		if len(c.events) != 2 || !slices.Equal(c.sizes, []int{2}) {
			t.Fatalf("%+v in %v", c.events, c.sizes)
		}
		full.ID, full.At = c.events[0].ID, start.Add(-time.Hour)
		bare := event.Event{ID: c.events[1].ID, Type: "content.delete", Data: json.RawMessage("null"), At: start}
		for i, want := range []event.Event{full, bare} {
			for _, got := range []event.Event{c.events[i], alive[i]} {
				a, _ := json.Marshal(want)
				z, _ := json.Marshal(got)
				if !bytes.Equal(a, z) || !bytes.Equal(want.Data, got.Data) || got.ID == 0 {
					t.Errorf("got  %s\nwant %s", z, a)
				}
			}
		}
		if c.events[0].ID == c.events[1].ID {
			t.Error("two events have one id")
		}
	})
}

func TestEmitRefuses(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, _ := newBus(d, time.Now)
		if err := b.Emit(t.Context(), event.Event{Type: "a"}); err == nil || !strings.Contains(err.Error(), "outside a transaction") {
			t.Error(err)
		}
		for _, name := range []string{"", "a b", "a\n", "a*", strings.Repeat("a", 513), "a\xff", "a\U0010ffff"} {
			err := d.InTx(t.Context(), func(ctx context.Context) error { return b.Emit(ctx, event.Event{Type: name}) })
			if err == nil {
				t.Errorf("%q was emitted", name)
			}
		}
		if n := count(t, d, "SELECT count(*) FROM event"); n != 0 {
			t.Errorf("%d events", n)
		}
	})
}

func TestRolledBackEventsNeverHappened(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, j := newBus(d, time.Now)
		var c collector
		told := 0
		begin(t, b, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: c.handle}},
			event.Live{Name: "l", Patterns: []string{"*"}, Deliver: func(e []event.Event) { told += len(e) }})
		err := d.InTx(t.Context(), func(ctx context.Context) error {
			must(t, b.Emit(ctx, event.Event{Type: "a", Subject: "undone"}))
			return context.DeadlineExceeded
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		emit(t, d, b, event.Event{Type: "a", Subject: "kept"})
		j.await(t, "s done", 1)
		if got := c.subjects(); !slices.Equal(got, []string{"kept"}) || told != 1 {
			t.Errorf("%v, %d told", got, told)
		}
		if n := count(t, d, "SELECT count(*) FROM event"); n != 1 {
			t.Errorf("%d events", n)
		}
	})
}

// On SQLite live subscribers hear in the order of commits, which is that of ids.
func TestLiveHearsInTheOrderOfCommits(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		b, _ := newBus(d, time.Now)
		var heard []int64
		begin(t, b, nil, event.Live{Name: "l", Patterns: []string{"a"}, Deliver: func(events []event.Event) {
			for _, ev := range events {
				heard = append(heard, ev.ID)
			}
			panic("and it goes on")
		}})
		var writers sync.WaitGroup
		for range 8 {
			writers.Go(func() {
				for range 25 {
					if err := d.InTx(t.Context(), func(ctx context.Context) error {
						return b.Emit(ctx, event.Event{Type: "a"})
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		if len(heard) != 200 || d.Dialect() == db.SQLite && !slices.IsSorted(heard) {
			t.Errorf("%d: %v", len(heard), heard)
		}
		slices.Sort(heard)
		if n := len(slices.Compact(heard)); n != 200 {
			t.Errorf("%d different ids", n)
		}
	})
}

func TestRegisterRefuses(t *testing.T) {
	nothing := func(context.Context, []event.Event) error { return nil }
	b := event.New(nil, event.Options{})
	err := b.Register([]event.Subscription{
		{Name: "good", Patterns: []string{"a", "b.*", "*"}, Handle: nothing},
		{Name: "good", Patterns: []string{"a"}, Handle: nothing},
		{Name: "", Patterns: []string{"a"}, Handle: nothing},
		{Name: "no handler", Patterns: []string{"a"}},
		{Name: "no patterns", Handle: nothing},
		{Name: "bad patterns", Patterns: []string{"*a", "", "a b"}, Handle: nothing},
	}, []event.Live{{Name: "live", Patterns: []string{"a"}}, {Name: "live", Patterns: []string{"**"}, Deliver: func([]event.Event) {}}})
	for _, part := range []string{`two subscribers "good"`, `"no handler"`, `"no patterns"`, `"*a"`, `pattern ""`, `"a b"`, `live subscriber "live"`, `"**"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s is not in: %v", part, err)
		}
	}
}

func TestCatalogue(t *testing.T) {
	good := []event.Type{
		{Name: "content.published.<environment>", Doc: "A document is published.", Sample: json.RawMessage(`{}`), Schema: event.Object()},
		{Name: "content.delete", Doc: "A document is deleted.", Sample: json.RawMessage(`{}`), Schema: event.Object("ouuid string", "raw_data object|null", "names [string]")},
	}
	types, err := event.Catalogue(good)
	if err != nil || len(types) != 2 || types[0].Name != "content.delete" {
		t.Errorf("%v, %v", types, err)
	}
	for want, bad := range map[string]event.Type{
		"twice": good[0], "empty": {Doc: "x", Sample: json.RawMessage("1")}, "description": {Name: "x", Sample: json.RawMessage("1")}, "sample": {Name: "x", Doc: "x"},
		"Schema": {Name: "x", Doc: "x", Sample: json.RawMessage("1")},
	} {
		if _, err := event.Catalogue(append(good, bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
