package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/web"
)

func TestTheAddressBehindProxies(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		name      string
		trusted   []netip.Prefix
		from      string
		forwarded []string
		want      string
	}{
		{"no proxies", nil, "192.0.2.1:1", []string{"198.51.100.7"}, "192.0.2.1"},
		{"a stranger claims", proxies, "192.0.2.1:1", []string{"198.51.100.7"}, "192.0.2.1"},
		{"one proxy", proxies, "10.0.0.1:1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"two proxies", proxies, "10.0.0.1:1", []string{"198.51.100.7, 10.2.2.2"}, "198.51.100.7"},
		{"two headers", proxies, "10.0.0.1:1", []string{"198.51.100.7", "10.2.2.2"}, "198.51.100.7"},
		{"the client invents", proxies, "10.0.0.1:1", []string{"127.0.0.1, 198.51.100.7"}, "198.51.100.7"},
		{"nonsense", proxies, "10.0.0.1:1", []string{"198.51.100.7, what"}, "10.0.0.1"},
		{"nothing", proxies, "10.0.0.1:1", nil, "10.0.0.1"},
		{"only proxies", proxies, "10.0.0.1:1", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"IPv6", proxies, "[fd00::1]:1", []string{"2001:db8::7"}, "2001:db8::7"},
		{"IPv4 in IPv6", proxies, "[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"with a port", proxies, "10.0.0.1:1", []string{"198.51.100.7:4711, [fd00::2]:80"}, "198.51.100.7"},
		{"no port", nil, "pipe", nil, "pipe"},
	} {
		router, err := web.New(web.Options{Log: discard(), Authenticator: people(), TrustedProxies: c.trusted, Operations: []web.Operation{
			whoami(web.Operation{ID: "who", Path: "/api/who"}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/api/who", nil)
		r.RemoteAddr = c.from
		r.Header.Set("X-Auth-Token", "api")
		r.Header["X-Forwarded-For"] = c.forwarded
		r.Header.Set("Forwarded", "for=203.0.113.9") // the other dialect is not read
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "from "+c.want+`"`) {
			t.Errorf("%s: %s, want %s", c.name, w.Body, c.want)
		}
	}
}

// reached answers how the client reached the server, and from where.
func reached() web.Operation {
	return web.Op(web.Operation{ID: "reached", Method: "GET", Path: "/reached", Public: true}, func(context.Context, *web.None) (*web.Stream, error) {
		return web.Direct(func(w http.ResponseWriter, r *http.Request) error {
			scheme, host := web.Reached(r)
			_, err := io.WriteString(w, scheme+"://"+host+" from "+web.RemoteIP(r.Context()))
			return err
		}), nil
	})
}

func ask(router http.Handler, from string, header http.Header) string {
	r := httptest.NewRequest(http.MethodGet, "http://inside:8080/reached", nil)
	r.RemoteAddr, r.Header = from, header
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	return w.Body.String()
}

func behindProxies(t testing.TB, dialect web.ProxyHeaders) *web.Router {
	t.Helper()
	router, err := web.New(web.Options{Log: discard(), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		ProxyHeaders: dialect, Operations: []web.Operation{reached()}})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

func TestOnlyTrustedProxiesAreBelieved(t *testing.T) {
	x := http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Forwarded-Proto": {"http, https"}, "X-Forwarded-Host": {"evil.example, cms.example.org"}}
	forwarded := http.Header{"Forwarded": {`for=192.0.2.66;proto=http;host=evil.example`, `For="[2001:db8:cafe::17]:4711";by=10.0.0.1 ; Proto=https;host="cms.example.org:8443", for=10.1.1.1;proto=https;host=cms.example.org`}}
	for _, c := range []struct {
		name, from string
		dialect    web.ProxyHeaders
		header     http.Header
		want       string
	}{
		{"a stranger", "192.0.2.1:5", web.XForwarded, x, "http://inside:8080 from 192.0.2.1"},
		{"a stranger, RFC 7239", "192.0.2.1:5", web.Forwarded, forwarded, "http://inside:8080 from 192.0.2.1"},
		{"a proxy", "10.0.0.9:5", web.XForwarded, x, "https://cms.example.org from 198.51.100.7"},
		{"a proxy, RFC 7239", "10.0.0.9:5", web.Forwarded, forwarded, "https://cms.example.org from 2001:db8:cafe::17"},
		{"in the other dialect", "10.0.0.9:5", web.Forwarded, x, "http://inside:8080 from 10.0.0.9"},
		{"in the other dialect", "10.0.0.9:5", web.XForwarded, forwarded, "http://inside:8080 from 10.0.0.9"},
		{"a host that is none", "10.0.0.9:5", web.XForwarded, http.Header{"X-Forwarded-Host": {`a"b`}, "X-Forwarded-Proto": {"gopher"}}, "http://inside:8080 from 10.0.0.9"},
		{"obfuscated", "10.0.0.9:5", web.Forwarded, http.Header{"Forwarded": {`for=198.51.100.1, for=_hidden`}}, "http://inside:8080 from 10.0.0.9"},
		{"a comma in quotes", "10.0.0.9:5", web.Forwarded, http.Header{"Forwarded": {`for="198.51.100.1, for=192.0.2.1"`}}, "http://inside:8080 from 10.0.0.9"},
		{"an open quote", "10.0.0.9:5", web.Forwarded, http.Header{"Forwarded": {`for=198.51.100.1, for="192.0.2.1`}}, "http://inside:8080 from 10.0.0.9"},
	} {
		if got := ask(behindProxies(t, c.dialect), c.from, c.header); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// FuzzForwarded sends any headers through a trusted proxy: the address is one
// that was told, or the proxy's, and a proxy that adds the client's to what the
// client made up is believed.
func FuzzForwarded(f *testing.F) {
	f.Add("198.51.100.7, 10.2.2.2", `for="[2001:db8::17]:4711";proto=https;host=a`)
	f.Add("[::1]:80,,", `for=unknown, for=_x;;=`)
	f.Add(`"`, `for="\\";host="`)
	f.Add("fe80::1%eth0", `proto=https;proto=http,`)
	f.Fuzz(func(t *testing.T, list, element string) {
		for dialect, header := range map[web.ProxyHeaders]http.Header{web.XForwarded: {"X-Forwarded-For": {list}, "X-Forwarded-Proto": {element}, "X-Forwarded-Host": {list}}, web.Forwarded: {"Forwarded": {element}}} {
			where, from, ok := strings.Cut(ask(behindProxies(t, dialect), "10.0.0.1:1", header), " from ")
			if addr, err := netip.ParseAddr(from); !ok || err != nil || addr.Zone() != "" {
				t.Fatalf("%q %q: the address is %q", list, element, from)
			}
			if u, err := url.Parse(where); err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.User != nil) {
				t.Fatalf("%q %q: reached at %q", list, element, where)
			}
		}
		added := http.Header{"X-Forwarded-For": {list, "198.51.100.7"}}
		if got := ask(behindProxies(t, web.XForwarded), "10.0.0.1:1", added); !strings.HasSuffix(got, " from 198.51.100.7") {
			t.Fatalf("%q: %s", list, got)
		}
	})
}
