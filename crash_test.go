package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

const crashType = `{"class":"EMS\\CoreBundle\\Entity\\ContentType","arguments":[],"properties":{"name":"note","singularName":"Note","pluralName":"Notes","environment":"preview",
"fieldType":{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\ContainerFieldType","name":"source","children":[
{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\IntegerFieldType","name":"n","children":[]},"replaced":[]}
]},"replaced":[]}},"replaced":[]}`

// TestKillLosesNothing kills the server with SIGKILL at random instants under
// write load, again and again. After the last start every acknowledged write
// is there, is found by search, and its event reached a durable subscriber
// with effect exactly once; and every event is one of a write that is there.
func TestKillLosesNothing(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		killLosesNothing(t, db.Config{Path: filepath.Join(dir, "quoin.db")}, "QUOIN_DATA="+dir)
	})
	t.Run("postgres", func(t *testing.T) {
		url := testkit.Postgres(t)
		killLosesNothing(t, db.Config{URL: url}, "QUOIN_DATABASE_URL="+url, "QUOIN_DATA="+t.TempDir())
	})
}

// ledger is what was acknowledged: the last n of each document, and the n that
// was on its way when the server died.
type ledger struct {
	mu    sync.Mutex
	acked map[string][]int64
	tried map[string]int64
}

func killLosesNothing(t *testing.T, c db.Config, vars ...string) {
	l := &ledger{acked: map[string][]int64{}, tried: map[string]int64{}}
	s := start(t, vars...)
	s.login()
	s.must(http.MethodPost, "/api/admin/content-type/note", crashType)
	for round := range 6 {
		load(s, l, round, 50+rand.Int64N(400))
		s = start(t, vars...)
		s.login()
		l.check(t, s)
	}
	d, err := db.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	l.checkEvents(t, d)
}

// load writes with eight clients until so many writes were acknowledged, then
// kills the server in the middle of the others.
func load(s *server, l *ledger, round int, kill int64) {
	var writers sync.WaitGroup
	var acks atomic.Int64
	for w := range 8 {
		writers.Go(func() {
			for n := int64(1); ; n++ {
				ouuid := fmt.Sprintf("r%d-w%d-%d", round, w, n/4) // four writes each
				l.mu.Lock()
				l.tried[ouuid] = n
				l.mu.Unlock()
				status, answer, err := s.call(http.MethodPost, "/api/data/note/index/"+ouuid, fmt.Sprintf(`{"n":%d}`, n))
				if err != nil {
					return // the server is gone
				}
				var ok struct{ Success bool }
				if json.Unmarshal(answer, &ok) != nil || status != http.StatusOK || !ok.Success {
					s.t.Errorf("write of %s: %d %s", ouuid, status, answer)
					return
				}
				l.mu.Lock()
				l.acked[ouuid] = append(l.acked[ouuid], n)
				l.mu.Unlock()
				if acks.Add(1) == kill {
					go s.kill()
				}
			}
		})
	}
	writers.Wait()
	s.kill()
}

// check reads every document back, and asks the search for them.
func (l *ledger) check(t *testing.T, s *server) {
	t.Helper()
	s.must(http.MethodPost, "/api/search/refresh", `{"index":null}`)
	for ouuid, acked := range l.acked {
		_, answer := s.must(http.MethodGet, "/api/data/note/"+ouuid, "")
		var got struct{ Revision struct{ N int64 } }
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatal(err)
		}
		if last := acked[len(acked)-1]; got.Revision.N != last && got.Revision.N != l.tried[ouuid] {
			t.Errorf("%s is at %d; acknowledged %d, tried %d", ouuid, got.Revision.N, last, l.tried[ouuid])
		}
		query := fmt.Sprintf(`{"query":{"bool":{"filter":[{"ids":{"values":[%q]}},{"term":{"n":%d}}]}},"indices":["quoin_preview"]}`, ouuid, got.Revision.N)
		body, _ := json.Marshal(map[string]string{"search": query})
		if _, answer := s.must(http.MethodPost, "/api/search/count", string(body)); string(answer) != "{\"count\":1}\n" && string(answer) != `{"count":1}` {
			t.Errorf("%s is not found at %d: %s", ouuid, got.Revision.N, answer)
		}
	}
}

var (
	countDeliveries = db.SQL(`SELECT count(*) FROM event_delivery`)
	selectSeen      = db.SQL(`SELECT subject, n FROM witness_seen`)
	selectWritten   = db.SQL(`SELECT ouuid, raw FROM content_revision`)
)

// checkEvents compares what the subscriber saw with what was written.
func (l *ledger) checkEvents(t *testing.T, d *db.DB) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		var waiting int64
		err := d.Row(t.Context(), countDeliveries).Scan(&waiting)
		return err == nil && waiting == 0
	})
	seen := pairs(t, d, selectSeen, func(rows db.Rows) (subject string, n int64, err error) {
		err = rows.Scan(&subject, &n)
		return subject, n, err
	})
	written := pairs(t, d, selectWritten, func(rows db.Rows) (subject string, n int64, err error) {
		var raw []byte
		var doc struct{ N int64 }
		if err = rows.Scan(&subject, &raw); err == nil {
			err = json.Unmarshal(raw, &doc)
		}
		return "note:" + subject, doc.N, err
	})
	for ouuid, acked := range l.acked {
		for _, n := range acked {
			if p := (pair{"note:" + ouuid, n}); !written[p] || !seen[p] {
				t.Errorf("%v: written %v, event seen %v", p, written[p], seen[p])
			}
		}
	}
	for p := range written {
		if !seen[p] {
			t.Errorf("%v was written without its event", p)
		}
	}
	for p := range seen {
		if !written[p] {
			t.Errorf("an event tells of %v, which is not there", p)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d events: the test did not write under load", len(seen))
	}
	t.Logf("%d writes, 6 kills", len(seen))
}

type pair struct {
	subject string
	n       int64
}

func pairs(t *testing.T, d *db.DB, st *db.Statement, scan func(db.Rows) (string, int64, error)) map[pair]bool {
	t.Helper()
	rows, err := d.Query(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[pair]bool{}
	for rows.Next() {
		subject, n, err := scan(rows)
		if err != nil {
			t.Fatal(err)
		}
		all[pair{subject, n}] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
