package web_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

func discard() *slog.Logger { return telemetry.Discard() }

// call sends a request without a network.
func call(h http.Handler, method, target, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Header.Set("X-Auth-Token", token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// lines gives the log lines as JSON.
func (s *server) lines() []map[string]any {
	s.t.Helper()
	s.Close() // waits for every request, and so for its line
	var all []map[string]any
	for text := range strings.Lines(s.log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatalf("%v in %s", err, text)
		}
		all = append(all, line)
	}
	return all
}

func TestOneLinePerRequest(t *testing.T) {
	logging := func(path string) web.Operation {
		return fails(path, func() error { return problem.Wrap(context.DeadlineExceeded, problem.Unavailable, "not now") })
	}
	s := serve(t, say("GET", "/api/fine"), logging("/broken"), fails("/mine", func() error { return problem.New(problem.Conflict, "no") }))
	s.send("GET", "/api/fine?secret=1", "", "X-Auth-Token", "proxy", "X-Request-Id", "given-1")
	s.send("GET", "/api/fine", "", "X-Request-Id", "given-2")
	s.send("GET", "/broken", "", "X-Request-Id", "given-3")
	s.send("GET", "/mine", "", "X-Request-Id", "given-4")
	lines := s.lines()
	want := []map[string]any{
		{"level": "INFO", "request_id": "given-1", "path": "/api/fine", "status": 200.0, "user": "ada", "actor": "sso", "bytes": 26.0, "remote": "127.0.0.1", "method": "GET"},
		{"level": "INFO", "request_id": "given-2", "status": 401.0, "user": nil, "actor": nil},
		{"level": "ERROR", "request_id": "given-3", "status": 503.0, "error": "unavailable: not now: context deadline exceeded"},
		{"level": "INFO", "request_id": "given-4", "status": 409.0, "error": nil},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines for %d requests: %s", len(lines), len(want), s.log)
	}
	for i, w := range want {
		for key, value := range w {
			if lines[i][key] != value {
				t.Errorf("line %d: %s is %v, want %v", i, key, lines[i][key], value)
			}
		}
		if ms, ok := lines[i]["ms"].(float64); !ok || ms < 0 {
			t.Errorf("line %d: ms is %v", i, lines[i]["ms"])
		}
	}
	if got := strings.Count(s.log.String(), "request_id"); got != len(want) {
		t.Errorf("request_id stands %d times in %d lines", got, len(want))
	}
	if strings.Contains(s.log.String(), "secret") {
		t.Error("queries may hold what is private")
	}
}

func TestRequestIDs(t *testing.T) {
	s := serve(t, say("GET", "/api/fine"))
	for _, c := range []struct {
		given string
		kept  bool
	}{
		{"abc-DEF_1.2", true}, {strings.Repeat("x", 64), true},
		{"", false}, {strings.Repeat("x", 65), false}, {"a b", false}, {`a","level":"x`, false}, {"<script>", false}, {"ü", false},
	} {
		got := s.send("GET", "/api/fine", "", "X-Request-Id", c.given).Header.Get("X-Request-Id")
		if (got == c.given) != c.kept || got == "" {
			t.Errorf("%q becomes %q", c.given, got)
		}
	}
	a, b := s.send("GET", "/api/fine", ""), s.send("GET", "/api/fine", "")
	if a.Header.Get("X-Request-Id") == b.Header.Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
}

func TestAClientThatGoesAwayIsNoError(t *testing.T) {
	entered := make(chan struct{})
	s := serve(t, web.Op(web.Operation{ID: "wait", Method: "GET", Path: "/wait", Public: true},
		func(ctx context.Context, _ *web.None) (*web.None, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/wait", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("the client was to go away")
	}
	lines := s.lines()
	if len(lines) != 1 || lines[0]["level"] != "WARN" {
		t.Errorf("%s", s.log)
	}
}

func TestAnAbortedAnswerIsLogged(t *testing.T) {
	s := serve(t, fails("/abort", func() error { panic(http.ErrAbortHandler) }))
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/abort", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := s.Client().Do(req); err == nil {
		_ = resp.Body.Close()
		t.Errorf("the connection was to be cut: %d", resp.StatusCode)
	}
	if lines := s.lines(); len(lines) == 0 || lines[0]["level"] != "WARN" {
		t.Errorf("%s", s.log)
	}
}
