package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

// TestForeignClients runs the clients that agents are made with, as they come,
// against two processes in turn.
func TestForeignClients(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for generation, library := range map[string]string{"v1": "@modelcontextprotocol/sdk@1.32.2", "v2": "@modelcontextprotocol/client@2.4.0"} {
		t.Run(generation, func(t *testing.T) {
			dir := testkit.Node(t, library, "zod@4.6.7")
			_, a, b := pair(t)
			var n atomic.Int64
			front := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
				to := []*replica{a, b}[n.Add(1)%2]
				r.Out.URL.Scheme, r.Out.URL.Host = "http", strings.TrimSuffix(strings.TrimPrefix(to.url, "http://"), "/api/mcp")
			}, ErrorHandler: func(http.ResponseWriter, *http.Request, error) {}})
			defer front.Close()
			change := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { b.bench.change("elasticms://bench/one") }))
			defer change.Close()
			path := filepath.Join(dir, "quoin-client.mjs")
			if err := os.WriteFile(path, script, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, "node", path, generation, front.URL+"/api/mcp", "ann", change.URL)
			run.Dir = dir
			if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "done") {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}
