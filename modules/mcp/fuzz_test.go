package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
)

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"elasticms://documents/page/d1", "elasticms://documents/page/%64%31", "elasticms://documents/page/", "elasticms://documents/a%2Fb/c%25",
		"elasticms://environments/live/documents/page/d1", "elasticms://environments/descriptions", "elasticms://environments/x/description",
		"elasticms://content-types/descriptions", "elasticms://content-types/page/schema", "elasticms://content-types/page/description",
		"elasticms://files/abc", "elasticms://%zz/x", "elasticms://", "elasticms:///", "ELASTICMS://files/x", "*elasticms://documents/a/b", "file:///etc/passwd", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		a, ok := parseAddress(uri)
		if len(topics(uri)) < 2 || !slices.Contains(topics(uri), canonical(uri)) {
			t.Fatalf("%q has the topics %q", uri, topics(uri))
		}
		if !ok {
			return
		}
		if again, ok := parseAddress(a.String()); !ok || again != a {
			t.Fatalf("%q is %+v, and %q is %+v", uri, a, a.String(), again)
		}
		if strings.ContainsAny(a.String(), "*\n\r ") {
			t.Fatalf("%q", a.String())
		}
	})
}

func FuzzToolNames(f *testing.F) {
	f.Add("page", "news", "get_document_page", false)
	f.Add("x", "document_x", "get_document_x", true)
	f.Add("document", strings.Repeat("y", 70), "save_document", true)
	f.Add("", "_", "get_", false)
	f.Fuzz(func(t *testing.T, one, other, name string, short bool) {
		s := &Service{cfg: &Config{ToolNames: namesDocument}, tools: &toolbox{byName: map[string]*tool{"save_document": {}}}}
		if short {
			s.cfg.ToolNames = namesShort
		}
		types := []port.DocumentType{{Name: one}, {Name: other}}
		if to, typ := perTypeName(name, types, s.cfg.ToolNames); (to != "") != (typ == one && to != "" || typ == other && to != "") {
			t.Fatalf("%q leads to %q of %q", name, to, typ)
		}
		for _, k := range []perType{reading, saving} {
			listed := s.listedName(k, one)
			if len(listed) > longestName || s.tools.byName[listed] != nil {
				t.Fatalf("%q is listed", listed)
			}
			fallen := short && listed == toolName(k.document, one) // another one may have this name in the short form
			if to, typ := perTypeName(listed, types, s.cfg.ToolNames); to != k.to || typ != one && !fallen {
				t.Fatalf("%q leads to %q of %q, not %q", listed, to, typ, one)
			}
		}
	})
}

func FuzzHeard(f *testing.F) {
	for _, seed := range []string{"p closed x", "p subscribed x", "p cancel x 7", "p changed elasticms://documents/a/b\n*", "p tools ", "p", " ", "p message q", "p cancel", "\x00 \x00 \x00"} {
		f.Add(seed)
	}
	s := New(context.Background(), Options{Config: Defaults(), Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, payload string) {
		if payload == "" || strings.HasPrefix(payload, s.process) {
			return
		}
		s.heard(payload)
		if n := len(s.changes.away.topics); n > maxGathered+1 {
			t.Fatalf("%d topics", n)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("application/json, text/event-stream;q=0.5", "Bearer qn_x", "https://evil.example", "localhost:8080")
	f.Add(",;=/", "bearer", "null", "[::1]:80")
	f.Add("TEXT/*", "Basic YTpi", "http://[::1", "%")
	f.Fuzz(func(t *testing.T, accept, authorization, origin, host string) {
		s := &Service{cfg: &Config{AllowedOrigins: []string{"https://good.example"}}}
		r := &http.Request{Host: host, Header: http.Header{"Accept": {accept}, "Authorization": {authorization}, "Origin": {origin}}}
		q := &request{r: r}
		if q.stream() && !strings.Contains(strings.ToLower(accept), "text/") {
			t.Fatalf("%q asks for a stream", accept)
		}
		if token := tokenOf(r); token != "" && !strings.Contains(authorization, token) {
			t.Fatalf("%q holds the token %q", authorization, token)
		}
		if !s.refusedOrigin(r) && strings.Contains(origin, "evil.example") && !strings.Contains(origin, "localhost") && !strings.Contains(origin, "127.") {
			t.Fatalf("%q is not refused at %q", origin, host)
		}
		if strings.ContainsAny(s.address(r), "\"\r\n <>") {
			t.Fatalf("%q", s.address(r))
		}
	})
}

func TestShortNamesGiveWayToToolsOfTheServer(t *testing.T) {
	s := &Service{cfg: &Config{ToolNames: namesShort}, tools: &toolbox{byName: map[string]*tool{"get_document": {}, "save_document": {}}}}
	types := []port.DocumentType{{Name: "document", Rights: []auth.Right{auth.View}}, {Name: "x"}, {Name: "document_x"}}
	for _, c := range []struct {
		kind         perType
		of, want, to string
	}{
		{reading, "document", "get_document_document", "document"},
		{saving, "document", "create_document_document", "document"},
		{reading, "x", "get_x", "x"},
		{reading, "document_x", "get_document_x", "document_x"},
		{saving, "x", "save_x", "x"},
	} {
		if got := s.listedName(c.kind, c.of); got != c.want {
			t.Errorf("%s is listed as %s", c.of, got)
		}
		if to, of := perTypeName(c.want, types, namesShort); to != c.kind.to || of != c.to {
			t.Errorf("%s leads to %s of %s", c.want, to, of)
		}
	}
}
