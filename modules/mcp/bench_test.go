package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/db"
)

// BenchmarkToolCall compares a call of a tool over HTTP with the same call of
// the SDK's own server, which knows neither users nor other processes.
func BenchmarkToolCall(b *testing.B) {
	r := replicaOn(b, open(b, db.Config{Path: filepath.Join(b.TempDir(), "quoin.db")}), &people{gone: map[string]bool{}}, nil)
	session := begin(b, r, "ann", initialize)
	later := strings.Replace(echo, `"arguments"`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"arguments"`, 1)
	laterHeaders := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}

	bare := httptest.NewServer(bareServer(&sdk.StreamableHTTPOptions{JSONResponse: true}))
	b.Cleanup(bare.Close)
	bareReplica := &replica{url: bare.URL}
	bareSession := begin(b, bareReplica, "ann", initialize, "Accept", "application/json, text/event-stream")
	bareLater := httptest.NewServer(bareServer(&sdk.StreamableHTTPOptions{JSONResponse: true, Stateless: true}))
	b.Cleanup(bareLater.Close)

	for _, c := range []struct {
		name, url, body string
		headers         []string
	}{
		{"session", r.url, echo, []string{"Mcp-Session-Id", session, "Accept", "application/json"}},
		{"session-stream", r.url, echo, []string{"Mcp-Session-Id", session, "Accept", "application/json, text/event-stream"}},
		{"stateless", r.url, later, append(laterHeaders, "Accept", "application/json")},
		{"sdk-session", bare.URL, echo, []string{"Mcp-Session-Id", bareSession, "Accept", "application/json, text/event-stream"}},
		{"sdk-stateless", bareLater.URL, later, append(laterHeaders, "Accept", "application/json, text/event-stream")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if status, _, body := send(b, http.MethodPost, c.url, "ann", c.body, c.headers...); status != http.StatusOK || !strings.Contains(body, `"structuredContent"`) {
					b.Fatal(status, body)
				}
			}
		})
	}
}

// bareServer is the SDK's own server with the tool echo.
func bareServer(o *sdk.StreamableHTTPOptions) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, text, error) {
		return nil, in, nil
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, o)
}
