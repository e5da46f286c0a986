package db_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/quoin-cms/quoin/core/db"
)

// later are the migrations of later releases: the second one stops using body,
// the third one takes it away.
func later(t *testing.T, n int) []db.Source {
	t.Helper()
	files := fstest.MapFS{}
	for i, migration := range []struct{ name, sql string }{
		{"001_init.tx.up.sql", ""},
		{"002_text.tx.up.sql", "ALTER TABLE note ADD COLUMN text TEXT NOT NULL DEFAULT ''"},
		{"003_contract_002_body.tx.up.sql", "ALTER TABLE note DROP COLUMN body"},
	} {
		for _, dialect := range []string{"sqlite", "postgres"} {
			path := dialect + "/" + migration.name
			text := []byte(migration.sql)
			if migration.sql == "" {
				var err error
				if text, err = fs.ReadFile(sources(t)[0].Files, path); err != nil {
					t.Fatal(err)
				}
			}
			if i < n {
				files[path] = &fstest.MapFile{Data: text}
			}
		}
	}
	return []db.Source{{Module: "note", Files: files}}
}

// TestAnOlderProgramOnANewerDatabase: it goes on when something was added, and
// when something was taken away that it does not use, and stops otherwise.
func TestAnOlderProgramOnANewerDatabase(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		first, second, third := later(t, 1), later(t, 2), later(t, 3)
		check := func(after string, program []db.Source, newer []string, refused bool) {
			t.Helper()
			found, err := d.Newer(ctx, program)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, n := range found {
				names = append(names, n.Name+" "+n.Kind())
			}
			if !slices.Equal(names, newer) {
				t.Errorf("after %s: newer are %v, want %v", after, names, newer)
			}
			err = d.Compatible(ctx, program)
			if errors.Is(err, db.ErrTooNew) != refused || !refused && err != nil {
				t.Errorf("after %s: %v", after, err)
			}
			if refused && (!strings.Contains(err.Error(), "migration 003 of note") || !strings.Contains(err.Error(), "restore a backup")) {
				t.Errorf("the message does not help: %v", err)
			}
			if _, again := d.Migrate(ctx, program); errors.Is(again, db.ErrTooNew) != refused {
				t.Errorf("after %s, to migrate: %v", after, again)
			}
		}
		check("the same release", first, nil, false)
		if ran, err := d.Migrate(ctx, second); err != nil || len(ran) != 1 || ran[0].Kind != "expand" {
			t.Fatalf("%v %v", ran, err)
		}
		check("an expansion", first, []string{"002 expand"}, false)
		if _, err := d.Exec(ctx, db.SQL("INSERT INTO note (slug, body, done) VALUES ('old', 'x', false)")); err != nil {
			t.Errorf("the older program cannot write: %v", err)
		}
		if ran, err := d.Migrate(ctx, third); err != nil || len(ran) != 1 || ran[0].Kind != "contract" || !ran[0].Applied {
			t.Fatalf("%v %v", ran, err)
		}
		check("a contraction", second, []string{"003 contract"}, false)
		check("a contraction", first, []string{"002 expand", "003 contract"}, true)
		check("a contraction", third, nil, false)
	})
}

// TestABrokenContractionHoldsOlderProgramsBack: it may have taken away
// something, or take it away when it is tried again.
func TestABrokenContractionHoldsOlderProgramsBack(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		broken := later(t, 3)
		for _, dialect := range []string{"sqlite", "postgres"} {
			broken[0].Files.(fstest.MapFS)[dialect+"/003_contract_002_body.tx.up.sql"].Data = []byte("ALTER TABLE nothing DROP COLUMN body")
		}
		if _, err := d.Migrate(t.Context(), broken); err == nil {
			t.Fatal("it was meant to fail")
		}
		if err := d.Compatible(t.Context(), later(t, 1)); !errors.Is(err, db.ErrTooNew) {
			t.Errorf("%v", err)
		}
		if _, err := d.Migrate(t.Context(), later(t, 3)); err != nil {
			t.Errorf("a second try: %v", err)
		}
	})
}
