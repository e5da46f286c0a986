package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

func whoami(o web.Operation) web.Operation {
	o.Method, o.Tag = http.MethodGet, "test"
	return web.Op(o, func(ctx context.Context, _ *web.None) (*web.Reply[text], error) {
		if id := auth.From(ctx); id != nil {
			return web.Answer(text{id.Username + " from " + web.RemoteIP(ctx)})
		}
		return web.Answer(text{"a stranger"})
	})
}

// watcher refuses every token, and notes from where each came.
type watcher struct{ from []string }

// Authenticate implements auth.Authenticator.
func (w *watcher) Authenticate(ctx context.Context, _ string) (*auth.Identity, error) {
	w.from = append(w.from, web.RemoteIP(ctx)+" "+telemetry.RequestID(ctx))
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

// Whoever tries tokens is told of with the address, also where there is nothing.
func TestATokenIsRefusedWithItsAddressWhateverThePath(t *testing.T) {
	w := &watcher{}
	router, err := web.New(web.Options{Log: telemetry.Discard(), Authenticator: w, Operations: []web.Operation{whoami(web.Operation{ID: "who", Path: "/api/who"})}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"GET", "/api/who"}, {"GET", "/api/nothing"}, {"POST", "/api/who"}} {
		r := httptest.NewRequestWithContext(t.Context(), c[0], c[1], nil)
		r.RemoteAddr = "192.0.2.7:1234"
		r.Header.Set("X-Auth-Token", "wrong")
		r.Header.Set("X-Request-Id", "r1")
		a := httptest.NewRecorder()
		if router.ServeHTTP(a, r); a.Code != 401 {
			t.Errorf("%v: %d", c, a.Code)
		}
	}
	if got := strings.Join(w.from, ", "); got != "192.0.2.7 r1, 192.0.2.7 r1, 192.0.2.7 r1" {
		t.Error(got)
	}
}

func TestTokensComeInTwoHeaders(t *testing.T) {
	s := serve(t, whoami(web.Operation{ID: "who", Path: "/api/who"}))
	for _, c := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"historical", []string{"X-Auth-Token", "api"}, 200},
		{"bearer", []string{"Authorization", "Bearer api"}, 200},
		{"any case", []string{"Authorization", "bEaReR  api "}, 200},
		{"the historical one wins", []string{"X-Auth-Token", "api", "Authorization", "Bearer wrong"}, 200},
		{"also when it is wrong", []string{"X-Auth-Token", "wrong", "Authorization", "Bearer api"}, 401},
		{"an empty one does not", []string{"X-Auth-Token", "", "Authorization", "Bearer api"}, 200},
		{"no token", nil, 401},
		{"another scheme", []string{"Authorization", "Basic api"}, 401},
		{"scheme only", []string{"Authorization", "Bearer"}, 401},
		{"no scheme", []string{"Authorization", "api"}, 401},
	} {
		a := s.send("GET", "/api/who", "", c.headers...)
		if a.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.name, a.StatusCode, a.body)
		}
		if c.status == 401 {
			a.problem(t, 401)
			if got := a.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") {
				t.Errorf("%s: WWW-Authenticate %q", c.name, got)
			}
		} else if !strings.Contains(a.body, "ada from 127.0.0.1") {
			t.Errorf("%s: %s", c.name, a.body)
		}
	}
}

func TestRolesOfAnOperation(t *testing.T) {
	s := serve(t,
		whoami(web.Operation{ID: "api", Path: "/api/for-api"}),
		whoami(web.Operation{ID: "any", Path: "/api/for-any", Roles: []string{}}),
		whoami(web.Operation{ID: "admin", Path: "/api/for-admin", Roles: []string{auth.RoleAPI, auth.RoleAdmin}}),
		whoami(web.Operation{ID: "oneof", Path: "/api/for-some", Roles: []string{}, OneOf: []string{auth.RoleUserRead, auth.RoleAdmin}}),
		whoami(web.Operation{ID: "public", Path: "/public", Public: true}),
	)
	for _, c := range []struct {
		path, token string
		status      int
	}{
		{"/api/for-api", "api", 200}, {"/api/for-api", "nobody", 403}, {"/api/for-api", "", 401},
		{"/api/for-any", "nobody", 200}, {"/api/for-any", "", 401},
		{"/api/for-admin", "admin", 200}, {"/api/for-admin", "api", 403},
		{"/api/for-some", "admin", 200}, {"/api/for-some", "api", 403},
		{"/public", "", 200}, {"/public", "wrong", 200}, {"/public", "nobody", 200},
	} {
		a := s.as(c.token, "GET", c.path, "")
		if a.StatusCode != c.status {
			t.Errorf("%s as %q: %d %s", c.path, c.token, a.StatusCode, a.body)
		}
		if c.status >= 400 {
			a.problem(t, c.status)
		}
	}
	if a := s.as("nobody", "GET", "/public", ""); !strings.Contains(a.body, "eve") {
		t.Errorf("a public operation knows who asks when a token says so: %s", a.body)
	}
	if a := s.as("wrong", "GET", "/public", ""); !strings.Contains(a.body, "a stranger") {
		t.Errorf("a wrong token is a stranger's: %s", a.body)
	}
}

// raw sends text over a connection of its own and gives the answer as it comes.
func raw(t *testing.T, s *server, text string) (*http.Response, net.Conn) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, conn
}

func TestNothingOfABodyIsReadBeforeTheCallerIsKnown(t *testing.T) {
	read := make(chan int64, 4)
	s := serve(t, web.Op(web.Operation{ID: "up", Method: "POST", Path: "/api/up", MaxBody: -1},
		func(context.Context, *web.None) (*web.Stream, error) {
			return web.Streaming("text/plain", func(_ context.Context, r io.Reader, _ io.Writer, _ func()) {
				n, _ := io.Copy(io.Discard, r)
				read <- n
			}), nil
		}),
		web.Op(web.Operation{ID: "small", Method: "POST", Path: "/api/small"},
			func(_ context.Context, in *struct{ RawBody []byte }) (*web.None, error) {
				read <- int64(len(in.RawBody))
				return nil, nil
			}))
	for _, c := range []struct {
		path, token string
		status      int
	}{
		{"/api/up", "wrong", 401}, {"/api/up", "nobody", 403}, {"/api/small", "wrong", 401}, {"/api/nothing", "wrong", 401},
		{"/api/small", "api", 413}, {"/api/nothing", "api", 404},
	} {
		// A gigabyte is announced and nothing of it sent: whoever reads it waits for ever.
		resp, _ := raw(t, s, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nX-Auth-Token: %s\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n", c.path, c.token))
		if resp.StatusCode != c.status {
			t.Errorf("%s as %s: %d", c.path, c.token, resp.StatusCode)
		}
	}
	resp, _ := raw(t, s, "POST /api/up HTTP/1.1\r\nHost: x\r\nX-Auth-Token: wrong\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n")
	if resp.StatusCode != 401 {
		t.Errorf("a client that asks before it sends: %d", resp.StatusCode)
	}
	if len(read) != 0 {
		t.Errorf("a handler ran and read %d bytes", <-read)
	}
}

func TestWithoutAnAuthenticatorOnlyPublicOperationsAnswer(t *testing.T) {
	router, err := web.New(web.Options{Log: discard(), Operations: []web.Operation{
		whoami(web.Operation{ID: "who", Path: "/api/who"}), whoami(web.Operation{ID: "public", Path: "/public", Public: true}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, status := range map[string]int{"/api/who": 401, "/public": 200} {
		if got := call(router, "GET", path, "api"); got.Code != status {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}
