package content_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/content"
)

// parallel runs n calls at the same time.
func parallel(n int, call func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			call(i)
		})
	}
	close(start)
	wg.Wait()
}

// count asks the database.
func (s *server) count(query string, args ...any) int {
	s.Helper()
	var n int
	if err := s.db.Row(s.Context(), db.SQL(query), args...).Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}

// TestNoUpdateIsLost: fifty clients add a field each to the same document, at
// the same time, partly in another process on the same database.
func TestNoUpdateIsLost(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		other := serveOn(t, s.db, nil)
		s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
		s.events()
		other.events()
		const n = 50
		failed := make([]string, n)
		parallel(n, func(i int) {
			to := []*server{s, other}[i%2]
			if a := to.post("/api/data/page/update/d", fmt.Sprintf(`{"f%d":%d}`, i, i)); a.status != 200 || a.raw("success") != "true" {
				failed[i] = fmt.Sprintf("%d %s", a.status, a.body)
			}
		})
		got := s.get("/api/data/page/d")
		for i := range n {
			if failed[i] != "" {
				t.Errorf("update %d: %s", i, failed[i])
			} else if got.raw(fmt.Sprintf("revision.f%d", i)) != fmt.Sprint(i) {
				t.Errorf("update %d was acknowledged and is lost", i)
			}
		}
		if revisions := s.count("SELECT count(*) FROM content_revision WHERE ouuid = 'd'"); revisions != n+1 {
			t.Errorf("%d revisions", revisions)
		}
		if events := len(s.events()) + len(other.events()); events != n {
			t.Errorf("%d events", events)
		}
		s.where("d", got.raw("id"), "preview")
	})
}

// TestOneCreatorWins: of fifty who create the same ouuid one succeeds.
func TestOneCreatorWins(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		var mu sync.Mutex
		statuses := map[int]int{}
		parallel(50, func(i int) {
			a := s.post("/api/data/page/create/one", fmt.Sprintf(`{"title":"%d"}`, i))
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
		if statuses[200] != 1 || statuses[409] != 49 {
			t.Errorf("statuses %v", statuses)
		}
		if n := s.count("SELECT count(*) FROM content_revision WHERE ouuid = 'one'"); n != 1 {
			t.Errorf("%d revisions", n)
		}
	})
}

// TestIfMatchHasOneWinner: of those who saw the same state one may change it.
func TestIfMatchHasOneWinner(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		tag := s.post("/api/data/page/index/d", `{"title":"A"}`).header.Get("ETag")
		var mu sync.Mutex
		statuses := map[int]int{}
		parallel(20, func(i int) {
			a := s.post("/api/data/page/update/d", fmt.Sprintf(`{"count":%d}`, i), "If-Match", tag)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
		if statuses[200] != 1 || statuses[412] != 19 {
			t.Errorf("statuses %v", statuses)
		}
	})
}

// TestAllAtOnce lets every kind of write meet on a few documents and then
// checks what must always hold.
func TestAllAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		parallel(8, func(i int) {
			for j := range 30 {
				d := fmt.Sprint("d", (i+j)%3)
				body := fmt.Sprintf(`{"title":"%d-%d"}`, i, j)
				switch (i*7 + j) % 9 {
				case 0:
					s.publish("delete/" + d)
				case 1, 2:
					s.publish("publish/" + d + "/live")
				case 3:
					s.publish("unpublish/" + d + "/live")
				case 4:
					a := s.post("/api/data/page/merge/"+d, body)
					if a.status == 200 {
						s.post([]string{"/api/data/page/finalize/", "/api/data/page/discard/"}[j%2]+a.id(), nil)
					}
				case 5:
					s.post("/api/data/page/update/"+d, `{"title":1}`)
				default:
					s.post("/api/data/page/index/"+d, body)
				}
			}
		})
		for what, query := range map[string]string{
			"published revisions in the trash": `SELECT count(*) FROM content_publication p JOIN content_revision r ON r.id = p.revision_id WHERE r.deleted`,
			"published drafts":                 `SELECT count(*) FROM content_publication p JOIN content_revision r ON r.id = p.revision_id WHERE r.draft`,
			"publications of nothing":          `SELECT count(*) FROM content_publication p LEFT JOIN content_revision r ON r.id = p.revision_id WHERE p.revision_id IS NOT NULL AND r.id IS NULL`,
			"revisions in the trash of documents that are not": `SELECT count(*) FROM content_revision r WHERE deleted
				AND EXISTS (SELECT 1 FROM content_revision n WHERE n.type_id = r.type_id AND n.ouuid = r.ouuid AND NOT n.deleted AND NOT n.draft)`,
			"publications of others":         `SELECT count(*) FROM content_publication p JOIN content_revision r ON r.id = p.revision_id WHERE r.ouuid <> p.ouuid OR r.type_id <> p.type_id`,
			"drafts that are not the newest": `SELECT count(*) FROM content_revision r WHERE draft AND EXISTS (SELECT 1 FROM content_revision n WHERE n.type_id = r.type_id AND n.ouuid = r.ouuid AND n.number > r.number)`,
			"newest final ones that are not in the default environment": `SELECT count(*) FROM content_revision r WHERE NOT draft AND NOT deleted
				AND NOT EXISTS (SELECT 1 FROM content_revision n WHERE n.type_id = r.type_id AND n.ouuid = r.ouuid AND n.number > r.number AND NOT n.draft)
				AND NOT EXISTS (SELECT 1 FROM content_publication p JOIN content_config c ON c.id = p.environment_id WHERE p.revision_id = r.id AND c.name = 'preview')`,
		} {
			if n := s.count(query); n != 0 {
				t.Errorf("%d %s", n, what)
			}
		}
		for i := range 3 {
			a := s.get(fmt.Sprint("/api/data/page/d", i))
			if a.status != 200 && a.status != 404 {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
	})
}

// TestConfigurationAtOnce: administrators and readers at the same time.
func TestConfigurationAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("managed-alias", entity("managed-alias", "ManagedAlias", `"name":"ma"`))
		parallel(24, func(i int) {
			switch i % 3 {
			case 0:
				name := fmt.Sprint("env", i)
				s.put("environment", entity("environment", "Environment", `"name":"`+name+`"`))
				s.call("admin", http.MethodPost, "/api/meta/alias-attach-environment", `{"environment":"`+name+`","alias":"ma"}`).is(200)
			case 1:
				s.put("content-type", strings.Replace(pageType, `"name":"page"`, fmt.Sprintf(`"name":"t%d"`, i), 1))
				s.post(fmt.Sprintf("/api/data/t%d/index", i), `{"title":"A"}`).is(200)
			default:
				s.post("/api/data/page/index", `{"title":"A"}`).is(200)
			}
		})
		aliases, err := s.Source.Aliases(s.Context())
		if err != nil || len(aliases["test_ma"]) != 8 {
			t.Errorf("behind the alias: %v, %v", aliases, err)
		}
	})
}

// TestDeleteMeetsAWrite: a document that is written while it is being deleted
// is deleted only if it would have been, had the write come before.
func TestDeleteMeetsAWrite(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		if s.db.Dialect() == db.SQLite {
			t.Skip("there nothing comes in between")
		}
		remove := func(headers ...string) *answer {
			return s.call("publisher", http.MethodPost, "/api/data/page/delete/d", `[]`, headers...)
		}
		tag := s.post("/api/data/page/index/d", `{"title":"A"}`).is(200).header.Get("ETag")
		s.between(func() { s.post("/api/data/page/update/d", `{"title":"B"}`).is(200) })
		refused(t, remove("If-Match", tag), 412)
		s.get("/api/data/page/d").is(200).has("revision.title", `"B"`)

		s.between(func() { s.post("/api/data/page/merge/d", `{"title":"C"}`).is(200) })
		refused(t, remove(), 423)
		s.get("/api/data/page/d").is(200).has("revision.title", `"C"`)

		s.clock.Advance(time.Hour) // of the lock
		s.between(func() {
			s.call("publisher", http.MethodPost, "/api/data/page/discard/"+s.get("/api/data/page/d").raw("id"), nil).is(200)
		})
		remove().is(200)
		s.get("/api/data/page/d").is(404)
		s.events()
	})
}

// TestPublishMeetsRemoval: whoever deletes the document or removes the revision
// that is being published waits, and then sees it in its environment.
func TestPublishMeetsRemoval(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		if s.db.Dialect() == db.SQLite {
			t.Skip("there nothing comes in between")
		}
		// alongside begins fn in the middle of a publication, which goes on when
		// fn is done or waits for it.
		alongside := func(fn func()) (done chan struct{}) {
			done = make(chan struct{})
			s.between(func() {
				go func() { defer close(done); fn() }()
				testkit.Eventually(t, func() bool {
					select {
					case <-done:
						return true
					default:
						return s.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
					}
				})
			})
			return done
		}
		old := s.post("/api/data/page/index/d", `{"title":"A"}`).is(200).id()
		s.post("/api/data/page/index/d", `{"title":"B"}`).is(200)
		pruned := alongside(func() {
			if _, err := s.Run(t.Context(), content.RunDelete, map[string]any{"mode": "oldest"}, "page"); err != nil {
				t.Error(err)
			}
		})
		s.publish("publish/d/live/" + old).is(200)
		<-pruned
		s.get("/api/data/page/revisions/d/"+old).is(200).has("environments", `["live"]`)

		s.post("/api/data/page/index/e", `{"title":"A"}`).is(200)
		s.put("content-type", strings.Replace(pageType, `"environment":"preview"`, `"environment":"live"`, 1))
		s.publish("unpublish/e/preview").is(200)
		deleted := alongside(func() { s.publish("delete/e").is(200) })
		s.publish("publish/e/live").is(200)
		<-deleted
		s.get("/api/data/page/e").is(404)
		if n := s.count(`SELECT count(*) FROM content_publication p JOIN content_revision r ON r.id = p.revision_id WHERE r.deleted`); n != 0 {
			t.Errorf("%d published revisions in the trash", n)
		}
	})
}

// TestAWriteMeetsADelete: a write on a state that is deleted in the meantime
// does not bring the document back, unless it would have made it anew.
func TestAWriteMeetsADelete(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		for _, test := range []struct {
			call   string
			status int
			match  bool
		}{{"update", 404, false}, {"update", 404, true}, {"index", 412, true}, {"index", 200, false}, {"merge", 404, false}, {"replace", 404, false}} {
			id := s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
			headers := []string{"If-Match", id.header.Get("ETag")}
			if !test.match {
				headers = nil
			}
			s.between(func() { s.publish("delete/d").is(200) })
			if a := s.post("/api/data/page/"+test.call+"/d", `{"title":"B"}`, headers...); a.status != test.status {
				t.Errorf("%+v: %d %s", test, a.status, a.body)
			}
			want := map[bool]int{true: 200, false: 404}[test.status == 200]
			s.get("/api/data/page/d").is(want)
			s.publish("publish/d/live/" + id.id()).is(want)
		}
		s.post("/api/data/page/index/d", `{"title":"C"}`).is(200)
		if n := s.count(`SELECT count(*) FROM content_revision WHERE deleted`); n != 0 {
			t.Errorf("%d revisions in the trash", n)
		}
		s.post("/api/data/page/update/d", `{"title":1}`).is(200).has("success", "false")
		s.between(func() { s.publish("delete/d").is(200) })
		s.post("/api/data/page/update/d", `{"title":"D"}`).is(404) // in the place of the failed draft
		s.get("/api/data/page/d").is(404)
	})
}
