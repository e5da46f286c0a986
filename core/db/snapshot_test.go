package db_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
)

// TestSnapshot: what others commit while it is open is not seen, what was there
// is, and nothing can be written.
func TestSnapshot(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Migrate(t.Context(), sources(t)); err != nil {
			t.Fatal(err)
		}
		add := func(ctx context.Context, slug string) error {
			return d.InTx(ctx, func(ctx context.Context) error {
				var id int64
				return d.Row(ctx, insertNote, slug, "", false).Scan(&id)
			})
		}
		count := func(ctx context.Context) (n int, err error) {
			err = d.Row(ctx, countNotes).Scan(&n)
			return n, err
		}
		if err := add(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		err := d.Snapshot(t.Context(), func(ctx context.Context) error {
			if n, err := count(ctx); n != 1 || err != nil {
				t.Errorf("%d %v", n, err)
			}
			for i := range 3 {
				if err := add(t.Context(), fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
			if n, err := count(ctx); n != 1 || err != nil {
				t.Errorf("%d rows after others wrote: %v", n, err)
			}
			if n, err := count(t.Context()); n != 4 || err != nil {
				t.Errorf("outside: %d %v", n, err)
			}
			if _, err := d.Exec(ctx, insertTag, 1, "x"); err == nil {
				t.Error("written in a snapshot")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
