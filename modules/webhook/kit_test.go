package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/modules/webhook"
)

// people are the users of the tests; the token of each is the name, padded.
type people map[string]*auth.Identity

func users() people {
	p := people{}
	for name, roles := range map[string][]string{
		"ann": {auth.RoleAPI, auth.RolePublisher}, "bob": {auth.RoleAPI}, "root": {auth.RoleAPI, auth.RoleAdmin}, "guest": {},
		"crm": {auth.RoleAPI, auth.RoleFormCRM},
	} {
		p[name] = auth.New(auth.Identity{UserID: int64(len(p) + 1), Username: name, Granted: roles})
	}
	return p
}

// Authenticate implements auth.Authenticator.
func (p people) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	if id := p[token]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

// Identity implements port.Identities.
func (p people) Identity(_ context.Context, name string) (*auth.Identity, error) {
	if id := p[name]; id != nil {
		return id, nil
	}
	return nil, problem.New(problem.NotFound, "no user")
}

// Visible lets publishers see pages and everybody see news.
func (people) Visible(ctx context.Context) ([]string, error) {
	if auth.From(ctx).Has(auth.RolePublisher) {
		return []string{"page", "news"}, nil
	}
	return []string{"news"}, nil
}

// content is the part of port.ContentTypes that the module asks for.
type content struct {
	port.ContentTypes
	people
}

// Visible implements port.ContentTypes.
func (c content) Visible(ctx context.Context) ([]string, error) { return c.people.Visible(ctx) }

// server is the module on a real database, with a clock of its own.
type server struct {
	testing.TB
	*webhook.Service
	db     *db.DB
	bus    *event.Bus
	clock  *testkit.Clock
	config *webhook.Config
	url    string
}

func sources() []db.Source {
	return []db.Source{work.Migrations(), event.Migrations(), webhook.Sources()}
}

// engines runs a test on SQLite and on PostgreSQL.
func engines(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")})) })
	t.Run("postgres", func(t *testing.T) {
		test(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())}))
	})
}

func open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.Migrate(context.Background(), sources()); err != nil {
		t.Fatal(err)
	}
	return d
}

// types are the events that the tests emit.
func types() []event.Type {
	return append(webhook.EventTypes(),
		event.Type{Name: "content.finalize"}, event.Type{Name: "content.published.<environment>"}, event.Type{Name: "content.unpublish"},
		event.Type{Name: "content.delete"}, event.Type{Name: "manage_alias.update.<alias>"}, event.Type{Name: "config.saved"},
		event.Type{Name: "form.submitted", Roles: []string{auth.RoleFormCRM, auth.RoleAdmin}})
}

// loopback lets tests call receivers on this machine.
func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

// serve starts the module: its endpoints, its subscriber and its sender.
func serve(t testing.TB, d *db.DB, configure func(*webhook.Config)) *server {
	t.Helper()
	return serveAt(t, d, time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), configure)
}

// serveAt is serve at a time.
func serveAt(t testing.TB, d *db.DB, now time.Time, configure func(*webhook.Config)) *server {
	t.Helper()
	s := &server{TB: t, db: d, clock: testkit.NewClock(now), config: webhook.Defaults()}
	s.config.AllowNetworks, s.config.Poll = loopback(), 20*time.Millisecond
	s.config.Lease = 24 * time.Hour // the clock of the test runs ahead of the calls
	if configure != nil {
		configure(s.config)
	}
	s.bus = event.New(d, event.Options{Log: telemetry.Discard(), Poll: 50 * time.Millisecond, Lease: time.Hour, Now: s.clock.Now})
	who := users()
	s.Service = webhook.New(webhook.Options{
		DB: d, Bus: s.bus, Config: s.config, Types: types(), Identities: who, Content: content{people: who},
		Own: []string{"127.0.0.1:8080"}, Log: telemetry.Discard(), Now: s.clock.Now,
	})
	sender := webhook.NewSender(s.Service)
	if err := s.bus.Register(webhook.Subscriptions(s.Service), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.bus.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := sender.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := s.bus.Stop(ctx); err != nil {
			t.Error(err)
		}
		cancelled, end := context.WithCancel(ctx)
		end() // calls that hang need not be waited for
		if err := sender.Stop(cancelled); err != nil {
			t.Error(err)
		}
	})
	router, err := web.New(web.Options{Log: telemetry.Discard(), Authenticator: who, Operations: webhook.Operations(s.Service), MaxBody: 1 << 20, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(webtest.Checked(t, router))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// do sends a request of a user and gives status and body.
func (s *server) do(method, path, user, body string) (int, string) {
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

type registered struct{ ID, Secret string }

// register subscribes an endpoint for ann.
func (s *server) register(url, more string, events ...string) (r registered) {
	s.Helper()
	list, _ := json.Marshal(events)
	s.want(200, "POST", "/api/webhook-subscriptions", "ann", fmt.Sprintf(`{"endpointUrl":%q,"events":%s%s}`, url, list, more), &r)
	return r
}

// emit emits events about documents: "page:1 content.finalize".
func (s *server) emit(happened ...string) {
	s.Helper()
	err := s.db.InTx(context.Background(), func(ctx context.Context) error {
		for _, h := range happened {
			subject, kind, _ := strings.Cut(h, " ")
			contentType, ouuid, _ := strings.Cut(subject, ":")
			data := fmt.Sprintf(`{"environment":"preview","alias":"quoin_preview","content_type":%q,"ouuid":%q,"raw_data":{"n":1.0,"é":"/"}}`, contentType, ouuid)
			if err := s.bus.Emit(ctx, event.Event{Type: kind, Subject: subject, Data: json.RawMessage(data)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}

// got is a call that a receiver got.
type got struct {
	header http.Header
	body   string
}

// receiver is an endpoint; answer decides what it answers to its nth call, from
// 0 on.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []got
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

func receive(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var b bytes.Buffer
		_, _ = b.ReadFrom(req.Body)
		r.mu.Lock()
		n := len(r.calls)
		r.calls = append(r.calls, got{req.Header.Clone(), b.String()})
		r.mu.Unlock()
		if r.answer != nil {
			r.answer(n, w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// all gives the calls so far.
func (r *receiver) all() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// wait waits for n calls.
func (r *receiver) wait(t testing.TB, n int) []got {
	t.Helper()
	testkit.Eventually(t, func() bool { return len(r.all()) >= n })
	return r.all()
}
