package db_test

import (
	"context"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestProcesses: each handle is one, however many connections it has, and a
// name that the operator gave is left alone.
func TestProcesses(t *testing.T) {
	url := testkit.Postgres(t, testkit.WithoutFsync())
	join := func(c db.Config) *db.DB {
		t.Helper()
		d, err := db.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	d := join(db.Config{URL: url, Version: "v1.0.0"})
	join(db.Config{URL: url})
	join(db.Config{URL: url, Version: strings.Repeat("9", 100) + " dirty"})
	join(db.Config{URL: url + "&application_name=mine", Version: "v3.0.0"})
	if err := d.InTx(t.Context(), func(context.Context) error { return d.Ping(t.Context()) }); err != nil { // two connections
		t.Fatal(err)
	}
	all, err := d.Processes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"v1.0.0": true, "(unknown)": false, strings.Repeat("9", 45): false}
	for _, p := range all {
		if own, known := want[p.Version]; !known || own != p.Own || !strings.Contains(p.Name, "@") {
			t.Errorf("%+v", p)
		}
		delete(want, p.Version)
	}
	if len(want) != 0 || len(all) != 3 {
		t.Errorf("%+v", all)
	}
	if alone := join(db.Config{Path: t.TempDir() + "/quoin.db"}); alone != nil {
		if all, err := alone.Processes(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%+v %v", all, err)
		}
	}
}
