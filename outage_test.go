package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestOutages stops PostgreSQL, MinIO and the search server under load and
// starts them again, each alone and two at once, and lets PostgreSQL and the
// search server hang: clients get clear answers, /readyz names what is away, and
// everything goes on by itself. Nothing that was answered is lost.
func TestOutages(t *testing.T) {
	t.Parallel()
	database, bucket := testkit.StartPostgres(t), testkit.StartMinIO(t)
	engine := searchServer(t)
	s := replica(t, append(sharedBy(database.URL(), bucket.URL(), engine), "QUOIN_DATABASE__ANSWER_WITHIN=3s"))
	s.login()
	s.must(http.MethodPost, "/api/admin/content-type/note", crashType)
	hooks := listen(t, s)
	indexed(t, s)
	l := newTraffic(t, s.base, s.token)
	l.begin("outage")
	l.reach(20)
	var jobs []string
	for round := range 2 {
		jobs = append(jobs, s.job("environment list", ""), s.job("environment list", ""))
		refused := l.count("503")
		database.Stop()
		s.state(http.StatusServiceUnavailable, `"database":"failing"`)
		testkit.Eventually(t, func() bool { return l.count("503") > refused+20 })
		database.Start()
		s.state(http.StatusOK, `"database":"ok"`)
		l.reach(20)

		refused = l.count("503")
		database.Freeze()
		s.state(http.StatusServiceUnavailable, `"database":"failing"`)
		testkit.Eventually(t, func() bool { return l.count("503") > refused })
		database.Thaw()
		s.state(http.StatusOK, `"database":"ok"`)
		l.reach(20)

		refused = l.count("503")
		hang := make(chan struct{})
		engine.Inject([]double.Fault{{Drop: true}, {Hold: hang}}[round])
		s.state(http.StatusServiceUnavailable, `"search":"failing"`)
		testkit.Eventually(t, func() bool { return l.count("503") > refused })
		l.reach(20) // documents need no search
		engine.Heal()
		close(hang)
		s.state(http.StatusOK, `"search":"ok"`)
		l.reach(20)

		refused = l.count("503")
		bucket.Kill()
		s.state(http.StatusServiceUnavailable, `"files":"failing"`)
		testkit.Eventually(t, func() bool { return l.count("503") > refused })
		l.reach(20) // documents need no files
		if round == 1 {
			database.Stop()
			s.state(http.StatusServiceUnavailable, `"database":"failing"`)
			database.Start()
		}
		bucket.Start(t)
		s.state(http.StatusOK, `"files":"ok"`)
		l.reach(20)
		l.storesAgain()
	}
	l.end()
	if n := l.count("broken"); n > 0 {
		t.Errorf("%d requests had no answer", n)
	}
	l.check(s)
	hooks.await(t, l.written)
	s.jobsEnd(append(jobs, s.job("environment list", "")))
	if _, body := s.must(http.MethodGet, "/status.json", ""); !strings.Contains(string(body), `"green"`) {
		t.Errorf("in the end: %s", body)
	}
}

// reach waits for so many more documents.
func (l *traffic) reach(n int64) {
	l.t.Helper()
	before := l.acks.Load()
	testkit.Eventually(l.t, func() bool { return l.acks.Load() >= before+n })
}

// storesAgain waits until another file was stored.
func (l *traffic) storesAgain() {
	l.t.Helper()
	n := func() int { l.mu.Lock(); defer l.mu.Unlock(); return len(l.files) }
	before := n()
	testkit.Eventually(l.t, func() bool { return n() > before })
}

// state waits until /readyz answers so.
func (s *server) state(status int, text string) {
	s.t.Helper()
	testkit.Eventually(s.t, func() bool {
		got, body, err := s.call(http.MethodGet, "/readyz", "")
		return err == nil && got == status && strings.Contains(string(body), text)
	})
}

// jobsEnd waits until jobs are done.
func (s *server) jobsEnd(ids []string) {
	s.t.Helper()
	for _, id := range ids {
		testkit.Eventually(s.t, func() bool { return s.status(id).State == "done" })
	}
}
