package db_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
)

// endsAll is what a full disk does to SQLite: the statement fails and takes the
// whole transaction with it.
var endsAll = db.SQL("INSERT OR ROLLBACK INTO note (slug, body, done) VALUES (?, ?, ?)")

// TestWhatSQLiteRolledBackByItselfIsNotHalfCommitted puts three transactions
// into one commit. The last one fails, so all run again, and then the first one
// loses what SQLite holds for all of them.
func TestWhatSQLiteRolledBackByItselfIsNotHalfCommitted(t *testing.T) {
	d := open(t, db.Config{Path: filepath.Join(t.TempDir(), "group.db")})
	ctx := t.Context()
	add := func(ctx context.Context, slug string) error {
		_, err := d.Exec(ctx, insertTag, 1, slug)
		return err
	}
	err := d.InTx(ctx, func(ctx context.Context) error {
		var id int64
		return d.Row(ctx, insertNote, "taken", "x", false).Scan(&id)
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	runs := 0
	group := []func(context.Context) error{
		func(ctx context.Context) error {
			if runs++; runs == 1 {
				return add(ctx, "first")
			}
			_, err := d.Exec(ctx, endsAll, "taken", "x", false)
			return err
		},
		func(ctx context.Context) error { return add(ctx, "second") },
		func(ctx context.Context) error { return errors.Join(add(ctx, "third"), refused) },
	}
	errs := d.TogetherForTest(ctx, group)
	if !db.IsUnique(errs[0]) || !errors.Is(errs[2], refused) || runs != 2 {
		t.Errorf("%v in %d runs", errs, runs)
	}
	var kept int
	if err := d.Row(ctx, countTags, "second").Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if (errs[1] == nil) != (kept == 1) {
		t.Errorf("the transaction between them was told %v, and %d of its rows are there", errs[1], kept)
	}
	if err := d.InTx(ctx, func(ctx context.Context) error { return add(ctx, "later") }); err != nil {
		t.Error(err)
	}
	if errs[1] != nil && !strings.HasPrefix(errs[1].Error(), "commit: ") {
		t.Error(errs[1])
	}
}
