package form_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/modules/form"
)

// people are the users of the tests; the token of each is the name.
type people map[string]*auth.Identity

// Authenticate implements auth.Authenticator.
func (p people) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	if id := p[token]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

func users() people {
	return people{
		"site": auth.New(auth.Identity{Username: "site", Granted: []string{auth.RoleAPI}}),
		"crm":  auth.New(auth.Identity{Username: "crm", Granted: []string{auth.RoleAPI, auth.RoleFormCRM}}),
		"none": auth.New(auth.Identity{Username: "none"}),
	}
}

// server is the module on a real database and a real blob store, with a clock
// of its own.
type server struct {
	testing.TB
	*form.Service
	db    *db.DB
	blobs blob.Store
	clock *testkit.Clock
	url   string

	mu     sync.Mutex
	events []event.Event
}

// engines runs a test on SQLite with a folder, and on PostgreSQL with MinIO.
func engines(t *testing.T, test func(t *testing.T, s *server)) {
	t.Parallel()
	t.Run("sqlite and disk", func(t *testing.T) { test(t, serve(t, nil)) })
	t.Run("postgres and minio", func(t *testing.T) {
		test(t, serveOn(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())}), bucket(t, testkit.MinIO(t)), nil))
	})
}

func open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if _, err := d.Migrate(t.Context(), []db.Source{work.Migrations(), event.Migrations(), form.Sources()}); err != nil {
		t.Fatal(err)
	}
	return d
}

func bucket(t testing.TB, address string) blob.Store {
	t.Helper()
	b, err := place.Open(address, 0)
	if err == nil {
		err = b.Check(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func serve(t testing.TB, configure func(*form.Config)) *server {
	t.Helper()
	dir := t.TempDir()
	return serveOn(t, open(t, db.Config{Path: filepath.Join(dir, "quoin.db")}), bucket(t, filepath.Join(dir, "files")), configure)
}

func serveOn(t testing.TB, d *db.DB, b blob.Store, configure func(*form.Config)) *server {
	t.Helper()
	c := form.Defaults()
	if configure != nil {
		configure(c)
	}
	s := &server{TB: t, db: d, blobs: b, clock: testkit.NewClock(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC))}
	bus := event.New(d, event.Options{Log: telemetry.Discard()})
	err := bus.Register(nil, []event.Live{{Name: "test", Patterns: []string{"*"}, Deliver: func(list []event.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, list...)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Service = form.New(form.Options{DB: d, Blobs: b, Bus: bus, Config: c, Log: telemetry.Discard(), Now: s.clock.Now})
	router, err := web.New(web.Options{Log: telemetry.Discard(), Authenticator: users(), Operations: form.Operations(s.Service), MaxBody: 1 << 20, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(webtest.Checked(t, router))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func (s *server) send(method, path, user, body string) *http.Response {
	s.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if user != "" {
		req.Header.Set("X-Auth-Token", user)
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		s.Fatal(err)
	}
	return res
}

// do sends a request of a user and gives status and body.
func (s *server) do(method, path, user, body string) (int, string) {
	s.Helper()
	res := s.send(method, path, user, body)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// want is do, which must answer the status; the body is decoded into out.
func (s *server) want(status int, method, path, user, body string, out any) string {
	s.Helper()
	got, text := s.do(method, path, user, body)
	if got != status {
		s.Fatalf("%s %s: %d instead of %d: %s", method, path, got, status, text)
	}
	if out != nil {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			s.Fatalf("%s: %v", text, err)
		}
	}
	return text
}

type stored struct {
	ID         string          `json:"submission_id"`
	Submission json.RawMessage `json:"submission"`
}

// submit stores a submission with these members besides those needed.
func (s *server) submit(name, data, more string) stored {
	s.Helper()
	var out stored
	s.want(200, "POST", "/api/forms/submissions", "site", `{"form_name":"`+name+`","instance":"web","locale":"fr","data":`+data+more+`}`, &out)
	return out
}

// with is a list of files: name, content in base64, size.
func with(files ...string) string {
	var list []string
	for i := 0; i < len(files); i += 3 {
		list = append(list, `{"filename":"`+files[i]+`","mimeType":"text/plain","base64":"`+files[i+1]+`","size":"`+files[i+2]+`","form_field":"attachment"}`)
	}
	return `,"files":[` + strings.Join(list, ",") + `]`
}

// blobsLeft counts the blobs of submissions.
func (s *server) blobsLeft() (n int) {
	s.Helper()
	if err := s.blobs.List(context.Background(), func(blob.Info) error { n++; return nil }); err != nil {
		s.Fatal(err)
	}
	return n
}

func (s *server) rows(table string) (n int) {
	s.Helper()
	if err := s.db.Row(context.Background(), db.SQL("SELECT count(*) FROM "+table)).Scan(&n); err != nil {
		s.Fatal(err)
	}
	return n
}
