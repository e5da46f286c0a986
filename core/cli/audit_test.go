package cli_test

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

type entry struct {
	ID                   int64
	At                   time.Time
	Actor, Type, Subject string
	From                 string
	RequestID            string `json:"request_id"`
	Data                 json.RawMessage
}

// TestAudit: what somebody did is recorded once, and found by who, what and
// when, by auditors only.
func TestAudit(t *testing.T) {
	for name, vars := range map[string]func(t *testing.T) []string{
		"sqlite": func(t *testing.T) []string { return variables(filepath.Join(t.TempDir(), "data")) },
		"postgres": func(t *testing.T) []string {
			return variables(filepath.Join(t.TempDir(), "data"), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
		},
	} {
		t.Run(name, func(t *testing.T) { audit(t, append(vars(t), `QUOIN_AUDIT__EVENTS=["*"]`)) })
	}
}

func audit(t *testing.T, vars []string) {
	s := serve(t, vars, "--samples")
	token := s.token()
	begin := time.Now().Add(-time.Second)
	var created struct{ OUUID string }
	for range 3 {
		s.send(token, "POST", "/api/data/page/index", `{"label":"a"}`, &created)
	}
	subject := "page:" + created.OUUID
	list := func(query string) []entry {
		var page struct{ Entries []entry }
		s.send(token, "GET", "/api/admin/audit?"+query, "", &page)
		return page.Entries
	}
	testkit.Eventually(t, func() bool { return len(list("subject="+subject)) == 1 })
	e := list("subject=" + subject)[0]
	if e.Type != "content.finalize" || e.Actor != "admin" || e.RequestID == "" || e.At.Before(begin) || !strings.Contains(string(e.Data), created.OUUID) || strings.Contains(string(e.Data), "raw_data") {
		t.Errorf("%+v", e)
	}
	for query, want := range map[string]int{
		"actor=admin&type=content.*": 3, "type=content.finalize&size=2": 2, "type=content.delete": 0, "actor=nobody": 0,
		"type=content.*&since=" + url.QueryEscape(begin.Format(time.RFC3339)): 3, "until=" + url.QueryEscape(begin.Add(-time.Hour).Format(time.RFC3339)): 0,
	} {
		if got := list(query); len(got) != want {
			t.Errorf("%s: %d of %d: %+v", query, len(got), want, got)
		}
	}
	if status, body := s.get("/api/admin/audit?since=yesterday", token); status != 400 {
		t.Errorf("%d %s", status, body)
	}
	if out := must(t, vars, "audit", "--type", "content.*", "--since", "1h"); strings.Count(out, "content.finalize") != 3 || !strings.Contains(out, "WHO") {
		t.Errorf("%s", out)
	}
	must(t, vars, "user", "create", "writer", "--role", "ROLE_API", "--password-stdin=false")
	writer := strings.TrimSpace(must(t, vars, "token", "create", "writer"))
	if status, body := s.get("/api/admin/audit", writer); status != 403 {
		t.Errorf("somebody who is no auditor: %d %s", status, body)
	}
}
