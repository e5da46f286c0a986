package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/mcp"
)

func TestTheDoorRefuses(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, func(c *mcp.Config) { c.MaxBody = 4 << 10 })
		session := begin(t, r, "ann", initialize)
		old := begin(t, r, "ann", initialize1)
		later := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "ping"}
		for _, c := range []struct {
			name    string
			body    string
			headers []string
			status  int
			code    float64
		}{
			{"no session", ping, nil, 400, -32600},
			{"unknown session", ping, []string{"Mcp-Session-Id", "nope"}, 404, -32600},
			{"long session", ping, []string{"Mcp-Session-Id", strings.Repeat("x", 5000)}, 404, -32600},
			{"broken JSON", `{"jsonrpc":`, nil, 400, -32700},
			{"twice the same key", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, 400, -32700},
			{"too deep", strings.Repeat("[", 200) + strings.Repeat("]", 200), nil, 400, -32700},
			{"lone surrogate", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, nil, 400, -32700},
			{"too large", `{"x":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, -32600},
			{"no JSON", ping, []string{"Content-Type", "text/plain"}, 415, -32600},
			{"foreign origin", ping, []string{"Origin", "https://evil.example"}, 403, -32600},
			{"origin null", ping, []string{"Origin", "null"}, 403, -32600},
			{"unknown revision", ping, []string{"Mcp-Protocol-Version", "1999-01-01", "Mcp-Session-Id", session}, 400, -32600},
			{"later revision that nobody knows", ping, []string{"Mcp-Protocol-Version", "2099-01-01"}, 400, -32602},
			{"empty batch", `[]`, []string{"Mcp-Session-Id", old}, 400, -32600},
			{"batch after it was removed", `[` + ping + `]`, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"batch without sessions", `[` + ping + `]`, later, 400, -32600},
			{"initialize again", initialize, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"initialize in a batch", `[` + initialize + `]`, nil, 400, -32600},
			{"not an object", `7`, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"no method", `{"jsonrpc":"2.0","id":1}`, []string{"Mcp-Session-Id", session}, 400, -32600},
		} {
			status, h, body := post(t, r, "ann", c.body, c.headers...)
			var out struct{ Error struct{ Code float64 } }
			if err := json.Unmarshal([]byte(body), &out); err != nil || status != c.status || out.Error.Code != c.code || h.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s %s", c.name, status, h.Get("Content-Type"), body)
			}
		}
		status, _, body := post(t, r, "ann", `[`+ping+`,`+echo+`]`, "Mcp-Session-Id", old)
		var batch []json.RawMessage
		if err := json.Unmarshal([]byte(body), &batch); err != nil || status != 200 || len(batch) != 2 {
			t.Errorf("a batch of 2025-03-26: %d %s", status, body)
		}
	})
}

func TestWithoutATokenTheClientLearnsWhereToGetOne(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, nil)
		status, h, body := post(t, r, "", ping)
		base := strings.TrimSuffix(r.url, "/api/mcp")
		want := `resource_metadata="` + base + `/.well-known/oauth-protected-resource/api/mcp"`
		if status != 401 || !strings.Contains(h.Get("WWW-Authenticate"), want) || !strings.Contains(body, `"jsonrpc":"2.0"`) {
			t.Errorf("%d %v %s", status, h, body)
		}
		status, _, body = send(t, http.MethodGet, base+"/.well-known/oauth-protected-resource/api/mcp", "", "")
		if status != 200 || !strings.Contains(body, `"resource":"`+r.url+`"`) {
			t.Errorf("%d %s", status, body)
		}
	})
}

func TestASessionBelongsToItsToken(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		who := &people{gone: map[string]bool{}}
		r := replicaOn(t, d, who, nil)
		session := begin(t, r, "ann", initialize)
		for token, want := range map[string]int{"ann": 200, "bob": 404, "ann-too": 404} {
			if status, _, body := post(t, r, token, ping, "Mcp-Session-Id", session); status != want {
				t.Errorf("%s: %d %s", token, status, body)
			}
		}
		for _, token := range []string{"bob", "ann-too"} {
			if status, _, _ := send(t, http.MethodDelete, r.url, token, "", "Mcp-Session-Id", session); status != 404 {
				t.Errorf("%s deletes: %d", token, status)
			}
		}
		if status, _, _ := send(t, http.MethodDelete, r.url, "ann", "", "Mcp-Session-Id", session); status != 204 {
			t.Errorf("delete: %d", status)
		}
		if status, _, _ := post(t, r, "ann", ping, "Mcp-Session-Id", session); status != 404 {
			t.Errorf("after delete: %d", status)
		}
		session = begin(t, r, "ann", initialize)
		who.sendAway("ann")
		if status, _, _ := post(t, r, "ann", ping, "Mcp-Session-Id", session); status != 401 {
			t.Errorf("after the token was revoked: %d", status)
		}
	})
}

func TestOldSessionsMakeRoom(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, func(c *mcp.Config) { c.MaxSessions = 2 })
		first := begin(t, r, "ann", initialize)
		begin(t, r, "ann", initialize)
		begin(t, r, "ann", initialize)
		other := replicaOn(t, d, &people{gone: map[string]bool{}}, nil) // has nothing in memory
		if status, _, body := post(t, other, "ann", ping, "Mcp-Session-Id", first); status != 404 {
			t.Errorf("%d %s", status, body)
		}
	})
}

func TestWhatTheClientAsksForDecidesTheFormOfTheAnswer(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, nil)
		session := begin(t, r, "ann", initialize)
		for accept, want := range map[string]string{
			"": "application/json", "application/json": "application/json", "*/*": "application/json",
			"application/json, text/event-stream": "text/event-stream",
		} {
			status, h, body := post(t, r, "ann", echo, "Mcp-Session-Id", session, "Accept", accept)
			if status != 200 || h.Get("Content-Type") != want || !strings.Contains(body, `"structuredContent":{"text":"hi"}`) {
				t.Errorf("%q: %d %v %s", accept, status, h, body)
			}
		}
	})
}

func TestToolsOfOthers(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, nil)
		session := connect(t, "ann", "", nil, r)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, tool := range list.Tools {
			seen[tool.Name]++
		}
		if seen["echo"] != 1 || seen["bad name"] != 0 || seen["quoin_hidden"] != 0 {
			t.Errorf("%v", seen)
		}
		later := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"NAME","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		for name, want := range map[string]string{
			"echo": `"isError":true`, "panics": `-32603`, "quoin_hidden": `"code":-32602`, "nope": `"code":-32602`,
		} {
			_, _, body := post(t, r, "ann", strings.ReplaceAll(later, "NAME", name), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
			if !strings.Contains(body, want) || strings.Contains(body, "broken") {
				t.Errorf("%s: %s", name, body)
			}
		}
	})
}
