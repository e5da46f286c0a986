package search_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// baseFiles are the base files of a server.
func baseFiles(t *testing.T, vars []string) []string {
	t.Helper()
	for _, v := range vars {
		if dir, ok := strings.CutPrefix(v, "QUOIN_SERVER__DATA="); ok {
			list, err := filepath.Glob(filepath.Join(dir, "search", "*"))
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
	}
	t.Fatal("the server has no folder")
	return nil
}

// TestRestored starts servers on files that are old, damaged, missing or made
// with other settings: what they answer is always what is in the database.
func TestRestored(t *testing.T) {
	const everything = `{"sort":["_id","_index"],"aggs":{"c":{"terms":{"field":"category"}}}}`
	for _, c := range []struct {
		name   string
		builds int64
		harm   func(t *testing.T, file string)
	}{
		{"whole", 0, func(*testing.T, string) {}},
		{"missing", 1, func(t *testing.T, file string) { remove(t, file) }},
		{"cut", 1, func(t *testing.T, file string) { change(t, file, func(b []byte) []byte { return b[:len(b)/2] }) }},
		{"empty", 1, func(t *testing.T, file string) { change(t, file, func([]byte) []byte { return nil }) }},
		{"flipped", 1, func(t *testing.T, file string) {
			change(t, file, func(b []byte) []byte {
				b[len(b)/2] ^= 1
				return b
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			vars := []string{"QUOIN_SERVER__DATA=" + t.TempDir()}
			s := site(t, vars...)
			before := s.search("admin", everything).is(200)
			s.stop()
			list := baseFiles(t, vars)
			if len(list) != 2 {
				t.Fatalf("files %q", list)
			}
			for _, file := range list {
				c.harm(t, file)
			}
			// What was left by a crash goes, and what is of no index.
			for _, name := range []string{"old.base", "quoin_live.base.123.tmp"} {
				change(t, filepath.Join(filepath.Dir(list[0]), name), func([]byte) []byte { return []byte("x") })
			}
			s = start(t, vars...)
			after := s.search("admin", everything).is(200)
			if after.raw("hits") != before.raw("hits") || after.raw("aggregations") != before.raw("aggregations") {
				t.Errorf("%s\nbefore\n%s", after.body, before.body)
			}
			if n := s.index.Stats().Builds; n != c.builds {
				t.Errorf("%d builds", n)
			}
			s.stop()
			want := 2
			if c.builds == 0 {
				want = 3 // the file of no index stays until something is built
			}
			if list = baseFiles(t, vars); len(list) != want {
				t.Errorf("files %q", list)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, file string, to func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, to(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRestoredBehind starts a server whose files are older than the database,
// and one whose database is older than its files.
func TestRestoredBehind(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		s.stop()
		list := baseFiles(t, vars)
		kept := map[string][]byte{}
		for _, file := range list {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kept[file] = b
		}
		s = start(t, vars...)
		s.post("/api/data/page/index/one?refresh=true", `{"title":"First again"}`).is(200)
		s.post("/api/data/page/index/new?refresh=true", `{"title":"New"}`).is(200)
		s.post("/api/data/page/delete/two", "").is(200)
		s.must(s.index.RefreshAll(t.Context()))
		const everything = `{"size":50,"sort":["_id","_index"]}`
		want := s.search("admin", everything).is(200)
		s.stop()
		for file, b := range kept {
			change(t, file, func([]byte) []byte { return b })
		}
		s = start(t, vars...)
		if got := s.search("admin", everything).is(200); got.raw("hits") != want.raw("hits") {
			t.Errorf("%s\nwant\n%s", got.body, want.body)
		}
		if stats := s.index.Stats(); stats.Builds != 0 || stats.Documents == 0 {
			t.Errorf("%+v", stats)
		}
	})
}
