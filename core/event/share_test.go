package event_test

import (
	"bufio"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
)

var (
	beginSpan = db.SQL("INSERT INTO span (event_id, process, began_at) VALUES (?, ?, ?)")
	endSpan   = db.SQL("UPDATE span SET ended_at = ? WHERE event_id = ? AND process = ? AND ended_at IS NULL")
	readSpans = db.SQL("SELECT event_id, process, began_at, coalesce(ended_at, 0) FROM span ORDER BY event_id, began_at")
)

// workerMain serves the subscriber "share" and writes down from when to when it
// handles each event. The one called "mortal" stands still from its thirtieth
// event on, in the middle of one or two, and says so.
func workerMain() {
	d := childDB()
	name := os.Getenv(childName)
	var handled atomic.Int64
	handle := func(ctx context.Context, events []event.Event) error {
		for _, ev := range events {
			if _, err := d.Exec(ctx, beginSpan, ev.ID, name, time.Now().UnixMicro()); err != nil {
				return err
			}
			if n := handled.Add(1); name == "mortal" && n >= 30 {
				if n == 30 {
					say("holds")
				}
				select {}
			}
			if _, err := d.Exec(ctx, endSpan, time.Now().UnixMicro(), ev.ID, name); err != nil {
				return err
			}
		}
		say("handled")
		return nil
	}
	b := event.New(d, event.Options{Lease: 4 * time.Second, Log: slog.New(slog.DiscardHandler), Observe: func(_, what string, _ int) {
		if what == "extended" {
			say(what)
		}
	}})
	check(b.Register([]event.Subscription{{Name: "share", Patterns: []string{"*"}, Batch: 3, Concurrency: 2, Handle: handle}}, nil))
	check(b.Start(context.Background()))
	say("started")
	select {}
}

// next reads a child's lines up to the n-th of that text.
func next(t *testing.T, lines *bufio.Scanner, text string, n int) {
	t.Helper()
	if !reaches(lines, text, n) {
		t.Fatalf("the child ended before %q", text)
	}
}

// reaches is next; it is false when the child ended before.
func reaches(lines *bufio.Scanner, text string, n int) bool {
	for n > 0 && lines.Scan() {
		if strings.TrimSpace(lines.Text()) == text {
			n--
		}
	}
	return n == 0
}

// TestTwoProcessesShareTheWork lets two processes work the deliveries of one
// subscriber. One stands still with deliveries in hand, which stay its own
// while it lives, then it is killed and the other takes over.
func TestTwoProcessesShareTheWork(t *testing.T) {
	c := db.Config{URL: testkit.Postgres(t)}
	d := open(t, c)
	mortal, doomed := child(t, c, "worker", "mortal")
	next(t, doomed, "started", 1)
	_, heir := child(t, c, "worker", "heir")
	next(t, heir, "started", 1)

	b, _ := newBus(d, time.Now)
	begin(t, b, nil)
	go func() {
		for heir.Scan() { // or it would stand still on a full pipe
			continue
		}
	}()
	holds := make(chan bool, 1)
	go func() { holds <- reaches(doomed, "holds", 1) }()
	events := 0
	some := func(n int) {
		for range n / 10 {
			emit(t, d, b, numbered(10)...)
			events += 10
		}
	}
	for held := false; !held; { // until then either may be the faster one
		some(10)
		select {
		case held = <-holds:
			if !held {
				t.Fatal("the child ended before it held anything")
			}
		default:
		}
	}
	some(500)
	left := func() int { return count(t, d, "SELECT count(*) FROM event_delivery") }
	testkit.Eventually(t, func() bool { return left() <= 6 })
	next(t, doomed, "extended", 5) // more than a lease, for each of two batches
	held := left()
	if held < 1 || held > 6 {
		t.Errorf("%d deliveries are held", held)
	}
	killed := time.Now().UnixMicro()
	must(t, mortal.Process.Kill())
	_ = mortal.Wait()
	testkit.Eventually(t, func() bool { return left() == 0 })

	byProcess, again := checkSpans(t, d, killed)
	if byProcess["mortal"] < 30 || byProcess["heir"] < 500-6 || len(byProcess) != 2 {
		t.Errorf("not shared: %v", byProcess)
	}
	if n := count(t, d, "SELECT count(DISTINCT event_id) FROM span WHERE ended_at IS NOT NULL"); n != events {
		t.Errorf("%d of %d events were handled to their end", n, events)
	}
	t.Logf("handled by each: %v; after the kill: %d held, %d handled again", byProcess, held, again)
}

// checkSpans tells who handled how much and fails when an event was handled by
// two at the same time. What the killed process did not end it held until then.
func checkSpans(t *testing.T, d *db.DB, killed int64) (byProcess map[string]int, again int) {
	t.Helper()
	rows, err := d.Query(t.Context(), readSpans)
	must(t, err)
	defer rows.Close()
	byProcess = map[string]int{}
	var last, until int64
	for rows.Next() {
		var id, began, ended int64
		var process string
		must(t, rows.Scan(&id, &process, &began, &ended))
		byProcess[process]++
		if id == last {
			again++
			if began < until {
				t.Errorf("event %d was begun by %s %d µs before another let go of it", id, process, until-began)
			}
		}
		if ended == 0 {
			ended = killed
		}
		last, until = id, ended
	}
	must(t, rows.Err())
	return byProcess, again
}
