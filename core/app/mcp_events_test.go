package app_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// twins are two servers on one PostgreSQL.
func twins(t *testing.T) (a, b *running) {
	set := append(cheap(), "database.url="+testkit.Postgres(t, testkit.WithoutFsync()), "modules.search.enabled=false")
	a = start(t, load(t, modules.All(), folder(t), append(set, "content.samples=true")...))
	return a, start(t, load(t, modules.All(), folder(t), set...))
}

// role gives a user these roles.
func (r *running) role(admin, name string, enabled bool, roles ...string) {
	r.t.Helper()
	list, err := json.Marshal(roles)
	if err != nil {
		r.t.Fatal(err)
	}
	user := fmt.Sprintf(`{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"properties":{"username":%q,"email":"%s@example.org","roles":%s,"enabled":%t},"replaced":[]}`, name, name, list, enabled)
	if status, body := r.send("POST", "/api/admin/user/"+name, admin, user); status != 200 {
		r.t.Fatalf("%d %s", status, body)
	}
}

// hearing is the stream of what a server tells an agent.
type hearing struct {
	t     *testing.T
	lines chan string // data of events; closed at the end of the stream
}

// hear sends a request whose answer is a stream, and waits for its beginning.
func (r *running) hear(t *testing.T, method, token, body string, headers ...string) *hearing {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, r.base+"/api/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range pairsOf("Content-Type", "application/json", "Accept", "application/json, text/event-stream", "X-Auth-Token", token) {
		req.Header.Set(k, v)
	}
	for k, v := range pairsOf(headers...) {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 {
		t.Fatalf("%s: %d", method, resp.StatusCode)
	}
	h := &hearing{t: t, lines: make(chan string, 100)}
	go func() {
		defer close(h.lines)
		defer func() { _ = resp.Body.Close() }()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				h.lines <- data
			}
		}
	}()
	return h
}

func pairsOf(list ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

// next gives the next message that is not about lists: its method, and the
// address it is about. Both are empty when the stream has ended.
func (h *hearing) next() (method, uri string) {
	h.t.Helper()
	for {
		select {
		case data, ok := <-h.lines:
			var m struct {
				Method string
				Params struct{ URI string }
			}
			if err := json.Unmarshal([]byte(data), &m); ok && err != nil {
				h.t.Fatalf("%s: %v", data, err)
			}
			if !strings.HasSuffix(m.Method, "list_changed") {
				return m.Method, m.Params.URI
			}
		case <-time.After(patience):
			h.t.Fatal("nothing is heard")
		}
	}
}

// until waits for the news of an address, and fails for news of one of the others.
func (h *hearing) until(uri string, never ...string) {
	h.t.Helper()
	for {
		method, got := h.next()
		if method == "" {
			h.t.Fatalf("the stream ended before news of %s", uri)
		}
		for _, n := range never {
			if got == n {
				h.t.Fatalf("news of %s", n)
			}
		}
		if got == uri {
			return
		}
	}
}

const firstMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// session opens a session and gives the headers of its requests.
func (r *running) session(t *testing.T, token string) []string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/api/mcp", strings.NewReader(firstMessage))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Auth-Token", token)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || id == "" {
		t.Fatalf("initialize: %d", resp.StatusCode)
	}
	return []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25"}
}

// subscribe follows addresses in a session.
func (r *running) subscribe(t *testing.T, token string, session []string, uris ...string) {
	t.Helper()
	for i, uri := range uris {
		h := r.hear(t, http.MethodPost, token, fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":"resources/subscribe","params":{"uri":%q}}`, i, uri), session...)
		if data := <-h.lines; data != "" && !strings.Contains(data, `"result"`) { // the first event may be empty
			t.Fatalf("subscribe to %s: %s", uri, data)
		}
		for data := range h.lines {
			if !strings.Contains(data, `"result"`) {
				t.Fatalf("subscribe to %s: %s", uri, data)
			}
		}
	}
}

// listen follows addresses in the era without sessions.
func (r *running) listen(t *testing.T, token string, uris ...string) *hearing {
	t.Helper()
	list, err := json.Marshal(uris)
	if err != nil {
		t.Fatal(err)
	}
	h := r.hear(t, http.MethodPost, token, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":`+string(list)+
		`},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	if method, _ := h.next(); method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("listen: %s", method)
	}
	return h
}

const (
	theDocument  = "elasticms://documents/page/d1"
	inPreview    = "elasticms://environments/preview/documents/page/d1"
	inLive       = "elasticms://environments/live/documents/page/d1"
	inLiveSpelt  = "elasticms://environments/live/documents/page/%641" // the same in another spelling
	environments = "elasticms://environments/descriptions"
)

// eras gives a stream of news of these addresses in both eras; the stream of a
// session is at another server than the one where it was opened.
func eras(t *testing.T, a, b *running, token string, uris ...string) map[string]*hearing {
	uris = append(uris, environments)
	session := a.session(t, token)
	a.subscribe(t, token, session, uris...)
	streams := map[string]*hearing{
		"session":   b.hear(t, http.MethodGet, token, "", session...),
		"stateless": a.listen(t, token, uris...),
	}
	a.passed(streams)
	return streams
}

// passed changes something that all may read and waits for the news of it,
// twice: what happened before at this server has been told by then, whatever it
// was told together with.
func (r *running) passed(streams map[string]*hearing, never ...string) {
	r.t.Helper()
	token := r.login()
	for range 2 {
		name := "e" + strings.ToLower(rand.Text()[:8])
		r.write("/api/admin/environment/"+name, token, `{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"properties":{"name":"`+name+`","alias":"`+name+`","managed":true},"replaced":[]}`)
		for _, h := range streams {
			h.until(environments, never...)
		}
	}
}

func (r *running) write(path, token, body string) {
	r.t.Helper()
	if status, answer := r.send("POST", path, token, body); status != 200 {
		r.t.Fatalf("%s: %d %s", path, status, answer)
	}
}

// TestAgentsHearOfDocuments changes a document over REST at either server.
func TestAgentsHearOfDocuments(t *testing.T) {
	a, b := twins(t)
	admin := a.login()
	author := a.agentOf(admin, "author", "ROLE_AUTHOR").token
	a.write("/api/data/page/index/d1", admin, `{"label":"one"}`)
	a.write("/api/data/page/publish/d1/live", admin, `[]`)
	streams := eras(t, a, b, author, theDocument, inPreview, inLive, inLiveSpelt)
	for i, at := range []*running{a, b} {
		for _, c := range []struct {
			path, body string
			news       []string
			never      []string
		}{
			{"/api/data/page/update/d1", fmt.Sprintf(`{"label":"two %d"}`, i), []string{theDocument, inPreview}, []string{inLive}},
			{"/api/data/page/publish/d1/live", `[]`, []string{theDocument, inLiveSpelt, inLive}, []string{inPreview}},
			{"/api/data/page/unpublish/d1/live", `[]`, []string{theDocument, inLiveSpelt, inLive}, []string{inPreview}},
		} {
			at.write(c.path, admin, c.body)
			for name, h := range streams {
				t.Logf("%s %s", name, c.path)
				for _, uri := range c.news { // in the order of addresses
					h.until(uri, c.never...)
				}
			}
		}
	}
	b.write("/api/data/page/delete/d1", admin, `[]`)
	for _, h := range streams {
		for _, uri := range []string{theDocument, inLiveSpelt, inLive, inPreview} {
			h.until(uri)
		}
	}
}

// TestAgentsHearOfDrafts lets one agent write the draft that another one
// follows.
func TestAgentsHearOfDrafts(t *testing.T) {
	a, b := twins(t)
	admin := a.login()
	author := b.agentOf(admin, "author", "ROLE_AUTHOR")
	a.write("/api/data/page/index/d1", admin, `{"label":"one"}`)
	streams := eras(t, a, b, admin, theDocument)
	if got := author.tool("update_draft", map[string]any{"contentType": "page", "ouuid": "d1", "rawData": map[string]any{"label": "two"}}); got.IsError {
		t.Fatalf("%+v", got)
	}
	for _, h := range streams {
		h.until(theDocument)
	}
}

// TestAgentsHearOnlyWhatTheyMayRead takes a role away while an agent listens.
func TestAgentsHearOnlyWhatTheyMayRead(t *testing.T) {
	a, b := twins(t)
	admin := a.login()
	writer := a.agentOf(admin, "writer", "ROLE_AUTHOR").token
	a.write("/api/data/page/index/d1", admin, `{"label":"one"}`)
	reader := a.agentOf(admin, "reader", "ROLE_USER").token
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":%q}}`, theDocument)
	if got := a.raw(t, reader, body, a.session(t, reader)...); !strings.Contains(got, "-32003") {
		t.Errorf("a reader subscribes: %s", got)
	}
	streams := eras(t, a, b, writer, theDocument)
	a.write("/api/data/page/update/d1", admin, `{"label":"two"}`)
	for _, h := range streams {
		h.until(theDocument)
	}
	a.role(admin, "writer", true, "ROLE_USER", "ROLE_API")
	forgotten(t, b, writer)
	a.write("/api/data/page/update/d1", admin, `{"label":"three"}`)
	a.write("/api/data/page/delete/d1", admin, `[]`)
	a.passed(streams, theDocument)
}

// raw sends a message and gives the answer.
func (r *running) raw(t *testing.T, token, body string, headers ...string) string {
	t.Helper()
	var all strings.Builder
	for data := range r.hear(t, http.MethodPost, token, body, headers...).lines {
		all.WriteString(data)
	}
	return all.String()
}

// forgotten waits until a server has learned that a user lost a role.
func forgotten(t *testing.T, r *running, token string) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		a := &agent{running: r, token: token}
		return a.tool("get_page", map[string]any{"ouuid": "d1"}).IsError
	})
}

// TestAStreamEndsWithItsUser disables a user and revokes a token: streams and
// sessions end at both servers.
func TestAStreamEndsWithItsUser(t *testing.T) {
	a, b := twins(t)
	admin := a.login()
	a.write("/api/data/page/index/d1", admin, `{"label":"one"}`)
	for name, end := range map[string]func(token string){
		"disabled": func(string) { a.role(admin, "disabled", false, "ROLE_AUTHOR", "ROLE_API") },
		"without":  func(string) { a.role(admin, "without", true, "ROLE_AUTHOR") },
		"revoked": func(token string) {
			var list []struct{ ID string }
			if _, body := a.send("GET", "/api/user/tokens", token, ""); json.Unmarshal([]byte(body), &list) != nil || len(list) != 1 {
				t.Fatalf("%s", body)
			}
			if status, body := a.send("DELETE", "/api/user/tokens/"+list[0].ID, token, ""); status >= 300 {
				t.Fatalf("%d %s", status, body)
			}
		},
	} {
		token := a.agentOf(admin, name, "ROLE_AUTHOR").token
		streams := eras(t, a, b, token, theDocument)
		session := b.session(t, token)
		end(token)
		for era, h := range streams {
			for method, _ := h.next(); method != ""; method, _ = h.next() {
				t.Logf("%s %s: %s", name, era, method)
			}
		}
		for _, r := range []*running{a, b} {
			testkit.Eventually(t, func() bool {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range pairsOf(append(session, "Content-Type", "application/json", "X-Auth-Token", token)...) {
					req.Header.Set(k, v)
				}
				resp, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				return resp.StatusCode == 401 || resp.StatusCode == 403
			})
		}
	}
}
