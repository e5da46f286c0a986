package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/web"
)

func cross(t *testing.T, c web.CORS) *server {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return serveWith(t, func(o *web.Options) { o.CORS = c }, whoami(web.Operation{ID: "who", Path: "/api/who"}), say("POST", "/api/who"),
		web.Op(web.Operation{ID: "own", Method: "OPTIONS", Path: "/api/agents", Public: true}, func(context.Context, *web.None) (*web.Reply[string], error) {
			return web.Answer("own rules")
		}))
}

func TestCORS(t *testing.T) {
	s := cross(t, web.CORS{Origins: []string{"https://www.example.org", "https://*.sites.example.org", "http://localhost:3000"}})
	for origin, allowed := range map[string]bool{
		"https://www.example.org": true, "https://a.sites.example.org": true, "https://a.b.sites.example.org": true, "http://localhost:3000": true,
		"http://www.example.org": false, "https://www.example.org:8443": false, "https://sites.example.org": false, "https://evilsites.example.org": false,
		"https://a.sites.example.org.evil.org": false, "https://evil.org/.sites.example.org": false, "https://u@a.sites.example.org": false,
		"null": false, "": false,
	} {
		want := ""
		if allowed {
			want = origin
		}
		question := s.send("OPTIONS", "/api/who", "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-auth-token")
		if got := question.Header.Get("Access-Control-Allow-Origin"); got != want || origin != "" && question.StatusCode != 204 || !strings.Contains(question.Header.Get("Vary"), "Origin") {
			t.Errorf("%q asks: %d %v", origin, question.StatusCode, question.Header)
		}
		if methods := question.Header.Get("Access-Control-Allow-Methods"); allowed && (methods != "GET, HEAD, POST" || !strings.Contains(question.Header.Get("Access-Control-Allow-Headers"), "X-Auth-Token")) {
			t.Errorf("%q may: %v", origin, question.Header)
		}
		answer := s.send("GET", "/api/who", "", "Origin", origin, "X-Auth-Token", "api")
		if got := answer.Header.Get("Access-Control-Allow-Origin"); got != want || answer.StatusCode != 200 || !strings.Contains(answer.Header.Get("Vary"), "Origin") || answer.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%q reads: %d %v", origin, answer.StatusCode, answer.Header)
		}
		if exposed := answer.Header.Get("Access-Control-Expose-Headers"); allowed != strings.Contains(exposed, "ETag") || allowed != strings.Contains(exposed, "RateLimit") {
			t.Errorf("%q reads the headers %q", origin, exposed)
		}
	}
	refused := s.send("GET", "/api/who", "", "Origin", "https://www.example.org")
	if refused.StatusCode != 401 || refused.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("scripts cannot read that they need a token: %d %v", refused.StatusCode, refused.Header)
	}
	if own := s.send("OPTIONS", "/json/agents", "", "Origin", "https://www.example.org", "Access-Control-Request-Method", "POST"); own.StatusCode != 200 || own.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a path with rules of its own: %d %v", own.StatusCode, own.Header)
	}
	if plain := s.send("OPTIONS", "/api/who", "", "Origin", "https://www.example.org", "X-Auth-Token", "api"); plain.StatusCode != 405 {
		t.Errorf("OPTIONS that is no question of a browser: %d", plain.StatusCode)
	}
}

func TestCORSForEveryoneAndNobody(t *testing.T) {
	for _, c := range []struct {
		cors        web.CORS
		origin      string
		credentials string
	}{
		{web.CORS{}, "", ""},
		{web.CORS{Origins: []string{"*"}}, "*", ""},
		{web.CORS{Origins: []string{"https://a.example"}, Credentials: true}, "https://a.example", "true"},
	} {
		s := cross(t, c.cors)
		got := s.send(http.MethodGet, "/api/who", "", "Origin", "https://a.example", "X-Auth-Token", "api")
		if got.Header.Get("Access-Control-Allow-Origin") != c.origin || got.Header.Get("Access-Control-Allow-Credentials") != c.credentials {
			t.Errorf("%+v: %v", c.cors, got.Header)
		}
		if c.origin == "" && (got.Header.Get("Vary") != "" || s.send("OPTIONS", "/api/who", "", "Origin", "https://a.example", "Access-Control-Request-Method", "GET", "X-Auth-Token", "api").StatusCode != 405) {
			t.Errorf("off: %v", got.Header)
		}
	}
}

func TestCORSValidate(t *testing.T) {
	for _, origins := range [][]string{{""}, {"www.example.org"}, {"https://example.org/"}, {"https://EXAMPLE.org"}, {"https://*"}, {"https://*.a.*.org"}, {"https://a*.example.org"}, {"https://u:p@example.org"}, {"null"}} {
		if (web.CORS{Origins: origins}).Validate() == nil {
			t.Errorf("%q is taken", origins)
		}
	}
	if (web.CORS{Origins: []string{"*"}, Credentials: true}).Validate() == nil {
		t.Error("credentials with * are taken")
	}
}
