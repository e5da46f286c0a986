package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

// TestSoak lets clients of all kinds work on a server for QUOIN_TEST_SOAK, 20 s
// unless set, and looks whether it holds more goroutines, files or memory at
// the end than before.
func TestSoak(t *testing.T) {
	length := 20 * time.Second
	if text := os.Getenv("QUOIN_TEST_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		length = 5 * time.Second
	}
	t.Run("sqlite", func(t *testing.T) { soak(t, length/2, "QUOIN_DATA="+t.TempDir()) })
	t.Run("postgres and minio", func(t *testing.T) {
		soak(t, length/2, "QUOIN_DATA="+t.TempDir(), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()), "QUOIN_BLOB__URL="+testkit.MinIO(t))
	})
}

func soak(t *testing.T, length time.Duration, vars ...string) {
	metrics := freeAddress(t)
	s := start(t, append(vars, "QUOIN_CONTENT__SAMPLES=true", "QUOIN_TELEMETRY__LISTEN="+metrics, `QUOIN_AUDIT__EVENTS=["*"]`,
		`QUOIN_WEBHOOK__ALLOW_NETWORKS=["127.0.0.0/8"]`, "QUOIN_JOB__START_AFTER=100ms", "QUOIN_MODULES__WITNESS__ENABLED=false")...)
	s.login()
	s.must(http.MethodPost, "/api/admin/content-type/note", crashType)
	listen(t, s)
	indexed(t, s)
	g := &gauge{t: t, url: "http://" + metrics + "/metrics"}
	l := newTraffic(t, s.base, s.token)
	l.round = 200
	l.begin("soak")
	everything(l)
	for begin, every := time.Now(), length/40; time.Since(begin) < length; {
		g.sample()
		<-time.After(every)
	}
	l.end()
	l.client.CloseIdleConnections()
	g.flat()
	l.check(s)
}

// freeAddress is one that nobody listens on, a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// everything adds clients that do what traffic alone does not.
func everything(l *traffic) {
	post := func(path, body string) []byte {
		answer, _ := l.try(http.MethodPost, path, "application/json", []byte(body))
		return answer
	}
	get := func(path string) { l.try(http.MethodGet, path, "", nil) }
	l.repeat(func(n int64) { // an editor
		id := fmt.Sprintf("page%d", n%20)
		post("/api/data/page/index/"+id+"?refresh=true", fmt.Sprintf(`{"label":"Page %d"}`, n))
		post("/api/data/page/publish/"+id+"/live", `[]`)
		get("/api/data/page/revisions/" + id)
		post("/api/data/page/delete/"+id, `[]`)
	})
	l.repeat(func(n int64) { // a form, and who reads what was sent
		var made struct {
			ID string `json:"submission_id"`
		}
		_ = json.Unmarshal(post("/api/forms/submissions", fmt.Sprintf(`{"form_name":"contact","instance":"web","locale":"fr","data":{"n":%d},"files":[{"filename":"a.txt","mimeType":"text/plain","base64":"aGVsbG8=","size":"5","form_field":"f"}]}`, n)), &made)
		get("/api/forms/submissions/" + made.ID)
		l.try(http.MethodDelete, "/api/forms/submissions/"+made.ID, "", nil)
	})
	l.repeat(func(n int64) { // an administrator
		name := fmt.Sprintf("user%d", n%10)
		post("/api/admin/user/"+name, exportedUser(name))
		var made struct{ ID string }
		_ = json.Unmarshal(post("/api/user/tokens", `{"name":"soak","expires_in":3600}`), &made)
		l.try(http.MethodDelete, "/api/user/tokens/"+made.ID, "", nil)
		var hook struct{ ID json.RawMessage }
		_ = json.Unmarshal(post("/api/webhook-subscriptions", `{"endpointUrl":"https://example.org/soak","events":["content.delete"]}`), &hook)
		l.try(http.MethodDelete, "/api/webhook-subscriptions/"+strings.Trim(string(hook.ID), `"`), "", nil)
		l.try(http.MethodDelete, "/api/admin/user/"+name, "", nil)
		get("/api/admin/audit?type=config.*&size=10")
	})
	l.repeat(func(n int64) { // a script
		if n%20 == 0 {
			l.scroll(post)
		}
		post("/api/search/search", fmt.Sprintf(`{"search":"{\"indices\":[\"quoin_preview\"],\"size\":10,\"query\":{\"term\":{\"n\":%d}},\"sort\":[{\"n\":\"asc\"}]}"}`, n%300))
		if n%10 == 0 {
			post("/api/admin/job/create", `{"command":"environment list"}`)
		}
	})
	l.repeat(func(int64) { l.agent() })
}

// scroll reads everything there is to be found.
func (l *traffic) scroll(post func(path, body string) []byte) {
	answer := post("/api/search/init-scroll", `{"search":"{\"indices\":[\"quoin_preview\"],\"size\":400,\"query\":{\"match_all\":{}}}","expire-time":"30s"}`)
	for {
		var page struct {
			ID   string `json:"_scroll_id"`
			Hits struct{ Hits []json.RawMessage }
		}
		if err := json.Unmarshal(answer, &page); err != nil || len(page.Hits.Hits) == 0 {
			return
		}
		answer = post("/api/search/next-scroll", fmt.Sprintf(`{"scroll-id":%q,"expire-time":"30s"}`, page.ID))
	}
}

// agent is one short session of MCP, with its stream.
func (l *traffic) agent() {
	send := func(ctx context.Context, method, session, body string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, method, l.base+"/api/mcp", strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header.Set("X-Auth-Token", l.token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := l.client.Do(req)
		if err != nil {
			l.fault("MCP: %v", err)
			return nil
		}
		if resp.StatusCode >= 300 {
			l.fault("MCP: %s %s", method, resp.Status)
		}
		return resp
	}
	done := func(resp *http.Response) {
		if resp != nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	first := send(ctx, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	done(first)
	if first == nil || first.StatusCode >= 300 {
		return
	}
	session := first.Header.Get("Mcp-Session-Id")
	done(send(ctx, http.MethodPost, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	streaming, leave := context.WithCancel(ctx)
	stream := send(streaming, http.MethodGet, session, "")
	done(send(ctx, http.MethodPost, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`))
	leave()
	done(stream)
	done(send(ctx, http.MethodDelete, session, ""))
}

// gauge follows what a process holds.
type gauge struct {
	t       *testing.T
	url     string
	samples []holding
}

// holding is what a process holds; heap is in MiB.
type holding struct{ goroutines, files, heap float64 }

func (g *gauge) sample() {
	g.t.Helper()
	h, err := g.read()
	if err != nil {
		g.t.Fatal(err)
	}
	g.samples = append(g.samples, h)
}

func (g *gauge) read() (h holding, err error) {
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.url, nil)
	if err != nil {
		return h, err
	}
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // a test of the whole program is an ordinary client
	if err != nil {
		return h, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_goroutines":
			h.goroutines = n
		case "process_open_fds":
			h.files = n
		case "go_memstats_heap_alloc_bytes":
			h.heap = n / (1 << 20)
		}
	}
	if h.goroutines == 0 || h.files == 0 || h.heap == 0 {
		return h, fmt.Errorf("/metrics tells %+v", h)
	}
	return h, err
}

// flat compares the last quarter of the time with the second one. What is left
// after a garbage collection shows in the least of many samples.
func (g *gauge) flat() {
	g.t.Helper()
	n := len(g.samples) / 4
	if n < 2 {
		g.t.Fatalf("only %d samples", len(g.samples))
	}
	least := func(part []holding) holding {
		by := func(value func(holding) float64) float64 {
			values := make([]float64, len(part))
			for i, h := range part {
				values[i] = value(h)
			}
			return slices.Min(values)
		}
		return holding{by(func(h holding) float64 { return h.goroutines }), by(func(h holding) float64 { return h.files }), by(func(h holding) float64 { return h.heap })}
	}
	var rest holding
	early, late := least(g.samples[n:2*n]), least(g.samples[3*n:])
	g.t.Logf("goroutines, files, MiB of heap at least: %.1f in each quarter of the time", []holding{least(g.samples[:n]), early, least(g.samples[2*n : 3*n]), late})
	if late.goroutines > early.goroutines+25 || late.files > early.files+25 || late.heap > 1.5*early.heap+24 {
		g.t.Errorf("it grows: %+v, then %+v", early, late)
	}
	testkit.Eventually(g.t, func() bool { // without load, less than with it
		var err error
		rest, err = g.read()
		return err == nil && rest.goroutines <= early.goroutines+10 && rest.files <= early.files+10
	})
	g.t.Logf("at rest %+v", rest)
}
