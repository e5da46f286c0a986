package content_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content"
)

// FuzzBulkLine: whatever a line is, it is a line or a problem for the client.
func FuzzBulkLine(f *testing.F) {
	for _, seed := range []string{
		`{"op":"index","ouuid":"a","data":{"title":"A"}}`, `{"data":[]}`, `{"op":"update","if_match":"\"1\"","data":{}}`,
		`{"OP":"index"}`, `{"op":null,"data":null}`, `{"op":"publish","environment":"live"}`, `[]`, `[1]`, `{"data":{"a":1e999}}`, "{\"op\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		err := content.ParseBulkLine(line)
		if err == nil && !json.Valid(line) {
			t.Errorf("%q is taken and is no JSON", line)
		}
		if p := problem.From(err); err != nil && (p.Kind == problem.Internal || p.Kind.Status() >= 500) {
			t.Errorf("%q: %v", line, err)
		}
	})
}

// FuzzBulk sends whatever there is to the endpoint: each answer is a JSON
// object in its line.
func FuzzBulk(f *testing.F) {
	for _, seed := range []string{
		"{\"data\":{\"title\":\"A\"}}\n{\"op\":\"delete\",\"ouuid\":\"a\"}\n", "\n\n{}\n", "{", "\x00\n\xff", "{\"op\":\"create\",\"ouuid\":\"x\",\"data\":{\"title\":1}}\r\n[]",
		`{"ouuid":"a","data":{"title":"A","x":{"y":[1.0]}}}` + "\n" + `{"op":"update","ouuid":"a","data":{"x":null}}` + "\n" + `{"op":"publish","ouuid":"a","environment":"live"}`,
	} {
		f.Add([]byte(seed))
	}
	s := serve(f, func(c *content.Config) { c.MaxDocument = 4096 })
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/api/data/page/_bulk", strings.NewReader(string(body)))
		r.Header.Set("X-Auth-Token", "publisher")
		s.handler.ServeHTTP(w, r)
		for line := range strings.Lines(w.Body.String()) {
			if !json.Valid([]byte(line)) || !utf8.ValidString(line) || rawjson.KindOf([]byte(line)) != rawjson.Map {
				t.Errorf("%q answers %q", body, line)
			}
			if status, _ := rawjson.Get([]byte(line), "status"); string(status) >= "500" {
				t.Errorf("%q answers %q", body, line)
			}
		}
	})
}

// FuzzExport: whatever an export is, checking it gives a name that can stand
// in a path, or a problem for the client.
func FuzzExport(f *testing.F) {
	for _, kind := range content.Kinds() {
		f.Add(kind, []byte(`{"class":"x","properties":{"name":"a","identifier":"a"}}`))
	}
	f.Add("content-type", []byte(pageType))
	f.Add("content-type", []byte(fencedType))
	f.Add("form", []byte(entity("form", "Form", `"name":"fo","fieldType":`+rootField)))
	f.Add("environment", []byte(`{"properties":{"name":"live","orderKey":"x","managed":null}}`))
	f.Fuzz(func(t *testing.T, kind string, export []byte) {
		known := false
		for _, k := range content.Kinds() {
			known = known || k == kind
		}
		if !known {
			kind = "content-type"
		}
		name, err := content.CheckExport(kind, export)
		if err == nil && (name == "" || len(name) > 255 || strings.ContainsAny(name, "/\x00")) {
			t.Errorf("%s %q gives the name %q", kind, export, name)
		}
		if p := problem.From(err); err != nil && p.Kind.Status() >= 500 {
			t.Errorf("%s %q: %v", kind, export, err)
		}
	})
}
