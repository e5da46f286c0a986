package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/modules"
)

// access lists every operation of every module.
func access(t *testing.T) []web.Access {
	t.Helper()
	c, err := app.Load(modules.All(), conf.Options{Defaults: config.Defaults, Set: []string{"server.data=" + filepath.Join(t.TempDir(), "data")}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), c, app.Options{Log: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Assemble("test"); err != nil {
		t.Fatal(err)
	}
	return a.Router.Access()
}

// TestRolesOfOperations writes the table that says who may call what, so that a
// change of it is seen by whoever reviews it.
func TestRolesOfOperations(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Who may call what\n\nBesides these roles, documents are protected by the rights of their content types, and jobs and webhooks by their owners. A submission is read by whoever knows its id, which nobody can guess; the list of ids needs the role below.\n\n| Call | Module | Needs |\n|---|---|---|\n")
	for _, a := range access(t) {
		needs := "a token"
		if len(a.Roles) > 0 {
			needs = strings.Join(a.Roles, " and ")
		}
		if len(a.OneOf) > 0 {
			needs += " and " + strings.Join(a.OneOf, " or ")
		}
		if a.Public {
			needs = "nothing"
		}
		fmt.Fprintf(&b, "| %s %s | %s | %s |\n", a.Method, a.Path, a.Module, needs)
	}
	testkit.Golden(t, filepath.Join(reference, "access.md"), b.Bytes())
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// TestEveryOperationForEveryRole calls every operation without a token, and
// with that of users who have one role, or one and ROLE_API, wherever the table
// says that they may not: nobody gets further than 401 and 403.
func TestEveryOperationForEveryRole(t *testing.T) {
	vars := variables(filepath.Join(t.TempDir(), "data"))
	s := serve(t, vars)
	users := map[string]*auth.Identity{}
	for i, role := range auth.Roles() {
		for j, granted := range [][]string{{role.Name}, {role.Name, auth.RoleAPI}} {
			name := fmt.Sprintf("user-%d-%d", i, j)
			args := []string{"user", "create", name, "--password", "correct horse battery"}
			for _, g := range granted {
				args = append(args, "--role", g)
			}
			must(t, vars, args...)
			users[strings.TrimSpace(must(t, vars, "token", "create", name))] = auth.New(auth.Identity{Username: name, Granted: granted})
		}
	}
	calls := 0
	for _, a := range access(t) {
		if a.Public {
			continue
		}
		path := parameter.ReplaceAllString(a.Path, "x")
		if status, body := s.knock(a.Method, path, ""); status != 401 {
			t.Errorf("%s %s without a token: %d %s", a.Method, path, status, body)
		}
		for token, who := range users {
			if allowed(who, a) {
				continue
			}
			calls++
			if status, body := s.knock(a.Method, path, token); status != 403 {
				t.Errorf("%s %s for %v: %d %s", a.Method, path, who.Granted, status, body)
			}
		}
	}
	if calls < 1000 {
		t.Errorf("only %d calls", calls)
	}
}

func allowed(who *auth.Identity, a web.Access) bool {
	for _, role := range a.Roles {
		if !who.Has(role) {
			return false
		}
	}
	return len(a.OneOf) == 0 || who.HasAny(a.OneOf...)
}

// knock gives the status and the beginning of the answer.
func (s *server) knock(method, path, token string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("X-Auth-Token", token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 300))
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
