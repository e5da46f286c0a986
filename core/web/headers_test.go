package web_test

import (
	"errors"
	"testing"
)

func TestSecurityHeadersOnEveryAnswer(t *testing.T) {
	s := serve(t, say("GET", "/api/fine"), fails("/broken", func() error { return errors.New("no") }), fails("/panics", func() error { panic("no") }))
	for path, status := range map[string]int{"/api/fine": 200, "/openapi.json": 200, "/nowhere": 404, "/api/nowhere": 404, "/broken": 500, "/panics": 500} {
		got := s.as("api", "GET", path, "")
		if got.StatusCode != status {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy": "no-referrer",
		} {
			if all := got.Header.Values(name); len(all) != 1 || all[0] != want {
				t.Errorf("%s: %s is %q", path, name, all)
			}
		}
		if all := got.Header.Values("Cache-Control"); len(all) != 1 || all[0] == "" {
			t.Errorf("%s: Cache-Control is %q", path, all)
		}
	}
}
