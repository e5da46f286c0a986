package main

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search/typesense/double"
	"github.com/quoin-cms/quoin/core/testkit"
)

// replica starts a server beside others on the same database, bucket and
// search server.
func replica(t *testing.T, vars []string) *server {
	t.Helper()
	return start(t, append(vars[:len(vars):len(vars)], "QUOIN_DATA="+t.TempDir())...)
}

// sharedBy are the variables of servers that share everything.
func sharedBy(database, bucket string, search *double.Server) []string {
	return []string{
		"QUOIN_DATABASE_URL=" + database, "QUOIN_BLOB__URL=" + bucket, "QUOIN_SEARCH__ENGINE=typesense", "QUOIN_SEARCH__URL=" + search.URL(), "QUOIN_SEARCH__KEY=secret",
		"QUOIN_SERVER__DRAIN_DELAY=500ms", `QUOIN_WEBHOOK__ALLOW_NETWORKS=["127.0.0.0/8"]`, "QUOIN_WEBHOOK__SCHEDULE=[\"200ms\",\"1s\",\"1s\",\"1s\",\"1s\",\"1s\",\"1s\"]",
		"QUOIN_JOB__START_AFTER=500ms", "QUOIN_MODULES__WITNESS__ENABLED=false", // it takes what is written twice for a fault
	}
}

// searchServer is one that behaves as Typesense does.
func searchServer(t *testing.T) *double.Server {
	t.Helper()
	d := double.New(double.Options{Key: "secret", Violation: t.Errorf})
	t.Cleanup(d.Close)
	return d
}

// terminate is SIGTERM; the server must end in good order.
func (s *server) terminate() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(3 * time.Minute):
		s.t.Fatalf("the server did not end:\n%s", s.log)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the server ended with %d:\n%s", code, s.log)
	}
}

// indexed waits until the server has an index of the content types.
func indexed(t *testing.T, s *server) {
	t.Helper()
	s.must(http.MethodPost, "/api/data/note/index/first?refresh=true", `{"n":1}`)
	testkit.Eventually(t, func() bool { return s.count("quoin_preview", `{"query":{"term":{"n":1}}}`) == 1 })
}

// TestRollingRestart ends two servers behind a balancer in turns, under load.
// No request fails, none is lost.
func TestRollingRestart(t *testing.T) {
	vars := sharedBy(testkit.Postgres(t, testkit.WithoutFsync()), testkit.MinIO(t), searchServer(t))
	servers := []*server{replica(t, vars), replica(t, vars)}
	servers[0].login()
	servers[0].must(http.MethodPost, "/api/admin/content-type/note", crashType)
	hooks := listen(t, servers[0])
	b := balance(t)
	for _, s := range servers {
		b.add(t, s)
		s.token = servers[0].token
		indexed(t, s)
	}
	l := newTraffic(t, b.base(), servers[0].token)
	l.begin("roll")
	for round := range 2 {
		for i, old := range servers {
			before := l.acks.Load()
			testkit.Eventually(t, func() bool { return l.acks.Load() > before+20 })
			old.terminate()
			b.remove(old)
			servers[i] = replica(t, vars)
			servers[i].token = old.token
			b.add(t, servers[i])
			t.Logf("round %d: server %d was replaced; %d requests without an answer so far", round, i, l.count("broken"))
		}
	}
	before := l.acks.Load()
	testkit.Eventually(t, func() bool { return l.acks.Load() > before+20 })
	l.end()
	if n := l.count("503"); n > 0 {
		t.Errorf("%d requests were refused", n)
	}
	servers[0].token = l.token
	l.check(servers[0])
	hooks.await(t, l.written)
}
