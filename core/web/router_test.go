package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

func TestAnErrorNobodyMapsIsNever200(t *testing.T) {
	s := serve(t, fails("/plain", func() error { return errors.New("dial tcp 10.0.0.7: secret") }))
	f := s.send("GET", "/plain", "").problem(t, 500)
	if strings.Contains(f.Detail, "secret") {
		t.Errorf("the cause reaches the client: %+v", f)
	}
	if !strings.Contains(s.log.String(), "10.0.0.7") || !strings.Contains(s.log.String(), f.Instance) {
		t.Errorf("the cause is not in the log: %s", s.log)
	}
}

func TestAPanicIsA500AndTheServerLivesOn(t *testing.T) {
	s := serve(t, fails("/panic", func() error { panic("a bug at 0x1234") }), say("GET", "/fine"))
	for range 3 {
		a := s.send("GET", "/panic", "")
		a.problem(t, 500)
		for _, leak := range []string{"0x1234", "goroutine", ".go:"} {
			if strings.Contains(a.body, leak) {
				t.Errorf("%q reaches the client: %s", leak, a.body)
			}
		}
	}
	if a := s.as("api", "GET", "/fine", ""); a.StatusCode != 200 {
		t.Errorf("after the panic: %d", a.StatusCode)
	}
	if got := s.log.String(); !strings.Contains(got, "a bug at 0x1234") || !strings.Contains(got, "router_test.go") {
		t.Errorf("the log needs the panic with its stack: %s", got)
	}
}

func TestAPanicAfterTheAnswerHasBegunCutsIt(t *testing.T) {
	s := serve(t, web.Op(web.Operation{ID: "x", Method: "GET", Path: "/x", Public: true, MaxBody: -1},
		func(context.Context, *web.None) (*web.Stream, error) {
			return web.Streaming("text/plain", func(_ context.Context, _ io.Reader, w io.Writer, flush func()) {
				_, _ = w.Write([]byte("begin"))
				flush()
				panic("too late")
			}), nil
		}))
	_, body, err := s.begun("/x")
	if !strings.HasPrefix(body, "begin") || err == nil {
		t.Errorf("%q %v", body, err)
	}
	s.Close() // waits for the line of the log
	if got := s.log.String(); !strings.Contains(got, "too late") || !strings.Contains(got, `"status":500`) {
		t.Errorf("the log must tell: %s", got)
	}
}

func TestHeadAnswersWhereGetDoes(t *testing.T) {
	own := web.Op(web.Operation{ID: "own", Method: "HEAD", Path: "/own", Public: true},
		func(context.Context, *web.None) (*web.Raw, error) { return &web.Raw{ETag: `"of-head"`}, nil })
	s := serve(t, say("GET", "/api/thing"), say("POST", "/api/only-post"), say("GET", "/own"), own)
	get, head := s.as("api", "GET", "/api/thing", ""), s.as("api", "HEAD", "/api/thing", "")
	if head.StatusCode != 200 || head.body != "" || head.ContentLength != int64(len(get.body)) {
		t.Errorf("HEAD: %d %q, length %d of %d", head.StatusCode, head.body, head.ContentLength, len(get.body))
	}
	if a := s.as("", "HEAD", "/api/thing", ""); a.StatusCode != 401 {
		t.Errorf("HEAD without a token: %d", a.StatusCode)
	}
	if a := s.as("api", "HEAD", "/api/only-post", ""); a.StatusCode != 405 {
		t.Errorf("HEAD of a POST: %d", a.StatusCode)
	}
	if a := s.send("HEAD", "/own", ""); a.StatusCode != 200 || a.Header.Get("ETag") != `"of-head"` {
		t.Errorf("an operation for HEAD comes first: %d %v", a.StatusCode, a.Header)
	}
}

func TestMethodNotAllowedTellsWhatIs(t *testing.T) {
	s := serve(t, say("GET", "/api/data/{type}/{ouuid}"), say("DELETE", "/api/data/{kind}/{id}"), say("POST", "/api/data/{type}/create"), say("POST", "/api/plain"))
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/api/plain", "POST"},
		{"PUT", "/api/data/page/x", "DELETE, GET, HEAD"},
		{"PATCH", "/api/data/page/create", "DELETE, GET, HEAD, POST"},
		{"PUT", "/json/data/page/x/", "DELETE, GET, HEAD"},
		{"PUT", "/api/data/page/a%2Fb", "DELETE, GET, HEAD"},
		{"BREW", "/api/plain", "POST"},
	} {
		a := s.as("api", c.method, c.path, "")
		a.problem(t, 405)
		if got := a.Header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, got, c.allow)
		}
	}
	s.as("", "PUT", "/api/plain", "").problem(t, 401)
}

func TestStrangersLearnNothing(t *testing.T) {
	s := serve(t, say("GET", "/api/known"))
	s.as("", "GET", "/api/unknown", "").problem(t, 401)
	s.as("", "GET", "/json/unknown", "").problem(t, 401)
	s.as("wrong", "PUT", "/api/known", "").problem(t, 401)
	s.as("api", "GET", "/api/unknown", "").problem(t, 404)
	s.as("", "GET", "/elsewhere", "").problem(t, 404)
	s.as("", "GET", "/", "").problem(t, 404)
}

func TestNothingIsRedirected(t *testing.T) {
	s := serve(t, say("POST", "/api/thing"), say("GET", "/api/thing"), say("GET", "/api/of/{name}"))
	for _, path := range []string{"/api/thing", "/api/thing/", "/api//thing", "//api/thing//", "/api/./thing", "/api/x/../thing", "/json/thing", "/json/thing/"} {
		for _, method := range []string{"GET", "POST"} {
			a := s.as("api", method, path, "")
			if a.StatusCode != 200 || !strings.Contains(a.body, method+" /api/thing") {
				t.Errorf("%s %s: %d %s %s", method, path, a.StatusCode, a.Header.Get("Location"), a.body)
			}
		}
	}
	s.as("api", "GET", "/json", "").problem(t, 404)
	s.as("api", "GET", "/jsonthing", "").problem(t, 404)
	s.as("api", "GET", "/api/of//", "").problem(t, 404)
}

func TestParametersAreUnescapedExactlyOnce(t *testing.T) {
	s := serve(t, web.Op(web.Operation{ID: "echo", Method: "GET", Path: "/api/{a}/of/{b}"},
		func(_ context.Context, in *struct {
			A string `path:"a"`
			B string `path:"b"`
			Q string `query:"q"`
		}) (*web.Reply[[]string], error) {
			return web.Answer([]string{in.A, in.B, in.Q})
		}))
	for _, c := range []struct{ target, a, b, q string }{
		{"/api/x/of/y", "x", "y", ""},
		{"/api/x%2Fy/of/z", "x/y", "z", ""},
		{"/api/x%2Fy/of/z%2525%20%C3%BC", "x/y", "z%25 ü", ""},
		{"/api/x/of/z%2525%20%C3%BC", "x", "z%25 ü", ""},
		{"/api/100%25/of/a+b", "100%", "a+b", ""},
		{"/api/..%2F..%2Fetc/of/%2E%2E", "../../etc", "..", ""},
		{"/api/a%2F/of/b%2F", "a/", "b/", ""},
		{"/api/x/of/y?q=a%2Fb+c%2525", "x", "y", "a/b c%25"},
		{"/json/x%2Fy/of/z/", "x/y", "z", ""},
	} {
		a := s.as("api", "GET", c.target, "")
		if want := fmt.Sprintf("[%q,%q,%q]\n", c.a, c.b, c.q); a.StatusCode != 200 || a.body != want {
			t.Errorf("%s: %d %s, want %s", c.target, a.StatusCode, a.body, want)
		}
	}
	for _, bad := range []string{"/api/x/of/%FF", "/api/x/of/%00", "/api/x/of/y?q=%FF", "/api/x/of/y?q=%00", "/api/x/of/y?q=%ZZ"} {
		s.as("api", "GET", bad, "").problem(t, 400)
	}
}

// TestListsAsPHPWritesThem: its clients name the values of a list a[] or, with
// http_build_query, a[0], a[1].
func TestListsAsPHPWritesThem(t *testing.T) {
	s := serve(t, web.Op(web.Operation{ID: "echo", Method: "GET", Path: "/api/echo"},
		func(_ context.Context, in *struct {
			List []string `query:"list,explode"`
			One  string   `query:"one"`
			Odd  string   `query:"odd[x]"`
		}) (*web.Reply[[]string], error) {
			return web.Answer(append(in.List, in.One, in.Odd))
		}))
	for query, want := range map[string]string{
		"list=a&list=b&one=c":                     `["a","b","c",""]`,
		"list[]=a&list[]=b":                       `["a","b","",""]`,
		"list[0]=a&list[1]=b&one=c":               `["a","b","c",""]`,
		"one=%5B&list%5B0%5D=a%5D&list%5b10%5d=b": `["a]","b","[",""]`,
		"odd[x]=a&odd%5B%5D=b&[]=c&list]=d":       `["","a"]`,
		"one[]=a":                                 `["a",""]`,
	} {
		if a := s.as("api", "GET", "/api/echo/?"+query, ""); a.StatusCode != 200 || a.body != want+"\n" {
			t.Errorf("%s: %d %s, want %s", query, a.StatusCode, a.body, want)
		}
	}
	s.as("api", "GET", "/api/echo?list[%ZZ]=a", "").problem(t, 400)
}

func TestConflictsNameBothModules(t *testing.T) {
	of := func(module, id, path string) web.Operation {
		o := say("GET", path)
		o.Module, o.ID = module, id
		return o
	}
	for _, c := range []struct {
		name string
		ops  []web.Operation
		want []string
	}{
		{"same path", []web.Operation{of("content", "a", "/api/x"), of("search", "b", "/api/x")}, []string{"module content", "module search", "/api/x"}},
		{"other parameter name", []web.Operation{of("content", "a", "/api/{type}"), of("search", "b", "/api/{name}")}, []string{"module content", "module search", "{type}", "{name}"}},
		{"same id", []web.Operation{of("content", "a", "/api/x"), of("search", "a", "/api/y")}, []string{"module content", "module search", `"a"`}},
		{"not a path", []web.Operation{of("content", "a", "/api/x:{type}")}, []string{"module content", "/api/x:{type}"}},
		{"no slash", []web.Operation{of("content", "a", "api")}, []string{"module content"}},
		{"the document's path", []web.Operation{of("content", "a", "/openapi.json")}, []string{"module content", "module core"}},
		{"types that cannot be served", []web.Operation{web.Op(web.Operation{ID: "odd", Method: "GET", Path: "/odd", Module: "content"},
			func(context.Context, *web.None) (*int, error) { return nil, nil })}, []string{"operation odd", "module content"}},
	} {
		_, err := web.New(web.Options{Log: telemetry.Discard(), Operations: c.ops})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not name %q", c.name, err, want)
			}
		}
	}
}

func TestRoutesAreListedWithTheirModule(t *testing.T) {
	o := say("GET", "/api/x")
	o.Also = []string{"/api/old-x"}
	router, err := web.New(web.Options{Log: telemetry.Discard(), Operations: []web.Operation{o}})
	if err != nil {
		t.Fatal(err)
	}
	routes := router.Routes()
	if len(routes) != 5 || routes["GET /api/x"] != "test" || routes["GET /api/old-x"] != "test" || routes["GET /openapi.json"] != "core" {
		t.Errorf("%v", routes)
	}
}

func TestOldSpellings(t *testing.T) {
	o := say("GET", "/api/new/{x}")
	o.Also = []string{"/api/older/{x}", "/api/oldest/{x}/now"}
	s := serve(t, o)
	for _, path := range []string{"/api/new/1", "/api/older/1", "/json/oldest/1/now"} {
		if a := s.as("api", http.MethodGet, path, ""); a.StatusCode != 200 {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
}
