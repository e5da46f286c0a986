package db_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/telemetry/tracetest"
	"github.com/quoin-cms/quoin/core/testkit"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSpansOfStatements: each statement is a span below its transaction or
// request, with its text and without values.
func TestSpansOfStatements(t *testing.T) {
	for engine, config := range map[string]func() db.Config{
		"sqlite":     func() db.Config { return db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")} },
		"postgresql": func() db.Config { return db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())} },
	} {
		t.Run(engine, func(t *testing.T) {
			c := tracetest.New(t)
			tracing, err := telemetry.NewTracing(t.Context(), c.Config(), "", slog.New(slog.DiscardHandler))
			must(t, err)
			defer func() { _ = tracing.Stop(context.Background()) }()
			with := config()
			with.Traced = true
			d := open(t, with)
			insert, read := db.SQL("INSERT INTO tag (note_id, name) VALUES (1, ?)"), db.SQL("SELECT name FROM tag WHERE name = ?")
			_, err = d.Exec(t.Context(), insert, "untraced")
			must(t, err)

			ctx, request := tracing.Begin(t.Context(), "", "request", telemetry.Serves)
			must(t, d.InTx(ctx, func(ctx context.Context) error { return d.Queue(ctx, insert, "s3cret") }))
			var name string
			must(t, d.Row(ctx, read, "s3cret").Scan(&name))
			if d.Row(ctx, read, "nothing").Scan(&name) == nil {
				t.Error("there is a row")
			}
			rows, err := d.Query(ctx, read, "s3cret")
			must(t, err)
			rows.Close()
			rows.Close()
			b, err := d.Bun(ctx)
			must(t, err)
			must(t, b.NewSelect().Table("tag").Column("name").Where("name = ?", "s3cret").Scan(ctx, &name))
			if _, err := d.Exec(ctx, insert, nil); err == nil {
				t.Error("NULL is taken")
			}
			request.End(nil)

			all := c.Wait(t, func(all []tracetest.Span) bool { return tracetest.Named(all, "request") != nil })
			count, failed := map[string]int{}, 0
			for _, s := range all {
				count[s.Name]++
				if s.Failed {
					failed++
				}
				if s.Name != "request" && s.Attributes["db.system.name"] != engine {
					t.Errorf("%+v", s)
				}
				for k, v := range s.Attributes {
					if strings.Contains(v, "s3cret") {
						t.Errorf("%s tells %s=%s", s.Name, k, v)
					}
				}
			}
			if count["transaction"] != 2 || count["INSERT"] < 2 || count["SELECT"] != 4 || failed < 2 { // SQLite runs a transaction that failed once more
				t.Errorf("%v, %d failed\n%s", count, failed, tracetest.List(all))
			}
		})
	}
}
