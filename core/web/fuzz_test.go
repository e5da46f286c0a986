package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/web"
)

func echoes(t testing.TB) *web.Router {
	router, err := web.New(web.Options{Log: discard(), Authenticator: people(), MaxBody: 4096, Operations: []web.Operation{
		web.Op(web.Operation{ID: "echo", Method: "GET", Path: "/api/data/{type}/{ouuid}", Public: true},
			func(_ context.Context, in *struct {
				Type  string `path:"type"`
				OUUID string `path:"ouuid"`
				Q     string `query:"q"`
			}) (*web.Reply[[]string], error) {
				return web.Answer([]string{in.Type, in.OUUID, in.Q})
			}),
		say("POST", "/api/data/{type}/create"),
		web.Op(web.Operation{ID: "body", Method: "POST", Path: "/api/body", Public: true},
			func(_ context.Context, in *struct{ Body order }) (*web.Reply[order], error) {
				return web.Answer(in.Body)
			}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// FuzzPath sends any path and query: there is always an answer in the API's
// form, never a redirect, and what is escaped comes back as it was.
func FuzzPath(f *testing.F) {
	router := echoes(f)
	f.Add("page", "x/y", "a b")
	f.Add("%", "..", "%2F")
	f.Add("é", "a%2Fb", "\x00")
	f.Add("create", "//", "\xff")
	f.Fuzz(func(t *testing.T, typeName, ouuid, q string) {
		target := "/api/data/" + url.PathEscape(typeName) + "/" + url.PathEscape(ouuid) + "?q=" + url.QueryEscape(q)
		r, err := http.NewRequestWithContext(t.Context(), "GET", target, nil)
		if err != nil {
			t.Skip("no client can send it") // not a missing service: the fuzzer made no request
		}
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		switch w.Code {
		case 200:
			var got []string
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got[0] != typeName || got[1] != ouuid || got[2] != q {
				t.Errorf("%q %q %q came back as %s", typeName, ouuid, q, w.Body)
			}
		case 400:
			if kept(typeName) && kept(ouuid) && kept(q) {
				t.Errorf("%s is refused: %s", target, w.Body)
			}
		case 401, 404: // a path that nobody answers
			if typeName != "" && ouuid != "" && !dots(typeName) && !dots(ouuid) {
				t.Errorf("%s: %s", target, w.Body)
			}
		default:
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	})
}

func kept(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// dots reports whether a part of a path means a folder.
func dots(s string) bool { return s == "." || s == ".." }

// FuzzTarget sends any request line that net/http would take.
func FuzzTarget(f *testing.F) {
	router := echoes(f)
	for _, target := range []string{"/", "//", "/api", "/json/", "/api/data//x", "/api/data/a%2f/../b", "*", "http://x", "/api/data/%/x", "/%6Ason/data/a/b", "/api/data/a/b/?q=%zz", "/..//api/./data/x/y"} {
		f.Add("GET", target)
		f.Add("POST", target)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		r := (&http.Request{Method: method, URL: u, Header: http.Header{}, Body: http.NoBody}).WithContext(t.Context())
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if w.Code >= 300 && w.Code < 400 || w.Code >= 500 || w.Code < 200 {
			t.Errorf("%s %q: %d %s", method, target, w.Code, w.Body)
		}
		if method != "HEAD" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %q: not JSON: %s", method, target, w.Body)
		}
	})
}

// FuzzBody sends any body: it is decoded, or refused by a 4xx in the API's form.
func FuzzBody(f *testing.F) {
	router := echoes(f)
	for _, body := range []string{"", "[]", "{}", `{"name":"x"}`, `{"name":"x","name":"y"}`, "{\"name\":\"\x00problem:{}\"}", `{"count":1e999}`, "[[[[", `null`, `{"\u0000problem:{\"Kind\":0}":1}`, "{\"p\xe8roblem:{0"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", "/api/body", strings.NewReader(string(body)))
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if w.Code != 200 && (w.Code < 400 || w.Code >= 500) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
		sent := strings.ToValidUTF8(string(body), "") // as an answer quotes it
		if w.Code != 200 && strings.Contains(w.Body.String(), "problem:{") && !strings.Contains(sent, "problem:{") && !strings.Contains(sent, `\u`) {
			t.Errorf("%q: the inner form leaks: %s", body, w.Body)
		}
	})
}
