package db_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
)

var (
	// slowRead takes longer than a commit.
	slowRead = db.SQL(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT count(*) FROM n, note`)
	setBody  = db.SQL("UPDATE note SET body = ? WHERE slug = ?")
)

// Reads that overlap, so that there is always one, do not make the log of
// SQLite grow without end.
func TestTheLogStaysSmallUnderReaders(t *testing.T) {
	db.WaitForReaders(t, "10000") // on a busy machine a short read takes long
	path := filepath.Join(t.TempDir(), "quoin.db")
	d := open(t, db.Config{Path: path})
	write := func(st *db.Statement, args ...any) {
		if err := d.InTx(t.Context(), func(ctx context.Context) error { return d.Queue(ctx, st, args...) }); err != nil {
			t.Fatal(err)
		}
	}
	write(insertNote, "a", "", false)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				var n int64
				if err := d.Row(t.Context(), slowRead).Scan(&n); err != nil || n != 5000 {
					t.Errorf("read %d: %v", n, err)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	var largest int64
	for i := range 120 {
		write(setBody, strings.Repeat(string(rune('a'+i%20)), 1<<20), "a") // what is not changed is not written
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, info.Size())
	}
	close(stop)
	readers.Wait()
	if largest > 100<<20 {
		t.Errorf("the log grew to %d MB", largest>>20)
	}
}
