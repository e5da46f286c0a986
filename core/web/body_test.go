package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/web"
)

type order struct {
	Name  string `json:"name" minLength:"1"`
	Count int    `json:"count,omitempty" minimum:"0" maximum:"10"`
	Lines []struct {
		Title string `json:"title"`
	} `json:"lines,omitempty"`
	Inner *struct {
		Deep string `json:"deep"`
	} `json:"inner,omitempty"`
}

type optional struct {
	Note string `json:"note,omitempty"`
}

func bodies(t *testing.T) *server {
	return serve(t,
		web.Op(web.Operation{ID: "order", Method: "POST", Path: "/api/order/{shop}", Errors: []int{404}},
			func(_ context.Context, in *struct {
				Shop    int    `path:"shop"`
				Express bool   `query:"express"`
				Limit   int    `query:"limit" maximum:"100"`
				Match   string `header:"If-Match"`
				Body    order
			}) (*web.Reply[order], error) {
				return web.Answer(in.Body)
			}),
		web.Op(web.Operation{ID: "optional", Method: "POST", Path: "/api/optional"},
			func(_ context.Context, in *struct{ Body optional }) (*web.Reply[optional], error) {
				return web.Answer(in.Body)
			}),
		web.Op(web.Operation{ID: "raw", Method: "POST", Path: "/api/raw"},
			func(_ context.Context, in *struct {
				RawBody []byte `contentType:"application/json"`
			}) (*web.Raw, error) {
				return web.JSON(append([]byte(nil), in.RawBody...))
			}),
		web.Op(web.Operation{ID: "none", Method: "POST", Path: "/api/none"},
			func(context.Context, *web.None) (*web.Reply[bool], error) { return web.Answer(true) }),
		web.Op(web.Operation{ID: "big", Method: "POST", Path: "/api/big", MaxBody: 10_000},
			func(_ context.Context, in *struct{ RawBody []byte }) (*web.Reply[int], error) {
				return web.Answer(len(in.RawBody))
			}),
	)
}

func TestBodiesThatAreRefused(t *testing.T) {
	s := bodies(t)
	for _, c := range []struct {
		name, path, body string
		status           int
		field            string
		says             string
	}{
		{"no body", "/api/order/1", "", 400, "-", "required"},
		{"not JSON", "/api/order/1", "{", 400, "", "key was expected"},
		{"not an object", "/api/order/1", `"x"`, 400, "", "object"},
		{"null", "/api/order/1", `null`, 400, "", "object"},
		{"a list", "/api/order/1", `[1]`, 400, "", "object"},
		{"two values", "/api/order/1", `{"name":"x"} {}`, 400, "", ""},
		{"missing field", "/api/order/1", `{}`, 400, "name", "missing"},
		{"missing field, the PHP way", "/api/order/1", `[]`, 400, "name", "missing"},
		{"missing field in a list", "/api/order/1", `{"name":"x","lines":[{"title":"a"},{}]}`, 400, "lines[1].title", "missing"},
		{"wrong type", "/api/order/1", `{"name":7}`, 400, "name", "string"},
		{"wrong type, deep", "/api/order/1", `{"name":"x","inner":{"deep":[]}}`, 400, "inner.deep", "string"},
		{"out of range", "/api/order/1", `{"name":"x","count":11}`, 400, "count", "<= 10"},
		{"too short", "/api/order/1", `{"name":""}`, 400, "name", ">= 1"},
		{"not a whole number", "/api/order/1", `{"name":"x","count":1.5}`, 400, "count", ""},
		{"duplicate key", "/api/order/1", `{"name":"x","inner":{"deep":"a","deep":"b"}}`, 400, "inner.deep", "twice"},
		{"duplicate key, escaped", "/api/order/1", `{"name":"x","n\u0061me":"y"}`, 400, "name", "twice"},
		{"NaN", "/api/order/1", `{"name":"x","count":NaN}`, 400, "count", ""},
		{"huge number", "/api/order/1", `{"name":"x","count":1e999}`, 400, "count", ""},
		{"lone surrogate", "/api/order/1", `{"name":"\ud800"}`, 400, "name", "surrogate"},
		{"not UTF-8", "/api/order/1", "{\"name\":\"\xff\"}", 400, "name", ""},
		{"too deep", "/api/order/1", `{"name":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, 413, "-", "deep"},
		{"too big", "/api/order/1", `{"name":"` + strings.Repeat("x", 4096) + `"}`, 413, "-", "larger"},
		{"too big, raw", "/api/raw", strings.Repeat(" ", 4097), 413, "-", "larger"},
		{"wrong parameter", "/api/order/one", `{"name":"x"}`, 400, "shop", "integer"},
		{"wrong query", "/api/order/1?express=perhaps", `{"name":"x"}`, 400, "express", "boolean"},
		{"query out of range", "/api/order/1?limit=101", `{"name":"x"}`, 400, "limit", "<= 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := s.as("api", "POST", c.path, c.body).problem(t, c.status)
			if !strings.Contains(f.Detail, c.says) {
				t.Errorf("detail %q, want %q in it", f.Detail, c.says)
			}
			if strings.Contains(f.Detail, "\x00") || strings.Contains(f.Detail, "problem:") {
				t.Errorf("detail %q", f.Detail)
			}
			if c.field == "-" {
				return
			}
			if len(f.Fields) != 1 || f.Fields[0].Path != c.field {
				t.Errorf("fields %+v, want the path %q", f.Fields, c.field)
			}
		})
	}
	f := s.as("api", "POST", "/api/order/1", `{"count":-1,"lines":[{}]}`).problem(t, 400)
	if len(f.Fields) != 3 || len(f.Messages) != 4 {
		t.Errorf("every finding is told at once: %+v", f)
	}
}

func TestBodiesThatAreTaken(t *testing.T) {
	s := bodies(t)
	long := strings.Repeat("x", 4096-len(`{"name":""}`))
	for _, c := range []struct{ name, path, contentType, body, want string }{
		{"JSON", "/api/order/1", "application/json", `{"name":"x"}`, `{"name":"x"}`},
		{"no content type", "/api/order/1", "", `{"name":"x"}`, `{"name":"x"}`},
		{"curl -d", "/api/order/1", "application/x-www-form-urlencoded", `{"name":"x"}`, `{"name":"x"}`},
		{"of a browser", "/api/order/1", "text/plain;charset=UTF-8", `{"name":"x"}`, `{"name":"x"}`},
		{"XML", "/api/order/1", "application/xml", `{"name":"x"}`, `{"name":"x"}`},
		{"nonsense", "/api/order/1", ";+;", `{"name":"x"}`, `{"name":"x"}`},
		{"multipart", "/api/order/1", "multipart/form-data", `{"name":"x"}`, `{"name":"x"}`},
		{"exactly as large as allowed", "/api/order/1", "", `{"name":"` + long + `"}`, `{"name":"` + long + `"}`},
		{"an own limit", "/api/big", "", strings.Repeat("x", 10_000), "10000"},
		{"the PHP way of empty", "/api/optional", "application/json", " [ ] ", `{}`},
		{"empty object", "/api/optional", "application/json", `{}`, `{}`},
		{"raw, any order", "/api/raw", "application/json", `{"b":1.0,"a":{}}`, `{"b":1.0,"a":{}}`},
		{"raw, any kind", "/api/raw", "text/html", `"x"`, `"x"`},
		{"no input, no body", "/api/none", "", ``, `true`},
		{"no input, the PHP way", "/api/none", "application/json", `[]`, `true`},
		{"no input, nonsense", "/api/none", "application/json", `{`, `true`},
		{"not escaped for HTML", "/api/order/1", "", `{"name":"<a>&"}`, `{"name":"<a>&"}`},
	} {
		a := s.send("POST", c.path, c.body, "X-Auth-Token", "api", "Content-Type", c.contentType)
		if a.StatusCode != 200 || strings.TrimSpace(a.body) != c.want {
			t.Errorf("%s: %d %.200s", c.name, a.StatusCode, a.body)
		}
		if got := a.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: content type %q", c.name, got)
		}
		if strings.Contains(a.body, "$schema") || a.Header.Get("Link") != "" {
			t.Errorf("%s: a schema link: %v %.200s", c.name, a.Header, a.body)
		}
	}
}

func TestAnswersAreJSONWhateverIsAccepted(t *testing.T) {
	s := bodies(t)
	for _, accept := range []string{"", "*/*", "text/html", "text/plain", "application/xml;q=0.9", "application/octet-stream", "nonsense;;"} {
		a := s.send("POST", "/api/none", "", "X-Auth-Token", "api", "Accept", accept)
		if a.StatusCode != 200 || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%q: %d %s", accept, a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
}

func TestABodyThatBreaksOffIsTheClientsFault(t *testing.T) {
	s := bodies(t)
	resp, _ := raw(t, s, "POST /api/raw HTTP/1.1\r\nHost: x\r\nX-Auth-Token: api\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	if resp.StatusCode != 400 {
		t.Errorf("status %d: %s", resp.StatusCode, s.log)
	}
}

func TestAChunkedBodyHasTheSameLimit(t *testing.T) {
	s := bodies(t)
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/raw", struct{ *strings.Reader }{strings.NewReader(strings.Repeat(" ", 5000))})
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = -1
	req.Header.Set("X-Auth-Token", "api")
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 413 {
		t.Errorf("status %d", resp.StatusCode)
	}
}
