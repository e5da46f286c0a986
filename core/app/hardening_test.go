package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/modules"
)

// ask sends a request with headers and gives the answer without its body.
func ask(t *testing.T, client http.RoundTripper, method, target, body string, headers map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp
}

// TestLimitsAndWebsitesOfTheConfiguration runs a server with limits and CORS:
// the settings arrive, and health checks are not counted.
func TestLimitsAndWebsitesOfTheConfiguration(t *testing.T) {
	r := start(t, load(t, modules.All(), folder(t), append(cheap(), "server.cors.allowed_origins=https://*.example.org",
		"server.rate_limits.tokens.per_second=0.001", "server.rate_limits.tokens.burst=2",
		"server.rate_limits.addresses.per_second=0.001", "server.rate_limits.addresses.burst=3")...))
	token := r.login()
	get := func(path, token string) *http.Response {
		return ask(t, http.DefaultTransport, "GET", r.base+path, "", map[string]string{"X-Auth-Token": token, "Origin": "https://www.example.org"})
	}
	for i, want := range []int{200, 200, 429, 429} {
		got := get("/api/test", token)
		if got.StatusCode != want || got.Header.Get("RateLimit") == "" || got.Header.Get("RateLimit-Policy") != `"token";q=2;w=2000` || (want == 429) != (got.Header.Get("Retry-After") != "") {
			t.Errorf("%d: %d %v", i, got.StatusCode, got.Header)
		}
		if got.Header.Get("Access-Control-Allow-Origin") != "https://www.example.org" {
			t.Errorf("a script cannot read it: %v", got.Header)
		}
	}
	for i, want := range []int{401, 401, 429} { // to sign in was the first
		if got := get("/api/test", "wrong"); got.StatusCode != want {
			t.Errorf("%d: %d", i, got.StatusCode)
		}
	}
	for range 5 {
		for _, path := range []string{"/livez", "/readyz", "/status.json"} {
			if got := get(path, ""); got.StatusCode != 200 || got.Header.Get("RateLimit") != "" || got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %v", path, got.StatusCode, got.Header)
			}
		}
	}
	question := ask(t, http.DefaultTransport, "OPTIONS", r.base+"/json/data/page/index", "", map[string]string{"Origin": "https://www.example.org", "Access-Control-Request-Method": "POST"})
	if question.StatusCode != 204 || !strings.Contains(question.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("%d %v", question.StatusCode, question.Header)
	}
	agents := ask(t, http.DefaultTransport, "OPTIONS", r.base+"/api/mcp", "", map[string]string{"Origin": "https://www.example.org", "Access-Control-Request-Method": "POST"})
	if agents.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the list of agents was passed by: %v", agents.Header)
	}
}

// TestHTTPS runs a server with a certificate of its own.
func TestHTTPS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	crt, pk := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	roots := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{crt: {Type: "CERTIFICATE", Bytes: cert}, pk: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	r := start(t, load(t, nil, folder(t), "server.tls.cert="+crt, "server.tls.key="+pk))
	client := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer client.CloseIdleConnections()
	got := ask(t, client, "GET", strings.Replace(r.base, "http://", "https://", 1)+"/readyz", "", nil)
	if got.StatusCode != 200 || got.ProtoMajor != 2 || got.TLS.Version != tls.VersionTLS13 {
		t.Errorf("%d %s %x", got.StatusCode, got.Proto, got.TLS.Version)
	}
	if plain := ask(t, http.DefaultTransport, "GET", r.base+"/readyz", "", nil); plain.StatusCode != 400 {
		t.Errorf("without TLS: %d", plain.StatusCode)
	}
}

// TestHeadersHaveALimit: a client cannot make the server keep large headers.
func TestHeadersHaveALimit(t *testing.T) {
	r := start(t, load(t, nil, folder(t)))
	if got := ask(t, http.DefaultTransport, "GET", r.base+"/livez", "", map[string]string{"X-Large": strings.Repeat("x", 100<<10)}); got.StatusCode != 431 {
		t.Errorf("%d", got.StatusCode)
	}
}

func TestNumbersThatMustNotBeNegative(t *testing.T) {
	for _, set := range []string{"database.max_conns=-1", "database.answer_within=-1s", "server.drain_delay=-1s"} {
		key, _, _ := strings.Cut(set, "=")
		if _, err := app.Load(nil, conf.Options{Set: []string{set}}); err == nil || !strings.Contains(err.Error(), key+": must not be negative") {
			t.Errorf("%s: %v", set, err)
		}
	}
}
