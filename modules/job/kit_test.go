package job_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules/job"
)

// server is the module behind real HTTP on a real database, with a clock of
// its own.
type server struct {
	testing.TB
	*job.Service
	db       *db.DB
	clock    *testkit.Clock
	url      string
	client   *http.Client
	recorder *recorder
	steps    *steps
	stopping chan struct{}
	users    *door
	stop     func()
	open     sync.WaitGroup // requests
}

// steps let a test hold the command `wait` in its middle.
type steps struct {
	entered chan string // the name of who runs it
	leave   chan error
}

func commands(st *steps) []module.Spec {
	return []module.Spec{{Name: "test", Commands: []module.Command{
		module.Plain(module.Command{Use: "say WORD", Short: "Print words", Args: [2]int{1, -1}, Aliases: []string{"old:say"}, Flags: []module.Flag{
			{Name: "times", Default: 1}, {Name: "loud", Default: false}, {Name: "with", Default: []string{}}, {Name: "for", Default: time.Duration(0)}, {Name: "to", Default: ""},
		}}, func(_ context.Context, c *module.Call) error {
			for range c.Flags("times").(int) {
				_, _ = fmt.Fprintln(c.Out, strings.Join(append(c.Args, c.Strings("with")...), " ")+c.String("to"))
			}
			return nil
		}),
		module.Plain(module.Command{Use: "fail", Short: "Fail"}, func(_ context.Context, c *module.Call) error {
			_, _ = fmt.Fprint(c.Out, "trying")
			return errors.New("it did not work")
		}),
		module.Plain(module.Command{Use: "crash"}, func(context.Context, *module.Call) error { panic("secret") }),
		module.Plain(module.Command{Use: "wait"}, func(ctx context.Context, c *module.Call) error {
			st.entered <- auth.From(ctx).Username
			select {
			case err := <-st.leave:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}),
		module.Plain(module.Command{Use: "super", Roles: []string{auth.RoleSuperAdmin}}, func(context.Context, *module.Call) error { return nil }),
		module.Plain(module.Command{Use: "host read", Local: true}, func(context.Context, *module.Call) error { return nil }),
	}}}
}

// engines runs a test on SQLite and on PostgreSQL, each time with an empty
// database.
func engines(t *testing.T, test func(t *testing.T, s *server)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, serve(t, nil)) })
	t.Run("postgres", func(t *testing.T) { test(t, serveOn(t, open(t, db.Config{URL: postgres(t)}), nil)) })
}

func postgres(t testing.TB) string {
	return testkit.Postgres(t, testkit.WithoutFsync(), testkit.FromTemplate("job", func(url string) error {
		d, err := db.Open(context.Background(), db.Config{URL: url})
		if err != nil {
			return err
		}
		_, err = d.Migrate(context.Background(), job.Sources())
		return errors.Join(err, d.Close())
	}))
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
	if _, err := d.Migrate(t.Context(), job.Sources()); err != nil {
		t.Fatal(err)
	}
	return d
}

// serve starts the module on a fresh SQLite file.
func serve(t testing.TB, config func(*job.Config)) *server {
	return serveOn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}), config)
}

func serveOn(t testing.TB, d *db.DB, config func(*job.Config)) *server {
	t.Helper()
	s := &server{
		TB: t, db: d, clock: testkit.NewClock(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)), recorder: &recorder{},
		steps: &steps{make(chan string), make(chan error)}, stopping: make(chan struct{}), users: &door{users: testUsers()},
	}
	c := job.Defaults()
	if config != nil {
		config(c)
	}
	bus := event.New(d, event.Options{Log: telemetry.Discard()})
	if err := bus.Register(nil, []event.Live{{Name: "test", Patterns: []string{"*"}, Deliver: s.recorder.take}}); err != nil {
		t.Fatal(err)
	}
	var err error
	s.Service, err = job.New(job.Options{
		DB: d, Config: c, Bus: bus, Commands: module.NewCommands(commands(s.steps)), People: testUsers(), Stopping: s.stopping, Log: telemetry.Discard(), Now: s.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	background := job.Background(s.Service)
	if err := background.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		if err := background.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	router, err := web.New(web.Options{Log: telemetry.Discard(), Authenticator: s.users, Operations: job.Operations(s.Service), MaxBody: 16 << 20, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	checked := webtest.Checked(t, router)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.open.Add(1)
		defer s.open.Done()
		checked.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	s.url, s.client = h.URL, h.Client()
	s.client.Timeout = time.Minute
	return s
}

// recorder keeps the events that were committed.
type recorder struct {
	mu     sync.Mutex
	events []event.Event
}

func (r *recorder) take(events []event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, events...)
}

// drain gives the events since the last call.
func (r *recorder) drain() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// told gives the types of the events since the last call.
func (s *server) told() string {
	var types []string
	for _, e := range s.recorder.drain() {
		types = append(types, e.Type)
	}
	return strings.Join(types, " ")
}

// users are identities by their token, which is their name.
type users map[string]*auth.Identity

func testUsers() users {
	u := users{}
	add := func(name string, roles ...string) {
		u[name] = auth.New(auth.Identity{Username: name, Granted: roles})
	}
	add("admin", auth.RoleAdmin, auth.RoleAPI)
	add("root", auth.RoleSuperAdmin, auth.RoleAPI)
	add("worker", auth.RoleJobWorker, auth.RoleAPI)
	add("author", auth.RoleAuthor, auth.RoleAPI)
	add("noapi", auth.RoleAdmin, auth.RoleJobWorker)
	return u
}

// Authenticate implements auth.Authenticator.
func (u users) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	if id := u[token]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

// Identity implements port.Identities.
func (u users) Identity(_ context.Context, name string) (*auth.Identity, error) {
	if id := u[name]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.NotFound, "there is no user %q", name)
}

// door lets the users in, each so many times as it is told.
type door struct {
	users
	mu   sync.Mutex
	left map[string]int // token → how many times more; any number for those that are not in it
}

// allow lets a user in so many times more.
func (d *door) allow(token string, times int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = map[string]int{token: times}
}

// Authenticate implements auth.Authenticator.
func (d *door) Authenticate(ctx context.Context, token string) (*auth.Identity, error) {
	d.mu.Lock()
	if times, some := d.left[token]; some {
		if d.left[token]--; times <= 0 {
			token = ""
		}
	}
	d.mu.Unlock()
	return d.users.Authenticate(ctx, token)
}

// answer is what came back.
type answer struct {
	t      testing.TB
	call   string
	status int
	header http.Header
	body   []byte
}

// call sends a request as a user; headers come in pairs.
func (s *server) call(as, method, path, body string, headers ...string) *answer {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		s.Fatal(err)
	}
	if as != "" {
		req.Header.Set("X-Auth-Token", as)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		s.Fatal(err)
	}
	if res.StatusCode >= 500 {
		s.Errorf("%s %s as %q: %d: %s", method, path, as, res.StatusCode, text)
	}
	return &answer{s.TB, fmt.Sprintf("%s %s as %q with %.200s", method, path, as, body), res.StatusCode, res.Header, text}
}

func (s *server) post(as, path, body string, headers ...string) *answer {
	s.Helper()
	return s.call(as, http.MethodPost, "/api/admin/"+path, body, headers...)
}

func (s *server) get(path string, headers ...string) *answer {
	s.Helper()
	return s.call("admin", http.MethodGet, "/api/admin/"+path, "", headers...)
}

// create makes a job and gives its number.
func (s *server) create(command, tag string) string {
	s.Helper()
	body, err := json.Marshal(map[string]any{"command": command, "tag": tag})
	if err != nil {
		s.Fatal(err)
	}
	return s.post("admin", "job/create", string(body)).is(200).text("id")
}

// is checks the status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %s", a.call, a.status, status, a.body)
	}
	return a
}

// raw gives a member as JSON, "" when it is not there.
func (a *answer) raw(key string) string {
	v, _ := rawjson.Get(a.body, key)
	return string(v)
}

// text gives a member that is a string.
func (a *answer) text(key string) string {
	a.t.Helper()
	s, ok := rawjson.String([]byte(a.raw(key)))
	if !ok {
		a.t.Fatalf("%s: %s is %q, not a string: %s", a.call, key, a.raw(key), a.body)
	}
	return s
}

// has checks members: key, JSON, key, JSON …
func (a *answer) has(pairs ...string) *answer {
	a.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := a.raw(pairs[i]); got != pairs[i+1] {
			a.t.Errorf("%s: %s is %s, want %s\n%s", a.call, pairs[i], got, pairs[i+1], a.body)
		}
	}
	return a
}

// keys checks the members there are, in any order.
func (a *answer) keys(want ...string) *answer {
	a.t.Helper()
	var m map[string]any
	if err := json.Unmarshal(a.body, &m); err != nil {
		a.t.Fatalf("%s: %v: %s", a.call, err, a.body)
	}
	for _, key := range want {
		if _, there := m[key]; !there {
			a.t.Errorf("%s: no %s in %s", a.call, key, a.body)
		}
		delete(m, key)
	}
	if len(m) > 0 {
		a.t.Errorf("%s: unexpected %v", a.call, m)
	}
	return a
}

func (s *server) request(as, method, path, body string) *http.Request {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", as)
	req.Header.Set("Content-Type", "application/json")
	return req
}

// idle waits until no request is being answered.
func (s *server) idle() { s.open.Wait() }
