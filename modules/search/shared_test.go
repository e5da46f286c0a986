package search_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/search/typesense/double"
	"github.com/quoin-cms/quoin/core/testkit"
)

// onServer gives what makes a server use the search server of
// QUOIN_TEST_TYPESENSE_URL, or a double of its own.
func onServer(t testing.TB) (vars []string, d *double.Server) {
	t.Helper()
	url, key := os.Getenv("QUOIN_TEST_TYPESENSE_URL"), os.Getenv("QUOIN_TEST_TYPESENSE_KEY")
	if url == "" {
		d = double.New(double.Options{Key: "secret", Violation: t.Errorf})
		t.Cleanup(d.Close)
		url, key = d.URL(), "secret"
	}
	return []string{
		"QUOIN_SEARCH__ENGINE=typesense", "QUOIN_SEARCH__URL=" + url, "QUOIN_SEARCH__KEY=" + key,
		"QUOIN_SEARCH__PREFIX=qt" + strings.ToLower(rand.Text()[:10]), "QUOIN_SERVER__DATA=" + t.TempDir(),
	}, d
}

func (s *server) total(object string) string {
	s.Helper()
	return s.search("admin", object).is(200).raw("hits.total.value")
}

func TestSearchServer(t *testing.T) {
	vars, d := onServer(t)
	s := site(t, vars...)
	if n := s.total(`{"indices":["quoin_preview"]}`); n != "4" {
		t.Errorf("%s documents", n)
	}
	if n := s.total(`{"indices":["quoin_preview"],"queryArray":{"match":{"title":"first"}}}`); n != "2" {
		t.Errorf("%s documents match", n)
	}
	made := 0
	if d != nil {
		made = d.Count("POST", "/collections")
	}
	s = s.again()
	if n := s.total(`{"indices":["quoin_preview"]}`); n != "4" {
		t.Errorf("%s documents after a restart", n)
	}
	if d != nil && s.index.Stats().Builds > 0 && s.index.Stats().Scanned > 0 {
		t.Errorf("%d documents are read to build an index that is there; %d requests before", s.index.Stats().Scanned, made)
	}
}

// TestSearchServerShared writes through two processes at the same time and reads
// through both.
func TestSearchServerShared(t *testing.T) {
	vars, _ := onServer(t)
	vars = append(vars, "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
	one := site(t, vars...)
	two := start(t, append(vars, "QUOIN_SERVER__DATA="+t.TempDir())...)
	if n := two.total(`{"indices":["quoin_preview"]}`); n != "4" {
		t.Errorf("%s documents through the other process", n)
	}
	var all sync.WaitGroup
	for i, s := range []*server{one, two} {
		all.Go(func() {
			for k := range 20 {
				a, err := s.do("admin", "POST", fmt.Sprintf("/api/data/page/index/p%d-%d?refresh=true", i, k), `{"title":"written"}`)
				if err != nil || a.status != 200 {
					t.Errorf("%+v, %v", a, err)
				}
			}
		})
	}
	all.Wait()
	for _, s := range []*server{one, two} {
		s.must(s.index.RefreshAll(context.Background()))
		if n := s.total(`{"indices":["quoin_preview"],"queryArray":{"match":{"title":"written"}}}`); n != "40" {
			t.Errorf("%s documents", n)
		}
	}
	// The process that does not build changes how documents are indexed.
	two.contentType("page", "ROLE_USER", "title:TextString:{\"analyzer\":\"french\"}", "category:Choice", "n:Integer")
	two.store("page", "fr", `{"title":"les chevaux"}`)
	const cheval = `{"indices":["quoin_preview"],"query":{"match":{"title":"cheval"}}}`
	for until := time.Now().Add(patience); one.total(cheval) != "1" || two.total(cheval) != "1"; {
		if time.Now().After(until) {
			t.Fatal("the index is not built anew")
		}
		one.must(one.index.RefreshAll(context.Background()))
	}
	one.stop() // the other one takes over
	two.store("page", "late", `{"title":"late"}`)
	if n := two.total(`{"indices":["quoin_preview"],"queryArray":{"match":{"title":"late"}}}`); n != "1" {
		t.Errorf("%s documents after the first process has ended", n)
	}
}

// TestSearchServerLosesTheLock ends the connection that holds the lock of the
// process that builds, as a database that is started anew does. Another process
// may take the lock then, so the first one must not go on as if it had it: two
// that build drop each other's indexes.
func TestSearchServerLosesTheLock(t *testing.T) {
	vars, _ := onServer(t)
	vars = append(vars, "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
	one := site(t, vars...)
	two := start(t, append(vars, "QUOIN_SERVER__DATA="+t.TempDir())...)
	holders := db.SQL("SELECT coalesce(max(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
	end := db.SQL("SELECT pg_terminate_backend(?)")
	for range 3 {
		holder := 0
		one.must(one.app.DB.Row(t.Context(), holders).Scan(&holder))
		if one.index.Leads() == two.index.Leads() || holder == 0 {
			t.Fatalf("one leads: %v, two leads: %v, the lock is held by %d", one.index.Leads(), two.index.Leads(), holder)
		}
		one.must(one.app.DB.Row(t.Context(), end, holder).Scan(new(bool)))
		testkit.Eventually(t, func() bool {
			next := 0
			one.must(one.app.DB.Row(t.Context(), holders).Scan(&next))
			return next != 0 && next != holder && one.index.Leads() != two.index.Leads()
		})
		if out, err := two.quoin("environment rebuild preview", nil); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	for i, s := range []*server{one, two} {
		s.store("page", fmt.Sprintf("behind%d", i), `{"title":"behind"}`)
	}
	for _, s := range []*server{one, two} {
		s.must(s.index.RefreshAll(t.Context()))
		if n := s.total(`{"indices":["quoin_preview"]}`); n != "6" {
			t.Errorf("%s documents", n)
		}
	}
}

// TestSearchServerRaces writes the same documents through two processes while
// their index is built anew: in the end it has what the store has.
func TestSearchServerRaces(t *testing.T) {
	vars, _ := onServer(t)
	vars = append(vars, "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
	one := site(t, vars...)
	two := start(t, append(vars, "QUOIN_SERVER__DATA="+t.TempDir())...)
	two.login("admin")
	var all sync.WaitGroup
	for i, s := range []*server{one, two} {
		for j := range 2 {
			all.Go(func() {
				for k := range 30 {
					path := fmt.Sprintf("/api/data/page/index/same%d?refresh=%v", k%4, k%2 == 0)
					method, body := "POST", fmt.Sprintf(`{"title":"same","n":%d}`, 1000*(2*i+j)+k)
					if k%7 == 6 {
						path, body = fmt.Sprintf("/api/data/page/delete/same%d", k%4), "[]"
					}
					if _, err := s.do("admin", method, path, body); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	for range 2 {
		if out, err := two.quoin("environment rebuild preview", nil); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
	all.Wait()
	for _, s := range []*server{one, two} {
		s.must(s.index.RefreshAll(context.Background()))
		for k := range 4 {
			id := fmt.Sprintf("same%d", k)
			stored := s.call("admin", "GET", "/api/data/page/"+id, "")
			want := ""
			if stored.status == 200 {
				want = stored.raw("revision.n")
			}
			got := s.search("admin", `{"indices":["quoin_preview"],"query":{"ids":{"values":["`+id+`"]}}}`).is(200)
			if n := got.raw("hits.hits.0._source.n"); n != want {
				t.Errorf("%s has %q in the index and %q in the store (%s)", id, n, want, stored.body)
			}
		}
		if n := s.total(`{"indices":["quoin_preview"],"query":{"ids":{"values":["one","two","three","secret"]}}}`); n != "4" {
			t.Errorf("%s of the other documents", n)
		}
	}
}
