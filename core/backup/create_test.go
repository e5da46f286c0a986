package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/backup"
	"github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/db"
)

// TestTwoBackupsIntoOneFile at once: the first that is complete is the backup,
// and the other does not touch it.
func TestTwoBackupsIntoOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := db.Open(t.Context(), db.Config{Path: filepath.Join(dir, "quoin.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	tables := db.Source{Module: "work", Files: os.DirFS("../work/migrations")}
	if _, err := d.Migrate(t.Context(), []db.Source{tables}); err != nil {
		t.Fatal(err)
	}
	blobs, err := place.Open(filepath.Join(dir, "files"), 0)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "quoin.zip")
	of := func(tell func(string)) *backup.Place {
		return &backup.Place{DB: d, Blobs: blobs, Modules: []backup.Module{{Name: tables.Module, Migrations: tables.Files}}, Version: "test", Tell: tell}
	}
	begun := false
	_, err = backup.Create(t.Context(), of(func(string) {
		if !begun {
			begun = true
			if _, err := backup.Create(t.Context(), of(nil), path); err != nil {
				t.Error(err)
			}
		}
	}), path)
	if !begun || err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("%v %v", begun, err)
	}
	a, err := backup.OpenArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if err := a.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}
