package mcp_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/mcp"
)

// FuzzMessages sends anything to a server, in both eras: cursors, envelopes,
// batches and arguments are read by the SDK as well.
func FuzzMessages(f *testing.F) {
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, method := range []string{"ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "server/discover", "nope", "notifications/cancelled", "notifications/progress"} {
		for _, params := range []string{`"cursor":"AAAA"`, `"name":"echo","arguments":{"text":"x"}`, `"uri":"elasticms://bench/one"`, `"level":"loud"`, `"requestId":7,"progressToken":{}`,
			`"ref":{"type":"ref/resource","uri":"x"},"argument":{"name":"a","value":"b"}`, `"ref":7,"argument":[],"name":7,"uri":[],"cursor":false`} {
			f.Add(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`, false)
			f.Add(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+meta+`}}`, true)
		}
	}
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, false)
	r := replicaOn(f, open(f, db.Config{Path: filepath.Join(f.TempDir(), "quoin.db")}), &people{gone: map[string]bool{}}, func(c *mcp.Config) { c.Fixtures = false })
	session := begin(f, r, "ann", initialize1)
	f.Fuzz(func(t *testing.T, body string, later bool) {
		if strings.Contains(body, "listen") || strings.Contains(body, "hang") || strings.Contains(body, "initialize") {
			return // these last, or make sessions
		}
		headers := []string{"Mcp-Session-Id", session}
		if later {
			var m struct {
				Method string
				Params struct{ Name, URI string }
			}
			_ = json.Unmarshal([]byte(body), &m) // what cannot be read has no names
			headers = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", printable(m.Method), "Mcp-Name", printable(m.Params.Name + m.Params.URI)}
		}
		status, _, answer := send(t, http.MethodPost, r.url, "ann", body, headers...)
		switch {
		case status == http.StatusAccepted && answer == "":
		case status >= 500 || !json.Valid([]byte(answer)):
			t.Fatalf("%s: %d %s", body, status, answer)
		case strings.Contains(answer, "-32603") && !strings.Contains(body, "panics"):
			t.Fatalf("%s: %d %s", body, status, answer)
		}
	})
}

// printable leaves what can stand in a header.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
}
