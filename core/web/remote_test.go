package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
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
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "from "+c.want+`"`) {
			t.Errorf("%s: %s, want %s", c.name, w.Body, c.want)
		}
	}
}
