package mcp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/modules/mcp"
)

const patience = 3 * time.Minute

// people are the users of the tests; the token of each is the name. One can be
// sent away.
type people struct {
	mu   sync.Mutex
	gone map[string]bool
}

// Authenticate implements auth.Authenticator.
func (p *people) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, name := range []string{"ann", "bob", "ann-too"} {
		if name == token && !p.gone[name] {
			user, _, _ := strings.Cut(name, "-")
			return auth.New(auth.Identity{UserID: int64(len(user)), Username: user, TokenID: int64(i + 1), Granted: []string{auth.RoleAPI}}), nil
		}
	}
	return nil, problem.New(problem.Unauthenticated, "Authentication failed")
}

func (p *people) sendAway(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone[name] = true
}

// bench is a source of tools and resources, as a plugin is one.
type bench struct {
	mu      sync.Mutex
	started chan string // names of calls that wait
	ended   chan error  // why they ended
	changed func(uri string)
}

func newBench() *bench { return &bench{started: make(chan string, 10), ended: make(chan error, 10)} }

func (*bench) SourceName() string { return "bench" }

func (*bench) Tools(context.Context) ([]port.Tool, error) {
	return []port.Tool{
		{Name: "echo", Description: "Says it again", ReadOnly: true, Input: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)},
		{Name: "hang", Description: "Waits until it is cancelled"},
		{Name: "get_current_user", Description: "Takes a name of the server"},
		{Name: "bad name", Description: "Has a name that clients refuse"},
		{Name: "panics", Description: "Panics"},
		{Name: "half", Description: "Answers what is no JSON"},
		{Name: "list", Description: "Answers JSON that is no object"},
		{Name: "deep", Description: "Has a schema that no JSON can hold together with what stands around it", Input: deepSchema()},
	}, nil
}

// deepSchema nests as deep as encoding/json reads.
func deepSchema() []byte {
	const levels = 9_999
	return []byte(`{"type":"object"` + strings.Repeat(`,"not":{"x":1`, levels) + strings.Repeat("}", levels+1))
}

func (b *bench) CallTool(ctx context.Context, c port.ToolCall) (*port.ToolResult, error) {
	switch c.Name {
	case "echo":
		c.Progress(1, 2, "half")
		return &port.ToolResult{Structured: c.Arguments}, nil
	case "hang":
		b.started <- c.Name
		<-ctx.Done()
		b.ended <- ctx.Err()
		return nil, ctx.Err()
	case "half":
		return &port.ToolResult{Structured: []byte(`{"half":`)}, nil
	case "list":
		return &port.ToolResult{Structured: []byte(`[1]`)}, nil
	case "panics":
		panic("the tool is broken")
	}
	return nil, errors.New("unknown")
}

func (*bench) WatchTools(func()) {}

func (*bench) Resources(context.Context) ([]port.Resource, error) {
	return []port.Resource{{URI: "elasticms://bench/one", Name: "one"}}, nil
}

func (*bench) ResourceTemplates(context.Context) ([]port.ResourceTemplate, error) { return nil, nil }

func (*bench) ReadResource(_ context.Context, uri string) ([]port.ResourceContent, error) {
	if uri != "elasticms://bench/one" {
		return nil, problem.New(problem.NotFound, "no")
	}
	return []port.ResourceContent{{URI: uri, MIME: "text/plain", Text: "one"}}, nil
}

func (b *bench) WatchResources(changed func(string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = changed
}

func (b *bench) change(uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed(uri)
}

// replica is the endpoint in a process of its own, as far as it knows.
type replica struct {
	*mcp.Service

	url   string
	bench *bench
	stop  func()
}

func replicaOn(t testing.TB, d *db.DB, who *people, amend func(*mcp.Config)) *replica {
	t.Helper()
	return replicaAt(t, d, who, amend, nil)
}

// replicaAt is replicaOn with a clock.
func replicaAt(t testing.TB, d *db.DB, who *people, amend func(*mcp.Config), now func() time.Time) *replica {
	t.Helper()
	r := &replica{bench: newBench()}
	c := mcp.Defaults()
	c.Fixtures = true
	if amend != nil {
		amend(c)
	}
	r.Service = mcp.New(t.Context(), mcp.Options{
		DB: d, Config: c, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "test", Authenticator: who, Now: now,
		Tools: []port.ToolSource{r.bench}, Resources: []port.ResourceSource{r.bench},
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := web.New(web.Options{Log: slog.New(slog.DiscardHandler), Authenticator: who, Operations: mcp.Operations(r.Service), MaxBody: 1 << 20, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(webtest.Checked(t, router))
	r.url = server.URL + "/api/mcp"
	r.stop = sync.OnceFunc(func() {
		within, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.Stop(within); err != nil {
			t.Error(err)
		}
		server.CloseClientConnections()
		server.Close()
	})
	t.Cleanup(r.stop)
	return r
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
	if _, err := d.Migrate(context.Background(), []db.Source{work.Migrations(), mcp.Sources()}); err != nil {
		t.Fatal(err)
	}
	return d
}

// engines runs a test on SQLite and on PostgreSQL.
func engines(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")})) })
	t.Run("postgres", func(t *testing.T) { test(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())})) })
}

// turns sends the requests of a client to replicas in turn, with its token.
type turns struct {
	token    string
	replicas []*replica
	n        atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (x *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	to := x.replicas[int(x.n.Add(1))%len(x.replicas)]
	r = r.Clone(r.Context())
	r.URL.Host = strings.TrimSuffix(strings.TrimPrefix(to.url, "http://"), "/api/mcp")
	r.Host = r.URL.Host
	r.Header.Set("X-Auth-Token", x.token)
	return http.DefaultTransport.RoundTrip(r)
}

// connect signs the SDK's own client in; version may be empty for the newest.
func connect(t testing.TB, token, version string, o *sdk.ClientOptions, replicas ...*replica) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://any/api/mcp", HTTPClient: &http.Client{Transport: &turns{token: token, replicas: replicas}},
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// post sends a message and gives the status, the headers and the body.
func post(t testing.TB, r *replica, token, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	return send(t, http.MethodPost, r.url, token, body, headers...)
}

func send(t testing.TB, method, url, token, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("X-Auth-Token", token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialize1 = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ping        = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	echo        = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`
)

// begin opens a session by hand and gives its id.
func begin(t testing.TB, r *replica, token, message string, headers ...string) string {
	t.Helper()
	status, h, body := post(t, r, token, message, headers...)
	if status != 200 || h.Get("Mcp-Session-Id") == "" {
		t.Fatalf("initialize: %d %s", status, body)
	}
	return h.Get("Mcp-Session-Id")
}
