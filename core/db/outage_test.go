package db_test

import (
	"context"
	"testing"

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
	all := map[string]func(ctx context.Context) error{
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
	server.Stop()
	for range 2 { // connections that break, then none that can be had
		for name, do := range all {
			err := do(t.Context())
			if p := problem.From(err); p.Kind != problem.Unavailable || p.RetryAfter <= 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
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
