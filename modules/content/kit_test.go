package content_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules/content"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// server is the module behind real HTTP on a real database, with a clock of
// its own and a list of the events that it emitted.
type server struct {
	testing.TB
	*content.Kit
	db        *db.DB
	clock     *testkit.Clock
	url       string
	client    *http.Client
	handler   http.Handler
	recorder  *recorder
	refreshed *refresher
	meanwhile atomic.Pointer[func()]
	users     *door
	log       logged
}

// logged is what the module logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// engines runs a test on SQLite and on PostgreSQL, each time with an empty
// database.
func engines(t *testing.T, test func(t *testing.T, s *server)) {
	t.Parallel() // they share the template of the database while they overlap
	t.Run("sqlite", func(t *testing.T) { test(t, serve(t, nil)) })
	t.Run("postgres", func(t *testing.T) {
		url := testkit.Postgres(t, testkit.WithoutFsync(), testkit.FromTemplate("content", func(url string) error {
			d, err := db.Open(context.Background(), db.Config{URL: url})
			if err != nil {
				return err
			}
			_, err = d.Migrate(context.Background(), content.Sources())
			return cmpErr(err, d.Close())
		}))
		test(t, serveOn(t, open(t, db.Config{URL: url}), nil))
	})
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
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
	if _, err := d.Migrate(t.Context(), content.Sources()); err != nil {
		t.Fatal(err)
	}
	return d
}

// serve starts the module on a fresh SQLite file.
func serve(t testing.TB, config func(*content.Config)) *server {
	return serveOn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}), config)
}

func serveOn(t testing.TB, d *db.DB, config func(*content.Config)) *server {
	t.Helper()
	s := &server{TB: t, db: d, clock: testkit.NewClock(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)), recorder: &recorder{}, refreshed: &refresher{}, users: &door{users: testUsers()}}
	c := content.Defaults()
	if config != nil {
		config(c)
	}
	bus := event.New(d, event.Options{Log: telemetry.Discard()})
	if err := bus.Register(nil, []event.Live{{Name: "test", Patterns: []string{"*"}, Deliver: s.recorder.take}}); err != nil {
		t.Fatal(err)
	}
	kit, err := content.NewKit(content.KitOptions{DB: d, Bus: bus, Log: slog.New(slog.NewTextHandler(&s.log, nil)), Now: s.now, Refresh: s.refreshed, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	s.Kit = kit
	if err := kit.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := web.New(web.Options{Log: telemetry.Discard(), Authenticator: s.users, Operations: kit.Operations, MaxBody: 16 << 20, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = webtest.Checked(t, router)
	h := httptest.NewServer(s.handler)
	t.Cleanup(h.Close)
	s.url, s.client = h.URL, h.Client()
	s.client.Timeout = time.Minute
	s.put("content-type", pageType)
	s.events()
	return s
}

// now is the clock of the module. Every write looks at it after reading what it
// changes: the moment in which another one can come in between.
func (s *server) now() time.Time {
	if fn := s.meanwhile.Swap(nil); fn != nil {
		(*fn)()
	}
	return s.clock.Now()
}

// between runs fn once, in the middle of the next write.
func (s *server) between(fn func()) { s.meanwhile.Store(&fn) }

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

// events gives the events since the last call.
func (s *server) events() []event.Event {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	events := s.recorder.events
	s.recorder.events = nil
	return events
}

// told checks the types of the events since the last call, in any order where
// want is sorted, and gives the events.
func (s *server) told(want ...string) []event.Event {
	s.Helper()
	events := s.events()
	got := []string{}
	for _, e := range events {
		got = append(got, e.Type)
	}
	if !slices.Equal(got, want) {
		s.Errorf("events %v, want %v", got, want)
	}
	return events
}

// refresher stands for the search index.
type refresher struct {
	mu   sync.Mutex
	keys []port.Key
	err  error
}

// Refresh implements port.Refresher.
func (r *refresher) Refresh(_ context.Context, keys []port.Key) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, keys...)
	return r.err
}

// take gives the keys since the last call.
func (r *refresher) take() []port.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := r.keys
	r.keys = nil
	return keys
}

// users are identities by their token, which is their name.
type users map[string]*auth.Identity

func testUsers() users {
	u := users{"super": auth.System("super")}
	add := func(name string, circles []string, roles ...string) {
		u[name] = auth.New(auth.Identity{Username: name, Granted: roles, Circles: circles})
	}
	add("admin", nil, auth.RoleAdmin, auth.RoleAPI)
	add("webmaster", nil, auth.RoleWebmaster, auth.RoleAPI)
	add("publisher", nil, auth.RolePublisher, auth.RoleAPI)
	add("author", nil, auth.RoleAuthor, auth.RoleAPI)
	add("other", nil, auth.RoleAuthor, auth.RoleAPI)
	add("red", []string{"circle:red"}, auth.RolePublisher, auth.RoleAPI)
	add("user", nil, auth.RoleUser, auth.RoleAPI)
	add("noapi", nil, auth.RoleAdmin)
	return u
}

// Authenticate implements auth.Authenticator.
func (u users) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	if id := u[token]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

// door lets the users in, until they are locked out.
type door struct {
	users
	out sync.Map
}

// Authenticate implements auth.Authenticator.
func (d *door) Authenticate(ctx context.Context, token string) (*auth.Identity, error) {
	if _, out := d.out.Load(token); out {
		token = ""
	}
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

// call sends a request as a user. body is a string, bytes, or nil for none;
// headers come in pairs.
func (s *server) call(as, method, path string, body any, headers ...string) *answer {
	s.Helper()
	var r io.Reader
	switch b := body.(type) {
	case string:
		r = strings.NewReader(b)
	case []byte:
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, r)
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
	if closed := res.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		s.Fatal(err)
	}
	if res.StatusCode >= 500 {
		s.Errorf("%s %s as %q: %d: %s", method, path, as, res.StatusCode, text)
	}
	return &answer{s.TB, fmt.Sprintf("%s %s as %q", method, path, as), res.StatusCode, res.Header, text}
}

// post is call with POST as the author.
func (s *server) post(path string, body any, headers ...string) *answer {
	s.Helper()
	return s.call("author", http.MethodPost, path, body, headers...)
}

func (s *server) get(path string) *answer {
	s.Helper()
	return s.call("author", http.MethodGet, path, nil)
}

// put stores a configuration entity as an administrator.
func (s *server) put(kind, export string) *answer {
	s.Helper()
	return s.call("admin", http.MethodPost, "/api/admin/"+kind, export).is(200)
}

// is checks the status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %s", a.call, a.status, status, a.body)
	}
	return a
}

// raw gives a member as JSON, "" when it is not there. Dots lead inside.
func (a *answer) raw(path string) string {
	v := a.body
	for key := range strings.SplitSeq(path, ".") {
		var ok bool
		if v, ok = rawjson.Get(v, key); !ok {
			return ""
		}
	}
	return string(v)
}

// text gives a member that is a string.
func (a *answer) text(path string) string {
	a.t.Helper()
	s, ok := rawjson.String([]byte(a.raw(path)))
	if !ok {
		a.t.Fatalf("%s: %s is %q, not a string: %s", a.call, path, a.raw(path), a.body)
	}
	return s
}

// id gives revision_id, which must be an integer.
func (a *answer) id() string {
	a.t.Helper()
	id := a.raw("revision_id")
	if id == "" || strings.Trim(id, "0123456789") != "" {
		a.t.Fatalf("%s: revision_id is %q: %s", a.call, id, a.body)
	}
	return id
}

// has checks members: path, JSON, path, JSON …
func (a *answer) has(pairs ...string) *answer {
	a.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := a.raw(pairs[i]); got != pairs[i+1] {
			a.t.Errorf("%s: %s is %s, want %s\n%s", a.call, pairs[i], got, pairs[i+1], a.body)
		}
	}
	return a
}

// keys checks the top-level members, in order.
func (a *answer) keys(want ...string) *answer {
	a.t.Helper()
	if got := keysOf(a.body); !slices.Equal(got, want) {
		a.t.Errorf("%s: members %v, want %v", a.call, got, want)
	}
	return a
}

func keysOf(raw []byte) []string {
	var keys []string
	for it := rawjson.Iterate(raw); it.Next(); {
		keys = append(keys, string(it.Key()))
	}
	return keys
}

// rows counts what is stored.
func (s *server) rows() string {
	s.Helper()
	var counts []string
	for _, table := range []string{"content_revision", "content_publication", "content_config", "event"} {
		var n int
		if err := s.db.Row(s.Context(), db.SQL("SELECT count(*) FROM "+table)).Scan(&n); err != nil {
			s.Fatal(err)
		}
		counts = append(counts, fmt.Sprintf("%s %d", table, n))
	}
	return strings.Join(counts, ", ")
}

// export turns the short form of a content type into its export.
func export(short string) string {
	ct, err := schema.ParseShort([]byte(short))
	if err != nil {
		panic(err)
	}
	return string(schema.Export(ct))
}

// pageType is the content type of most tests.
var pageType = export(`{"name":"page","singular":"Page","plural":"Pages","environment":"preview",
	"roles":{"view":"ROLE_AUTHOR","create":"ROLE_AUTHOR","edit":"ROLE_AUTHOR","publish":"ROLE_PUBLISHER","delete":"ROLE_PUBLISHER"},
	"fields":[
		{"name":"title","type":"text","required":true},
		{"name":"count","type":"integer"},
		{"name":"price","type":"number"},
		{"name":"data","type":"json"},
		{"name":"menu","type":"jsonmenu","fields":[{"name":"entry","type":"container","fields":[{"name":"text","type":"text"}]}]},
		{"name":"blocks","type":"collection","fields":[{"name":"text","type":"text","required":true}]}
	]}`)

// decode reads the answer into a Go value.
func (a *answer) decode(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%s: %v: %s", a.call, err, a.body)
	}
}
