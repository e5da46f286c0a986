package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// tokens signs in the holders of fixed tokens.
type tokens map[string]*auth.Identity

func (t tokens) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	if id := t[token]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

func people() tokens {
	return tokens{
		"api":    auth.New(auth.Identity{Username: "ada", Granted: []string{auth.RoleAPI}}),
		"admin":  auth.New(auth.Identity{Username: "root", Granted: []string{auth.RoleAPI, auth.RoleAdmin}}),
		"nobody": auth.New(auth.Identity{Username: "eve"}),
		"proxy":  auth.New(auth.Identity{Username: "ada", Actor: "sso", Granted: []string{auth.RoleAPI}}),
	}
}

// logBuffer collects log lines of several goroutines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// server is a router behind a real listener.
type server struct {
	*httptest.Server
	t   testing.TB
	log *logBuffer
}

func serve(t testing.TB, ops ...web.Operation) *server {
	t.Helper()
	return serveWith(t, func(*web.Options) {}, ops...)
}

// serveWith is serve with other options.
func serveWith(t testing.TB, change func(*web.Options), ops ...web.Operation) *server {
	t.Helper()
	log := &logBuffer{}
	options := web.Options{
		Log: telemetry.New(log, telemetry.Config{Level: "debug"}), Authenticator: people(), Operations: ops, MaxBody: 4096, Version: "test",
	}
	change(&options)
	router, err := web.New(options)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{httptest.NewUnstartedServer(router), t, log}
	s.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(log, nil), slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// answer is a whole answer.
type answer struct {
	*http.Response
	body string
}

// send sends a request as it is: no redirects are followed.
func (s *server) send(method, target, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+target, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.Client().Transport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{resp, string(b)}
}

// begun reads an answer that may not come to its end, and gives what came.
func (s *server) begun(target string) (status int, body string, err error) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// as sends a request with a token.
func (s *server) as(token, method, target, body string) answer {
	s.t.Helper()
	return s.send(method, target, body, "X-Auth-Token", token)
}

// form is the error form of the API.
type form struct {
	Success      *bool                `json:"success"`
	Acknowledged *bool                `json:"acknowledged"`
	Messages     []string             `json:"error"`
	Message      string               `json:"message"`
	Type         string               `json:"type"`
	Title        string               `json:"title"`
	Status       int                  `json:"status"`
	Detail       string               `json:"detail"`
	Code         string               `json:"code"`
	Instance     string               `json:"instance"`
	Fields       []problem.FieldError `json:"errors"`
}

// problem checks that an answer is an error in the API's form and gives it.
func (a answer) problem(t testing.TB, status int) form {
	t.Helper()
	var f form
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
	if err := json.Unmarshal([]byte(a.body), &f); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	if f.Success == nil || *f.Success || f.Acknowledged == nil || !*f.Acknowledged || len(f.Messages) == 0 ||
		!strings.HasPrefix(f.Type, "urn:quoin:problem:") || f.Title == "" || f.Status != status || f.Detail == "" {
		t.Errorf("the form is not complete: %s", a.body)
	}
	if f.Instance == "" || f.Instance != a.Header.Get("X-Request-Id") {
		t.Errorf("instance %q, X-Request-Id %q", f.Instance, a.Header.Get("X-Request-Id"))
	}
	return f
}

type text struct {
	Value string `json:"value"`
}

// say is an operation without input that answers its own name.
func say(method, path string) web.Operation {
	return web.Op(web.Operation{ID: method + path, Method: method, Path: path, Module: "test"},
		func(context.Context, *web.None) (*web.Reply[text], error) {
			return web.Answer(text{method + " " + path})
		})
}

// fails is an operation that fails.
func fails(path string, err func() error) web.Operation {
	return web.Op(web.Operation{ID: path, Method: http.MethodGet, Path: path, Public: true},
		func(context.Context, *web.None) (*web.Reply[text], error) { return nil, err() })
}
