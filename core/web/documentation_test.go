package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

func TestTheDocumentationIsForPeopleWithoutScripts(t *testing.T) {
	one := say("GET", "/api/new/{x}")
	one.Module, one.Summary, one.Also = "greeting", "Say <hello>", []string{"/api/old/{x}"}
	s := serve(t, one)
	all := s.send("GET", "/docs", "")
	if all.StatusCode != 200 || !strings.Contains(all.body, "Say &lt;hello&gt;") || !strings.Contains(all.body, `href="/docs/greeting#`) {
		t.Fatalf("%d %s", all.StatusCode, all.body)
	}
	page := s.send("GET", "/docs/greeting", "")
	for _, want := range []string{"Say &lt;hello&gt;", "<code>/api/new/{x}</code>", "ROLE_API", "/api/old/{x}", "curl"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("%s is not in\n%s", want, page.body)
		}
	}
	policy := page.Header.Get("Content-Security-Policy")
	_, style, _ := strings.Cut(page.body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the style of the page is not allowed by %s", policy)
	}
	for _, not := range []string{"<script", "src=", "style=", "http://", `href="https://`} {
		if strings.Contains(page.body+all.body, not) {
			t.Errorf("the pages have %s", not)
		}
	}
	if a := s.send("GET", "/docs/unknown", ""); a.StatusCode != 404 {
		t.Errorf("a module that is not there: %d", a.StatusCode)
	}
}

func TestTheDocumentationIsSentOnce(t *testing.T) {
	s := serve(t, say("GET", "/api/new/{x}"))
	for _, path := range []string{"/docs", "/docs/core", "/openapi.json"} {
		first := s.send("GET", path, "")
		etag := first.Header.Get("ETag")
		if first.StatusCode != 200 || etag == "" {
			t.Errorf("%s: %d, ETag %q", path, first.StatusCode, etag)
		}
		again := s.send("GET", path, "", "If-None-Match", etag)
		if again.StatusCode != 304 || again.body != "" {
			t.Errorf("%s again: %d", path, again.StatusCode)
		}
		if head := s.send("HEAD", path, ""); head.StatusCode != 200 || head.body != "" || head.Header.Get("ETag") != etag {
			t.Errorf("HEAD %s: %d %v", path, head.StatusCode, head.Header)
		}
	}
}
