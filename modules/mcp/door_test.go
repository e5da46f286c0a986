package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
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
			{"batch of too much", `[` + strings.Repeat(ping+",", 99) + ping + `]`, []string{"Mcp-Session-Id", session}, 413, -32600},
			{"deep arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + strings.Repeat(`{"a":`, 120) + `1` + strings.Repeat(`}`, 120) + `}}`, []string{"Mcp-Session-Id", session}, 400, -32700},
			{"two bodies", ping + ping, []string{"Mcp-Session-Id", session}, 400, -32700},
			{"not UTF-8", `{"jsonrpc":"2.0","id":1,"method":"pi` + "\xff" + `ng"}`, []string{"Mcp-Session-Id", session}, 400, -32700},
			{"NaN", `{"jsonrpc":"2.0","id":NaN,"method":"ping"}`, []string{"Mcp-Session-Id", session}, 400, -32700},
			{"empty body", ``, []string{"Mcp-Session-Id", session}, 400, -32700},
			{"no content type", ping, []string{"Content-Type", "", "Mcp-Session-Id", session}, 415, -32600},
			{"form", ping, []string{"Content-Type", "application/x-www-form-urlencoded", "Mcp-Session-Id", session}, 415, -32600},
			{"huge number as id", `{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, []string{"Mcp-Session-Id", session}, 400, -32700},
			{"id that loses digits", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"object as id", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"another JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, []string{"Mcp-Session-Id", session}, 400, -32600},
			{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nope"}`, []string{"Mcp-Session-Id", session}, 200, -32601},
			{"unknown method for a stream", `{"jsonrpc":"2.0","id":"a","method":"nope","params":{}}`, []string{"Mcp-Session-Id", session, "Accept", "application/json, text/event-stream"}, 200, -32601},
			{"unknown method without sessions", `{"jsonrpc":"2.0","id":1,"method":"nope","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "nope"}, 404, -32601},
			{"header in the session id", ping, []string{"Mcp-Session-Id", session + " X-Auth-Token: bob"}, 404, -32600},
			{"bytes in the session id", ping, []string{"Mcp-Session-Id", "\xff\xfe' OR 1=1 --"}, 404, -32600},
			{"Last-Event-ID with POST", ping, []string{"Mcp-Session-Id", session, "Last-Event-ID", "x_1"}, 400, -32600},
			{"revision that differs from the body", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, []string{"Mcp-Protocol-Version", "2025-11-25"}, 400, -32020},
			{"method that differs from the header", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call"}, 400, -32020},
			{"origin with a port of ours", ping, []string{"Origin", "https://127.0.0.1.evil.example:80"}, 403, -32600},
			{"origin that is no address", ping, []string{"Origin", "%zz"}, 403, -32600},
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

// TestWhatIsOddIsServed sends what looks wrong and is allowed, or has no answer.
func TestWhatIsOddIsServed(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, nil)
		session := begin(t, r, "ann", initialize)
		for _, c := range []struct {
			name, body string
			headers    []string
			status     int
			want       string
		}{
			{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}`, nil, 202, ""},
			{"cancel without an id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, nil, 202, ""},
			{"cancel of an odd id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[1]}}}`, nil, 202, ""},
			{"answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, nil, 202, ""},
			{"answer to a process that is not", `{"jsonrpc":"2.0","id":"nobody.7","result":{}}`, nil, 202, ""},
			{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/nope"}`, nil, 202, ""},
			{"an empty list as params", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, nil, 200, `"tools"`},
			{"an empty list as arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":[],"arguments":[]}}`, nil, 200, `missing properties`},
			{"an empty list as capabilities", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":[],"clientInfo":{"name":"x","version":"1"}}}`, []string{"Mcp-Session-Id", ""}, 200, `"protocolVersion":"2025-06-18"`},
			{"empty lists in capabilities", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":[],"sampling":[]},"clientInfo":{"name":"x","version":"1"}}}`, []string{"Mcp-Session-Id", ""}, 200, `"protocolVersion":"2025-06-18"`},
			{"large number as id", `{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, nil, 200, `"id":9007199254740991`},
			{"long text as id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("i", 3000) + `","method":"ping"}`, nil, 200, strings.Repeat("i", 3000)},
			{"text that is a number as id", `{"jsonrpc":"2.0","id":"1","method":"ping"}`, nil, 200, `"id":"1"`},
			{"cursor of somebody else", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"AAAA////"}}`, nil, 200, `-32602`},
			{"cursor that is no text", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":{}}}`, nil, 200, `"error"`},
			{"params that are no object", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, nil, 200, `"error"`},
			{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 400, `"error"`},
			{"character that cannot be stored", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"\u0000://"}}`, nil, 400, `-32700`},
			{"resource of no scheme", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"://"}}`, nil, 200, `-32002`},
			{"log level that is none", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}`, nil, 200, `"error"`},
			{"content type with a charset", ping, []string{"Content-Type", "application/json; charset=utf-8"}, 200, `"result"`},
			{"Accept of anything", ping, []string{"Accept", "*/*;q=0.1, image/png"}, 200, `"result"`},
			{"Accept that is broken", ping, []string{"Accept", ",;,=;q=a/b/c"}, 200, `"result"`},
		} {
			status, _, body := post(t, r, "ann", c.body, append([]string{"Mcp-Session-Id", session}, c.headers...)...)
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("%s: %d %s", c.name, status, body)
			}
		}
		for event, want := range map[string]string{"nope_7": "send the call again", "nope": "malformed", "a_b_c": "malformed", "x_-1": "malformed", "x_99999999999999999999": "malformed"} {
			status, h, body := send(t, http.MethodGet, r.url, "ann", "", "Mcp-Session-Id", session, "Accept", "text/event-stream", "Last-Event-ID", event)
			if status != 400 || !strings.Contains(body, want) || h.Get("Content-Type") != "application/json" {
				t.Errorf("Last-Event-ID %s: %d %s", event, status, body)
			}
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
		listing, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		list, err := session.ListTools(listing, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, tool := range list.Tools {
			seen[tool.Name]++
		}
		if seen["echo"] != 1 || seen["bad name"] != 0 || seen["deep"] != 0 || seen["quoin_hidden"] != 0 {
			t.Errorf("%v", seen)
		}
		later := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"NAME","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		for name, want := range map[string]string{
			"echo": `"isError":true`, "panics": `-32603`, "quoin_hidden": `"code":-32602`, "nope": `"code":-32602`, "half": `-32603`, "list": `-32603`,
		} {
			_, _, body := post(t, r, "ann", strings.ReplaceAll(later, "NAME", name), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
			if !strings.Contains(body, want) || strings.Contains(body, "broken") {
				t.Errorf("%s: %s", name, body)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "half"}); err == nil || ctx.Err() != nil {
			t.Errorf("a tool that answers half an object: %v %v", res, err)
		}
	})
}

// schemed is an editor of two content types, of which one has a schema that is
// no JSON.
type schemed struct{ port.Editor }

func (schemed) Types(context.Context) ([]port.DocumentType, error) {
	all := []auth.Right{auth.View, auth.Create}
	return []port.DocumentType{{Name: "broken", Singular: "Broken", Rights: all}, {Name: "page", Singular: "Page", Rights: all}}, nil
}

func (schemed) ConfigVersion(context.Context) (int64, error) { return 1, nil }

func (schemed) Schema(_ context.Context, contentType string) ([]byte, error) {
	if contentType == "broken" {
		return []byte(`{"type":"object","properties":{"n":{"type":"number","minimum":NaN}}}`), nil
	}
	return []byte(`{"type":"object"}`), nil
}

func TestASchemaThatIsNoJSONCostsOneTool(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		r := replicaOn(t, d, &people{gone: map[string]bool{}}, nil)
		r.Editor = schemed{}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		list, err := connect(t, "ann", "", nil, r).ListTools(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, tool := range list.Tools {
			seen[tool.Name] = true
		}
		if !seen["create_document_page"] || !seen["get_document_broken"] || seen["create_document_broken"] || !seen["echo"] {
			t.Errorf("%v", seen)
		}
	})
}
