package web_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/web"
)

// slow is a rate whose bucket does not fill again while a test runs.
func slow(burst int) web.Rate { return web.Rate{PerSecond: 0.001, Burst: burst} }

func numbered() tokens {
	return tokens{
		"one":    auth.New(auth.Identity{Username: "ada", TokenID: 1, Granted: []string{auth.RoleAPI}}),
		"two":    auth.New(auth.Identity{Username: "ada", TokenID: 2, Granted: []string{auth.RoleAPI}}),
		"inside": auth.New(auth.Identity{Username: "quoin", Granted: []string{auth.RoleAPI}}),
	}
}

func limited(t *testing.T, l web.Limits) *server {
	return serveWith(t, func(o *web.Options) {
		o.Authenticator, o.Limits, o.TrustedProxies = numbered(), l, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}, whoami(web.Operation{ID: "who", Path: "/api/who"}), whoami(web.Operation{ID: "open", Path: "/open", Public: true}))
}

func TestRateLimitOfATokenAndAnAddress(t *testing.T) {
	s := limited(t, web.Limits{Tokens: slow(3), Addresses: slow(2)})
	for i, want := range []struct {
		status, left int
		token        string
	}{{200, 2, "one"}, {200, 1, "one"}, {200, 0, "one"}, {429, 0, "one"}, {429, 0, "one"}, {200, 2, "two"}} {
		got := s.as(want.token, "GET", "/api/who", "")
		left := `"token";r=` + strconv.Itoa(want.left) + `;t=`
		if got.StatusCode != want.status || len(got.Header.Get("RateLimit")) <= len(left) || got.Header.Get("RateLimit")[:len(left)] != left || got.Header.Get("RateLimit-Policy") != `"token";q=3;w=3000` {
			t.Errorf("%d: %d %v", i, got.StatusCode, got.Header)
		}
		if want.status != 429 {
			continue
		}
		var f form
		if err := json.Unmarshal([]byte(got.body), &f); err != nil || f.Success == nil || *f.Success || got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s", got.body)
		}
		if after, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || after < 900 || after > 1000 {
			t.Errorf("Retry-After is %q", got.Header.Get("Retry-After"))
		}
	}
	from := func(address, token, path string) int {
		return s.send("GET", path, "", "X-Forwarded-For", address, "X-Auth-Token", token).StatusCode
	}
	for i, c := range []struct {
		address, token, path string
		want                 int
	}{
		{"198.51.100.1", "", "/api/who", 401}, {"198.51.100.1", "wrong", "/api/who", 401}, {"198.51.100.1", "", "/open", 429},
		{"198.51.100.1", "", "/nowhere", 429}, {"198.51.100.1", "", "/api/nowhere", 429}, {"198.51.100.1", "two", "/api/who", 200},
		{"198.51.100.2", "", "/open", 200}, {"198.51.100.2", "", "/nowhere", 404}, {"198.51.100.2", "wrong", "/api/who", 429},
		{"2001:db8:1:1::1", "", "/open", 200}, {"2001:db8:1:1:ffff::2", "", "/open", 200}, {"2001:db8:1:1::3", "", "/open", 429}, {"2001:db8:1:2::1", "", "/open", 200},
	} {
		if got := from(c.address, c.token, c.path); got != c.want {
			t.Errorf("%d: %s %q %s: %d, want %d", i, c.address, c.token, c.path, got, c.want)
		}
	}
}

// TestNothingIsLimitedUnlessAsked: clients of old see no difference, and what the
// server asks itself is never counted.
func TestNothingIsLimitedUnlessAsked(t *testing.T) {
	off, on := limited(t, web.Limits{}), limited(t, web.Limits{Tokens: slow(1), Addresses: slow(1)})
	for range 50 {
		for _, got := range []answer{off.as("one", "GET", "/api/who", ""), off.send("GET", "/open", ""), on.as("inside", "GET", "/api/who", "")} {
			if got.StatusCode != 200 || got.Header.Get("RateLimit") != "" || got.Header.Get("RateLimit-Policy") != "" {
				t.Fatalf("%d %v", got.StatusCode, got.Header)
			}
		}
	}
}

func TestABucketFillsAgain(t *testing.T) {
	s := limited(t, web.Limits{Tokens: web.Rate{PerSecond: 1000, Burst: 1}})
	for range 20 { // waits as it is told, which is less than what a request takes
		for s.as("one", "GET", "/api/who", "").StatusCode != 200 {
		}
	}
}

func TestRateValidate(t *testing.T) {
	for _, r := range []web.Rate{{PerSecond: -1}, {PerSecond: math.NaN()}, {PerSecond: math.Inf(1)}, {Burst: -1}, {Burst: 1 << 30}} {
		if r.Validate() == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	if err := (web.Rate{PerSecond: 0.5, Burst: 3}).Validate(); err != nil {
		t.Error(err)
	}
}

// BenchmarkLimitedOperation is what limits cost.
func BenchmarkLimitedOperation(b *testing.B) {
	router, err := web.New(web.Options{Log: discard(), Authenticator: numbered(), Limits: web.Limits{Tokens: web.Rate{PerSecond: 1e6, Burst: 1e6}}, Operations: []web.Operation{
		whoami(web.Operation{ID: "who", Path: "/api/who"}),
	}})
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/api/who", nil)
	r.Header.Set("X-Auth-Token", "one")
	b.ReportAllocs()
	for b.Loop() {
		router.ServeHTTP(&sink{header: http.Header{}}, r)
	}
}
