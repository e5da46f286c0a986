package user_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules/user"
)

// engines runs a test on SQLite and on PostgreSQL, each time with the tables of
// the module and nothing in them.
func engines(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
	t.Run("postgres", func(t *testing.T) {
		test(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())}))
	})
}

func sqlite(t testing.TB) *db.DB {
	return open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")})
}

func open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.Migrate(t.Context(), []db.Source{{Module: "user", Files: os.DirFS("migrations")}}); err != nil {
		t.Fatal(err)
	}
	return d
}

// server is the module behind real HTTP, with a clock of its own.
type server struct {
	testing.TB
	*user.Service
	db    *db.DB
	clock *testkit.Clock
	url   string
	log   *strings.Builder
}

// config has cheap hashes, so that tests are quick.
func config() *user.Config {
	c := user.Defaults()
	c.AdminPassword = "correct horse"
	c.Hashing.Memory = 8 * conf.Bytes(1024)
	c.Hashing.Passes = 1
	return c
}

func serve(t testing.TB, d *db.DB, c *user.Config) *server {
	t.Helper()
	return serveTelling(t, d, c, nil)
}

// serveTelling is serve with a bus for the events.
func serveTelling(t testing.TB, d *db.DB, c *user.Config, bus *event.Bus) *server {
	t.Helper()
	s := &server{TB: t, db: d, clock: testkit.NewClock(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)), log: &strings.Builder{}}
	logger := telemetry.New(s.log, telemetry.Config{Level: "debug"})
	s.Service = user.New(user.Options{DB: d, Bus: bus, Config: c, Log: logger, Now: s.clock.Now})
	router, err := web.New(web.Options{
		Log: telemetry.Discard(), Authenticator: s.Authenticator(), Operations: user.Operations(s.Service), MaxBody: 1 << 20, Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(webtest.Checked(t, router))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// start is serve with the admin of the first start.
func start(t testing.TB, d *db.DB) *server {
	s := serve(t, d, config())
	if err := s.EnsureAdmin(t.Context(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	return s
}

// root is a context in which everything is allowed.
func root(t testing.TB) context.Context { return auth.With(t.Context(), auth.System("test")) }

// user makes a user with the password "password of NAME".
func (s *server) user(name string, change func(u *user.User), roles ...string) *user.User {
	s.Helper()
	u := &user.User{Username: name, Email: name + "@example.org", Roles: roles, Enabled: true}
	if change != nil {
		change(u)
	}
	if err := s.Create(root(s), u, "password of "+name); err != nil {
		s.Fatal(err)
	}
	return u
}

// token makes a token of a user.
func (s *server) token(name string) string {
	s.Helper()
	secret, _, err := s.CreateToken(root(s), name, "test", user.Unlimited)
	if err != nil {
		s.Fatal(err)
	}
	return secret
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// object gives the body as an object.
func (a answer) object(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// do sends a request; a token "Bearer x" goes into Authorization.
func (s *server) do(method, path, token, body string) answer {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	switch {
	case strings.Contains(token, " "):
		req.Header.Set("Authorization", token)
	case token != "":
		req.Header.Set("X-Auth-Token", token)
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

// want fails unless the status is the one given; a refusal must have the error
// form of the API.
func (s *server) want(status int, a answer) answer {
	s.Helper()
	if a.status != status {
		s.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if status >= 400 {
		s.refusal(a)
	}
	return a
}

// refusal checks the error form, and that nothing of the inside shows.
func (s *server) refusal(a answer) {
	s.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		s.Errorf("Content-Type %q", got)
	}
	v := a.object(s)
	messages, _ := v["error"].([]any)
	if v["success"] != false || v["acknowledged"] != true || len(messages) == 0 || v["status"] != float64(a.status) || v["detail"] == "" {
		s.Errorf("not the error form: %s", a.body)
	}
	for _, leak := range []string{"SELECT", "INSERT", "user_account", "user_token", "sqlite", "SQLSTATE", "goroutine", "pgx", ".go:", "argon2"} {
		if strings.Contains(a.body, leak) {
			s.Errorf("the answer tells about the inside (%s): %s", leak, a.body)
		}
	}
}

// rows counts what is stored.
func (s *server) rows() (n int64) {
	s.Helper()
	if err := s.db.Row(s.Context(), countRows).Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}

var countRows = db.SQL(`SELECT (SELECT count(*) FROM user_account) * 1000 + (SELECT count(*) FROM user_token)`)

func discard() *slog.Logger { return telemetry.Discard() }
