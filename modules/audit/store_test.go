package audit

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
)

// engines are the databases of the tests.
func engines(t testing.TB, fn func(name string, s store)) {
	t.Helper()
	for name, c := range map[string]db.Config{"sqlite": {Path: filepath.Join(t.TempDir(), "quoin.db")}, "postgres": {URL: testkit.Postgres(t)}} {
		d, err := db.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		files, err := fs.Sub(migrations, "migrations")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Migrate(t.Context(), []db.Source{{Module: "audit", Files: files}}); err != nil {
			t.Fatal(err)
		}
		fn(name, store{d})
	}
}

// record adds n events, each a second after the one before, whose types take
// turns.
func record(t testing.TB, s store, n int, types ...string) {
	t.Helper()
	const batch = 5000
	for from := 0; from < n; from += batch {
		events := make([]event.Event, 0, batch)
		for i := from; i < min(n, from+batch); i++ {
			events = append(events, event.Event{
				ID: int64(i + 1), At: time.Unix(int64(i+1), 0), Actor: fmt.Sprint("user", i%3), Type: types[i%len(types)], Subject: fmt.Sprint("page:", i), Data: []byte(`{"from":"192.0.2.1"}`),
			})
		}
		if err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.add(ctx, events) }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestList(t *testing.T) {
	engines(t, func(name string, s store) {
		t.Run(name, func(t *testing.T) {
			if all, err := s.list(t.Context(), Query{Type: "a*", Size: 10}); err != nil || len(all) != 0 {
				t.Errorf("when nothing was recorded: %v, %v", all, err)
			}
			record(t, s, 12, "content.finalize", "content.delete", "Content.other", "content_x", "é.a", "%")
			for want, q := range map[string]Query{
				"12 11 10":     {Size: 3},
				"12 11 10 9":   {Type: "*", Size: 4},
				"8 7 2 1":      {Type: "content.*", Size: 10},
				"8 7 2":        {Type: "content.*", Size: 3},
				"10 8 7 4 2 1": {Type: "content*", Size: 10},
				"7 2":          {Type: "content.*", Size: 10, Before: 8, Since: time.Unix(2, 0)},
				"7 1":          {Type: "content.*", Actor: "user0", Size: 10},
				"8":            {Type: "content.*", Subject: "page:7", Size: 10},
				"2 1":          {Type: "content.*", Until: time.Unix(7, 0), Size: 10},
				"8 2":          {Type: "content.delete", Size: 10},
				"11 5":         {Type: "é*", Size: 10},
				"12 6":         {Type: "%*", Size: 10},
				"":             {Type: "content._*", Size: 10},
			} {
				all, err := s.list(t.Context(), q)
				if err != nil {
					t.Errorf("%+v: %v", q, err)
				}
				ids := make([]string, len(all))
				for i, e := range all {
					ids[i] = fmt.Sprint(e.ID)
					if e.From != "192.0.2.1" || e.Subject != fmt.Sprint("page:", e.ID-1) {
						t.Errorf("%+v", e)
					}
				}
				if got := strings.Join(ids, " "); got != want {
					t.Errorf("%+v: %s instead of %s", q, got, want)
				}
			}
		})
	})
}

// BenchmarkList asks a long trail for the newest of types that are frequent,
// rare or not there at all.
func BenchmarkList(b *testing.B) {
	engines(b, func(name string, s store) {
		types := slices.Repeat([]string{"content.finalize", "content.publish", "file.upload"}, 100)
		types[0] = "admin.user.create"
		record(b, s, 300_000, types...)
		for _, kind := range []string{"content.*", "admin.*", "config.*"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.list(b.Context(), Query{Type: kind, Size: 10}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
