package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestAnOutageIsAProblemThatPasses: whatever is asked of a PostgreSQL that is
// away is answered as Unavailable, with when to come back, and works once it is
// back. What is wrong with a statement stays what it was.
func TestAnOutageIsAProblemThatPasses(t *testing.T) {
	server := testkit.StartPostgres(t)
	d := open(t, db.Config{URL: server.URL()})
	all := everythingAsked(d)
	server.Stop()
	for range 2 { // connections that break, then none that can be had
		unavailable(t, all)
	}
	server.Start()
	for name, do := range all {
		if err := do(t.Context()); err != nil {
			t.Errorf("%s, after it has come back: %v", name, err)
		}
	}
	if _, err := d.Exec(t.Context(), db.SQL("INSERT INTO nothing (a) VALUES (1)")); err == nil || problem.Is(err, problem.Unavailable) {
		t.Errorf("%v", err)
	}
}

// TestAServerThatHangs: a PostgreSQL that keeps its connections and says nothing
// more is one that is away.
func TestAServerThatHangs(t *testing.T) {
	t.Parallel()
	server := testkit.StartPostgres(t)
	d := open(t, db.Config{URL: server.URL(), AnswerWithin: 5 * time.Second})
	all := everythingAsked(d)
	server.Freeze()
	for range 2 { // connections that are open, then those that are not made
		unavailable(t, all)
	}
	err := d.InTx(t.Context(), func(ctx context.Context) error { return d.Queue(ctx, markDone, true, "none") })
	if !problem.Is(err, problem.Unavailable) {
		t.Errorf("commit: %v", err)
	}
	server.Thaw()
	for name, do := range all {
		if err := do(t.Context()); err != nil {
			t.Errorf("%s, after it has come back: %v", name, err)
		}
	}
}

// TestSilenceThatIsMeant: who waits for notifications, or ends a statement
// himself, is not told that the server hangs.
func TestSilenceThatIsMeant(t *testing.T) {
	t.Parallel()
	url := testkit.Postgres(t)
	short, long := open(t, db.Config{URL: url, AnswerWithin: 5 * time.Second}), open(t, db.Config{URL: url})
	heard := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- short.Listen(ctx, "silence", func(payload string) { heard <- payload }) }()
	<-heard
	pause := db.SQL("SELECT 1 FROM pg_sleep(10)")
	if err := short.Row(t.Context(), pause).Scan(new(int)); !problem.Is(err, problem.Unavailable) {
		t.Errorf("a statement that is silent for too long: %v", err)
	}
	if err := long.Row(t.Context(), pause).Scan(new(int)); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	if err := long.Notify(t.Context(), "silence", "still there"); err != nil {
		t.Fatal(err)
	}
	select {
	case payload := <-heard:
		if payload != "still there" {
			t.Errorf("heard %q", payload)
		}
	case err := <-ended:
		t.Errorf("it no longer listens: %v", err)
	}
	canceled, cancelNow := context.WithCancel(t.Context())
	go cancelNow()
	patient := open(t, db.Config{URL: url, AnswerWithin: time.Hour})
	if err := patient.Row(canceled, db.SQL("SELECT 1 FROM pg_sleep(3600)")).Scan(new(int)); !errors.Is(err, context.Canceled) {
		t.Errorf("a statement whose caller has gone: %v", err)
	}
}

// unavailable expects that everything fails as it should in an outage.
func unavailable(t *testing.T, all map[string]func(ctx context.Context) error) {
	t.Helper()
	var asked sync.WaitGroup
	for name, do := range all {
		asked.Go(func() {
			err := do(t.Context())
			if p := problem.From(err); p.Kind != problem.Unavailable || p.RetryAfter <= 0 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	asked.Wait()
}

// everythingAsked is one of each kind of thing that is asked of a database.
func everythingAsked(d *db.DB) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"a row":   func(ctx context.Context) error { return d.Row(ctx, countNotes).Scan(new(int)) },
		"a write": func(ctx context.Context) error { _, err := d.Exec(ctx, markDone, true, "none"); return err },
		"a transaction that reads": func(ctx context.Context) error {
			return d.InTx(ctx, func(ctx context.Context) error { return d.Row(ctx, countNotes).Scan(new(int)) })
		},
		"rows": func(ctx context.Context) error {
			rows, err := d.Query(ctx, countNotes)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return rows.Err()
		},
		"each": func(ctx context.Context) error {
			return d.Each(ctx, countTags, [][]any{{"a"}}, func(int, db.Rows) error { return nil })
		},
		"a lock": func(ctx context.Context) error {
			release, err := d.Lock(ctx, "any")
			if err == nil {
				release()
			}
			return err
		},
	}
}
