package cli_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

// TestAuditOfAccess: whatever changes who may do what is recorded, with who did
// it and from where, without a secret; others than administrators cannot hear
// of it by a webhook.
func TestAuditOfAccess(t *testing.T) {
	for name, vars := range map[string]func(t *testing.T) []string{
		"sqlite": func(t *testing.T) []string { return variables(filepath.Join(t.TempDir(), "data")) },
		"postgres": func(t *testing.T) []string {
			return variables(filepath.Join(t.TempDir(), "data"), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
		},
	} {
		t.Run(name, func(t *testing.T) { auditAccess(t, vars(t)) })
	}
}

const (
	jane    = `{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"replaced":[],"properties":{"username":"jane","email":"jane@example.org","enabled":true,"roles":["ROLE_API"],"plainPassword":"correct horse 1"}}`
	promote = `{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"replaced":[],"properties":{"username":"jane","email":"jane@example.org","enabled":true,"roles":["ROLE_API","ROLE_FORM_CRM"],"plainPassword":"correct horse 2"}}`
	nightly = `{"class":"EMS\\CoreBundle\\Entity\\Schedule","arguments":[],"replaced":[],"properties":{"name":"nightly","cron":"0 3 * * *","command":"echo hidden","tag":"shell"}}`
	place   = `{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"replaced":[],"properties":{"name":"staging","alias":"staging","managed":true}}`
)

func auditAccess(t *testing.T, vars []string) {
	s := serve(t, vars, "--samples")
	for _, name := range []string{"admin", "secret typed as a name"} {
		if status := s.status("", "POST", "/auth-token", `{"username":"`+name+`","password":"wrong secret"}`); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status := s.status("qn_wrong-token", "GET", "/api/test", ""); status != 401 {
		t.Errorf("a wrong token: %d", status)
	}
	if err := s.end(); err != nil { // which tells what was refused
		t.Fatal(err)
	}
	s = serve(t, vars)
	var signed struct{ AuthToken string }
	s.send("", "POST", "/auth-token", `{"username":"admin","password":"`+password+`"}`, &signed)
	token := signed.AuthToken
	s.send(token, "POST", "/api/admin/user/jane", jane, nil)
	s.send(token, "POST", "/api/admin/user/jane", promote, nil)
	var made struct{ ID, Token string }
	s.send(token, "POST", "/api/user/tokens", `{"name":"website"}`, &made)
	var acting struct{ Token string }
	s.send(token, "POST", "/api/user/proxy-authenticate", `{"username":"jane","email":"jane@example.org"}`, &acting)
	s.send(acting.Token, "GET", "/api/user-profile", "", nil)
	s.send(token, "DELETE", "/api/user/tokens/"+made.ID, "", nil)
	var hook struct{ ID, Secret string }
	s.send(token, "POST", "/api/webhook-subscriptions", `{"endpointUrl":"https://example.org/hook?key=hidden","events":["content.delete"]}`, &hook)
	var rotated struct{ Secret string }
	s.send(token, "POST", "/api/webhook-subscriptions/"+hook.ID+"/rotate-secret", "{}", &rotated)
	s.send(token, "DELETE", "/api/webhook-subscriptions/"+hook.ID, "", nil)
	var form struct {
		ID string `json:"submission_id"`
	}
	s.send(token, "POST", "/api/forms/submissions", `{"form_name":"contact","instance":"web","locale":"en","data":{"name":"Somebody Private"}}`, &form)
	s.send(token, "GET", "/api/forms/submissions/"+form.ID, "", nil)
	s.send(token, "POST", "/api/admin/environment/staging", place, nil)
	s.send(token, "POST", "/api/admin/schedule/nightly", nightly, nil)
	s.send(token, "POST", "/api/admin/schedule/nightly", strings.Replace(nightly, "0 3", "0 4", 1), nil)
	s.send(token, "DELETE", "/api/admin/schedule/nightly", "", nil)
	must(t, vars, "schedule", "put", "weekly", "0 3 * * 1", "echo hidden", "--user", "admin", "--tag", "shell")
	must(t, vars, "schedule", "remove", "weekly")
	s.send(token, "DELETE", "/api/admin/user/jane", "", nil)
	must(t, vars, "user", "create", "robot", "--role", "ROLE_API", "--password-stdin=false")
	robot := strings.TrimSpace(must(t, vars, "token", "create", "robot"))

	all := awaitTrail(t, s, token)
	for what, want := range map[string]struct{ actor, data string }{
		"admin.user.login user:admin":              {"admin", `"token":`},
		"admin.user.login_failed user:admin":       {"nobody", `"reason":"password"`},
		"admin.user.login_failed ":                 {"nobody", `"count":1`},
		"admin.user.created user:jane":             {"admin", `"roles":["ROLE_API"]`},
		"admin.user.changed user:jane":             {"admin", `"changed":["password","roles"]`},
		"admin.user.deleted user:jane":             {"admin", ``},
		"admin.token.created user:admin":           {"admin", `"name":"website"`},
		"admin.token.created user:jane":            {"admin", `"as":"acting"`},
		"admin.token.revoked user:admin":           {"admin", `"name":"website"`},
		"admin.webhook.created webhook:" + hook.ID: {"admin", `"server":"example.org"`},
		"admin.webhook.rotated webhook:" + hook.ID: {"admin", ``},
		"admin.webhook.deleted webhook:" + hook.ID: {"admin", ``},
		"admin.form.access form:" + form.ID:        {"admin", `"what":"read"`},
		"config.saved environment:staging":         {"admin", `"kind":"environment"`},
		"config.saved content-type:page":           {"", ``}, // when nobody was there to record it
		"admin.user.created user:admin":            {"start", ``},
		"admin.user.created user:robot":            {"command line", `"enabled":true`},
		"admin.token.created user:robot":           {"command line", ``},
		"admin.schedule.created schedule:nightly":  {"admin", `"cron":"0 3 * * *"`},
		"admin.schedule.changed schedule:nightly":  {"admin", `"changed":["cron"]`},
		"admin.schedule.deleted schedule:nightly":  {"admin", ``},
		"admin.schedule.created schedule:weekly":   {"command line", `"user":"admin"`},
		"admin.schedule.deleted schedule:weekly":   {"command line", ``},
	} {
		i := slices.IndexFunc(all, func(e entry) bool { return e.Type+" "+e.Subject == what })
		if i < 0 {
			t.Errorf("nothing is recorded of %s", what)
			continue
		}
		e := all[i]
		if !strings.Contains(string(e.Data), want.data) || want.actor != "" && e.Actor != strings.TrimPrefix(want.actor, "nobody") {
			t.Errorf("%s: %+v %s", what, e, e.Data)
		}
		if (want.actor == "admin" || want.actor == "nobody") && (e.From != "127.0.0.1" || e.RequestID == "") || want.actor == "command line" && e.From != "" {
			t.Errorf("%s comes from %q in the request %q", what, e.From, e.RequestID)
		}
	}
	for _, e := range all {
		for _, secret := range []string{token, made.Token, acting.Token, robot, hook.Secret, rotated.Secret, "hidden", "correct horse", "Somebody Private", "argon2", "wrong secret", "typed as a name", "wrong-token"} {
			if secret == "" || strings.Contains(string(e.Data), secret) {
				t.Errorf("%s tells a secret: %s (%q)", e.Type, e.Data, secret)
			}
		}
	}
	if out := must(t, vars, "audit", "--type", "admin.user.*", "--actor", "admin"); strings.Count(out, "user:jane") != 3 || !strings.Contains(out, "127.0.0.1") {
		t.Errorf("%s", out)
	}
	for _, name := range []string{"admin.user.created", "admin.user.login_failed", "admin.*", "config.saved"} {
		if status := s.status(robot, "POST", "/api/webhook-subscriptions", `{"endpointUrl":"https://example.org/r","events":["`+name+`"]}`); status != 400 {
			t.Errorf("%s may be subscribed to by everybody: %d", name, status)
		}
		s.send(token, "POST", "/api/webhook-subscriptions", `{"endpointUrl":"https://example.org/a","events":["`+name+`"]}`, nil)
	}
}

// awaitTrail gives the records once the last thing that was done is there.
func awaitTrail(t *testing.T, s *server, token string) (all []entry) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		var page struct{ Entries []entry }
		s.send(token, "GET", "/api/admin/audit?size=1000", "", &page)
		all = page.Entries
		return slices.ContainsFunc(all, func(e entry) bool { return e.Type == "admin.token.created" && e.Subject == "user:robot" })
	})
	return all
}

// status is that of the answer to a body.
func (s *server) status(token, method, path, body string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
