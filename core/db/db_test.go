package db_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

//go:embed testdata
var files embed.FS

var (
	insertNote = db.SQL("INSERT INTO note (slug, body, done) VALUES (?, ?, ?) RETURNING id")
	insertTag  = db.SQL("INSERT INTO tag (note_id, name) VALUES (?, ?)")
	noteBySlug = db.SQL("SELECT id, body, done FROM note WHERE slug = ?")
	countNotes = db.SQL("SELECT count(*) FROM note")
	countTags  = db.SQL("SELECT count(*) FROM tag WHERE name = ?")
	markDone   = db.SQL("UPDATE note SET done = ? WHERE slug = ?")
)

func sources(t *testing.T) []db.Source {
	t.Helper()
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	return []db.Source{{Module: "note", Files: sub}}
}

// each runs a test on SQLite and on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		fn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		fn(t, open(t, db.Config{URL: testkit.Postgres(t)}))
	})
}

func open(t *testing.T, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.Migrate(t.Context(), sources(t)); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTransactionKeepsAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		wrong := errors.New("no")
		var committed, undone atomic.Bool
		err := d.InTx(ctx, func(ctx context.Context) error {
			var id int64
			if err := d.Row(ctx, insertNote, "a", "x", true).Scan(&id); err != nil {
				return err
			}
			db.AfterCommit(ctx, func() { committed.Store(true) })
			return d.InTx(ctx, func(ctx context.Context) error { return d.Queue(ctx, insertTag, id, "t") })
		})
		if err != nil || !committed.Load() {
			t.Fatalf("commit: %v, after-commit ran: %v", err, committed.Load())
		}
		err = d.InTx(ctx, func(ctx context.Context) error {
			var id int64
			if err := d.Row(ctx, insertNote, "b", "x", false).Scan(&id); err != nil {
				return err
			}
			db.AfterCommit(ctx, func() { undone.Store(true) })
			return wrong
		})
		if !errors.Is(err, wrong) || undone.Load() {
			t.Fatalf("rollback: %v, after-commit ran: %v", err, undone.Load())
		}
		var id int64
		var body []byte
		var done bool
		if err := d.Row(ctx, noteBySlug, "a").Scan(&id, &body, &done); err != nil || string(body) != "x" || !done {
			t.Errorf("read: %d %q %v %v", id, body, done, err)
		}
		if err := d.Row(ctx, noteBySlug, "b").Scan(&id, &body, &done); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("a rolled back row is there: %v", err)
		}
	})
}

func TestATransactionWithAFailedStatementIsNotCommitted(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		err := d.InTx(ctx, func(ctx context.Context) error {
			var id int64
			if err := d.Row(ctx, insertNote, "first", "x", false).Scan(&id); err != nil {
				return err
			}
			if err := d.Row(ctx, insertNote, "first", "x", false).Scan(&id); !db.IsUnique(err) {
				t.Errorf("the second insert gives %v", err)
			}
			return nil // as if nothing had happened
		})
		if err == nil {
			t.Error("it was committed")
		}
		var n int
		if err := d.Row(ctx, countNotes).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d notes, %v", n, err)
		}
	})
}

func TestErrorsOfQueuedStatementsSurface(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		err := d.InTx(ctx, func(ctx context.Context) error {
			if err := d.Queue(ctx, insertTag, 1, "lost"); err != nil {
				return err
			}
			return d.Queue(ctx, insertTag, nil, "null is refused")
		})
		if err == nil {
			t.Fatal("a failing queued statement was swallowed")
		}
		var n int
		if err := d.Row(ctx, countTags, "lost").Scan(&n); err != nil || n != 0 {
			t.Errorf("half of a transaction is kept: %d %v", n, err)
		}
		if err := d.Queue(ctx, insertTag, 1, "x"); err == nil {
			t.Error("Queue outside a transaction must be refused")
		}
	})
}

func TestUniqueViolationAndPanicLeaveOthersAlone(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var wg sync.WaitGroup
		var won, lost, panicked, others atomic.Int32
		for i := range 40 {
			wg.Go(func() {
				err := d.InTx(ctx, func(ctx context.Context) error {
					var id int64
					if i%10 == 9 {
						panic("boom")
					}
					slug := "same"
					if i%2 == 1 {
						slug = fmt.Sprint("own-", i)
					}
					return d.Row(ctx, insertNote, slug, "x", false).Scan(&id)
				})
				switch {
				case err == nil && i%2 == 1:
					others.Add(1)
				case err == nil:
					won.Add(1)
				case db.IsUnique(err):
					lost.Add(1)
				case strings.Contains(err.Error(), "boom"):
					panicked.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 19 || panicked.Load() != 4 || others.Load() != 16 {
			t.Errorf("won %d, lost %d, panicked %d, others %d", won.Load(), lost.Load(), panicked.Load(), others.Load())
		}
		var n int
		if err := d.Row(ctx, countNotes).Scan(&n); err != nil || n != 17 {
			t.Errorf("%d notes, %v", n, err)
		}
	})
}

func TestEachAnswersInOrderAndBunJoins(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		err := d.InTx(ctx, func(ctx context.Context) error {
			for i := range 5 {
				if err := d.Queue(ctx, db.SQL("INSERT INTO note (slug, body) VALUES (?, 'b')"), fmt.Sprint("s", i)); err != nil {
					return err
				}
			}
			h, err := d.Bun(ctx)
			if err != nil {
				return err
			}
			n, err := h.NewSelect().Table("note").Where("slug LIKE ?", "s%").Count(ctx)
			if n != 5 {
				t.Errorf("Bun sees %d rows inside the transaction", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		read := func(ctx context.Context) error {
			return d.Each(ctx, noteBySlug, [][]any{{"s3"}, {"none"}, {"s1"}}, func(i int, rows db.Rows) error {
				for rows.Next() {
					var id int64
					var body string
					var done bool
					if err := rows.Scan(&id, &body, &done); err != nil {
						return err
					}
					got = append(got, fmt.Sprint(i, body))
				}
				return rows.Err()
			})
		}
		if err := errors.Join(read(ctx), d.InTx(ctx, read)); err != nil || strings.Join(got, " ") != "0b 2b 0b 2b" {
			t.Errorf("%v %v", got, err)
		}
		if n, err := d.Exec(ctx, markDone, true, "s1"); n != 1 || err != nil {
			t.Errorf("Exec outside a transaction: %d %v", n, err)
		}
	})
}

func TestMigrationsRunOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		if ran, err := d.Migrate(ctx, sources(t)); err != nil || len(ran) != 0 {
			t.Errorf("ran again: %v %v", ran, err)
		}
		if p, err := d.Pending(ctx, sources(t)); err != nil || len(p) != 0 {
			t.Errorf("pending: %v %v", p, err)
		}
		all, err := d.Migrations(ctx, sources(t))
		if err != nil || len(all) != 1 || !all[0].Applied || all[0].Name != "001_init" {
			t.Errorf("status: %+v %v", all, err)
		}
	})
}

func TestLockIsExclusive(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		release, err := d.Lock(t.Context(), "serve")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Lock(t.Context(), "serve"); !errors.Is(err, db.ErrLocked) {
			t.Fatalf("taken twice: %v", err)
		}
		release()
		testkit.Eventually(t, func() bool {
			again, err := d.Lock(t.Context(), "serve")
			if err == nil {
				again()
			}
			return err == nil
		})
	})
}

// Who holds a lock hears when the database ends the connection, and only then.
func TestHoldTellsOfALoss(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		lost, release, err := d.Hold(t.Context(), "serve")
		if err != nil {
			t.Fatal(err)
		}
		if d.Dialect() == db.Postgres {
			end := db.SQL(`SELECT count(pg_terminate_backend(pid)) FROM pg_locks
				WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
			var n int
			if err := d.Row(t.Context(), end).Scan(&n); err != nil || n != 1 {
				t.Fatal(n, err)
			}
			<-lost
			release()
			testkit.Eventually(t, func() bool {
				lost, release, err = d.Hold(t.Context(), "serve")
				return err == nil
			})
		}
		release()
		select {
		case <-lost:
			t.Error("a lock that was released counts as lost")
		default:
		}
	})
}

func BenchmarkInsertGroup(b *testing.B) {
	d, err := db.Open(b.Context(), db.Config{Path: filepath.Join(b.TempDir(), "quoin.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	sub, _ := fs.Sub(files, "testdata")
	if _, err := d.Migrate(b.Context(), []db.Source{{Module: "note", Files: sub}}); err != nil {
		b.Fatal(err)
	}
	body := strings.Repeat("x", 1000)
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			slug := fmt.Sprintf("s%09d", n.Add(1))
			err := d.InTx(b.Context(), func(ctx context.Context) error {
				var id int64
				return d.Row(ctx, insertNote, slug, body, false).Scan(&id)
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkReadByKey(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { readByKey(b, db.Config{Path: filepath.Join(b.TempDir(), "quoin.db")}) })
	b.Run("postgres", func(b *testing.B) { readByKey(b, db.Config{URL: testkit.Postgres(b), AnswerWithin: time.Minute}) })
}

func readByKey(b *testing.B, c db.Config) {
	d, err := db.Open(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	sub, _ := fs.Sub(files, "testdata")
	if _, err := d.Migrate(b.Context(), []db.Source{{Module: "note", Files: sub}}); err != nil {
		b.Fatal(err)
	}
	if _, err := d.Exec(b.Context(), db.SQL("INSERT INTO note (slug, body) VALUES (?, ?)"), "k", strings.Repeat("x", 1000)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var id int64
		var body []byte
		var done bool
		if err := d.Row(b.Context(), noteBySlug, "k").Scan(&id, &body, &done); err != nil {
			b.Fatal(err)
		}
	}
}

// TestADeadlockIsNobodysError: of two transactions that wait for each other one
// is ended by PostgreSQL and begun again.
func TestADeadlockIsNobodysError(t *testing.T) {
	d := open(t, db.Config{URL: testkit.Postgres(t)})
	for _, slug := range []string{"a", "b"} {
		if err := d.InTx(t.Context(), func(ctx context.Context) error { return d.Row(ctx, insertNote, slug, "", false).Scan(new(int64)) }); err != nil {
			t.Fatal(err)
		}
	}
	var both, all sync.WaitGroup
	both.Add(2)
	var runs atomic.Int32
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		arrived := sync.OnceFunc(both.Done)
		all.Go(func() {
			err := d.InTx(t.Context(), func(ctx context.Context) error {
				runs.Add(1)
				if _, err := d.Exec(ctx, markDone, true, order[0]); err != nil {
					return err
				}
				arrived()
				both.Wait()
				_, err := d.Exec(ctx, markDone, true, order[1])
				return err
			})
			if err != nil {
				t.Errorf("%v: %v", order, err)
			}
		})
	}
	all.Wait()
	if n := runs.Load(); n < 3 {
		t.Errorf("they ran %d times in all: there was no deadlock", n)
	}
}
