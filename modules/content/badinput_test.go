package content_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// clean fails when an answer tells what only the log may know.
func clean(t *testing.T, a *answer) {
	t.Helper()
	text := string(rawjson.Without(nil, a.body, "instance")) // random letters
	for _, word := range []string{"SELECT ", "INSERT ", "UPDATE content", "content_revision", "goroutine ", ".go:", "sqlite", "SQLSTATE", "pgx", "panic", "constraint", "json.", "content."} {
		if strings.Contains(text, word) {
			t.Errorf("%s: the answer tells of %q: %s", a.call, word, a.body)
		}
	}
}

// refused checks that an answer is an error in the form of the API.
func refused(t *testing.T, a *answer, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: %d, want %d: %s", a.call, a.status, status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s: Content-Type %s: %s", a.call, got, a.body)
	}
	a.has("success", "false", "acknowledged", "true")
	for _, key := range []string{"type", "title", "detail", "status", "instance"} {
		if a.raw(key) == "" {
			t.Errorf("%s: no %s: %s", a.call, key, a.body)
		}
	}
	messages := []byte(a.raw("error"))
	it := rawjson.Iterate(messages)
	if rawjson.KindOf(messages) != rawjson.Array || !it.Next() || rawjson.KindOf(it.Value()) != rawjson.Text {
		t.Errorf("%s: error is no array of sentences: %s", a.call, a.body)
	}
	clean(t, a)
}

// bad is a request that must be refused.
type bad struct {
	name, method, path, body string
	as                       string // empty: the publisher; "-": nobody
	status                   int
	headers                  []string
}

// nothing runs the requests and checks after each that nothing was written,
// and that the answer is an error in the API's form which tells nothing of the
// inside.
func nothing(t *testing.T, s *server, list []bad) {
	t.Helper()
	rows := s.rows()
	for _, b := range list {
		as := b.as
		switch as {
		case "":
			as = "publisher"
		case "-":
			as = ""
		}
		a := s.call(as, b.method, b.path, b.body, b.headers...)
		a.call = b.name + ": " + a.call
		refused(t, a, b.status)
		if after := s.rows(); after != rows {
			t.Errorf("%s: rows %s, before %s", a.call, after, rows)
			rows = after
		}
		if b.status == 405 && a.header.Get("Allow") == "" {
			t.Errorf("%s: no Allow", a.call)
		}
	}
	if events := s.events(); len(events) > 0 {
		t.Errorf("%d events", len(events))
	}
}

// brokenJSON is what no endpoint may take as a document.
func brokenJSON() map[string]int {
	return map[string]int{
		`{"title":"A"`:                             400,
		`{"title":"A"}x`:                           400,
		`{"title":"A",}`:                           400,
		`{title:"A"}`:                              400,
		`"text"`:                                   400,
		`[1]`:                                      400,
		`null`:                                     400,
		`true`:                                     400,
		`12`:                                       400,
		`{"title":"A","title":"B"}`:                400,
		`{"title":"A","t\u0069tle":"B"}`:           400,
		`{"title":"A","data":{"x":1,"x":1}}`:       400,
		`{"title":"A","price":NaN}`:                400,
		`{"title":"A","price":Infinity}`:           400,
		`{"title":"A","price":1e999}`:              400,
		`{"title":"A","price":01}`:                 400,
		`{"title":"A","price":.5}`:                 400,
		`{"title":"A","price":+1}`:                 400,
		`{"title":"A","price":0x10}`:               400,
		`{"title":"\ud800"}`:                       400,
		`{"title":"\udc00\ud800"}`:                 400,
		`{"title":"\u0000"}`:                       400,
		"{\"title\":\"a\x00b\"}":                   400,
		"{\"title\":\"a\xff\"}":                    400,
		"{\"title\":\"a\xed\xa0\x80\"}":            400,
		"{\"title\":\"a\nb\"}":                     400,
		`{"title":"\x"}`:                           400,
		`{"title":"A"}{"title":"A"}`:               400,
		"\xef\xbb\xbf{\"title\":\"A\"}":            400,
		`{"title":"A","price":` + nines(200) + `}`: 400,
		`{"data":` + nested(64) + `}`:              413,
		`{"data":` + nested(100000) + `}`:          413,
	}
}

func nines(n int) string { return strings.Repeat("9", n) }

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// writes are the paths that take a document; d exists and e does not.
func writes() []string {
	return []string{"index", "index/d", "index/e", "update/d", "create", "create/e", "draft", "draft/e", "replace/d", "merge/d"}
}

func TestBadDocuments(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
		s.events()
		var list []bad
		for _, path := range writes() {
			for body, status := range brokenJSON() {
				list = append(list, bad{name: path + " " + body[:min(40, len(body))], method: "POST", path: "/api/data/page/" + path, body: body, status: status})
			}
		}
		nothing(t, s, list)
	})
}

func TestBadPaths(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.post("/api/data/page/index/d", `{"title":"A"}`).is(200).id()
		s.events()
		var list []bad
		add := func(name, method, path string, status int) {
			if strings.Contains(path, "%00") || strings.Contains(path, "%ff") {
				status = 400 // such a path is refused before anybody looks at it
			}
			list = append(list, bad{name: name, method: method, path: path, body: `{"title":"B"}`, status: status})
		}
		// ouuids
		for _, ouuid := range []string{"%00", "a%00b", "%ff", "a%2fb", "%5c", "a%3fb", "a%23b", "%0a", "%7f", "%c2%85", "%20a", "a%20", "%09", "%e2%80%83x", strings.Repeat("x", 256), strings.Repeat("%c3%a9", 128)} {
			for _, path := range []string{"index/", "update/", "create/", "draft/", "replace/", "merge/", "delete/"} {
				add("ouuid", "POST", "/api/data/page/"+path+ouuid, 400)
			}
			add("ouuid", "POST", "/api/data/page/publish/"+ouuid+"/live", 400)
			add("ouuid", "POST", "/api/data/page/unpublish/"+ouuid+"/live", 400)
			add("ouuid", "POST", "/api/data/page/restore/"+ouuid+"/"+id, 400)
			add("ouuid", "GET", "/api/data/page/"+ouuid, 400)
			add("ouuid", "GET", "/api/data/page/get/"+ouuid, 400)
			add("ouuid", "GET", "/api/data/page/revisions/"+ouuid, 400)
			add("ouuid", "GET", "/api/data/page/revisions/"+ouuid+"/"+id, 400)
		}
		// revision ids
		for _, rev := range []string{"x", "1.5", "1e3", "0x1", "9223372036854775808", "-9223372036854775809", nines(100), "%00", "1%20", "+", "true"} {
			for _, path := range []string{"finalize/", "discard/", "restore/d/", "publish/d/live/"} {
				add("revision", "POST", "/api/data/page/"+path+rev, 400)
			}
			add("revision", "GET", "/api/data/page/revisions/d/"+rev, 400)
		}
		for _, rev := range []string{"9223372036854775807", "-1", "-9223372036854775808"} {
			for _, path := range []string{"finalize/", "discard/", "restore/d/"} {
				add("revision", "POST", "/api/data/page/"+path+rev, 404)
			}
			add("revision", "GET", "/api/data/page/revisions/d/"+rev, 404)
		}
		add("revision", "POST", "/api/data/page/publish/d/live/0", 400)
		add("revision", "POST", "/api/data/page/publish/d/live/-1", 400)
		add("revision", "POST", "/api/data/page/publish/d/live/9223372036854775807", 404)
		// content types and environments
		for _, name := range []string{"none", "PAGE", "%00", "%ff", "page%20", strings.Repeat("x", 1000), "%27%3b--"} {
			for _, path := range append(writes(), "finalize/"+id, "discard/"+id, "delete/d", "restore/d/"+id, "publish/d/live", "publish/d/live/"+id, "unpublish/d/live", "_bulk") {
				add("type", "POST", "/api/data/"+name+"/"+path, 404)
			}
			for _, path := range []string{"d", "get/d", "revisions/d", "revisions/d/" + id} {
				add("type", "GET", "/api/data/"+name+"/"+path, 404)
			}
			add("type", "GET", "/api/meta/content-type/"+name, 404)
			add("type", "GET", "/api/meta/"+name, 404)
			add("type", "GET", "/api/content-types/"+name+"/schema", 404)
			add("environment", "POST", "/api/data/page/publish/d/"+name, 404)
			add("environment", "POST", "/api/data/page/publish/d/"+name+"/"+id, 404)
			add("environment", "POST", "/api/data/page/unpublish/d/"+name, 404)
		}
		nothing(t, s, list)
		s.get("/api/data/page/d").is(200).has("id", id)
	})
}

func TestBadCallers(t *testing.T) {
	s := serve(t, nil)
	id := s.post("/api/data/page/index/d", `{"title":"A"}`).is(200).id()
	s.events()
	posts := append(writes(), "finalize/"+id, "discard/"+id, "delete/d", "restore/d/"+id, "publish/d/live", "publish/d/live/"+id, "unpublish/d/live", "_bulk")
	var list []bad
	add := func(method, path string, forbidden bool) {
		list = append(list,
			bad{name: "no token", as: "-", method: method, path: path, body: `{"title":"B"}`, status: 401},
			bad{name: "unknown token", as: "stranger", method: method, path: path, body: `{"title":"B"}`, status: 401},
			bad{name: "huge token", as: strings.Repeat("x", 5000), method: method, path: path, body: `{"title":"B"}`, status: 401},
			bad{name: "without ROLE_API", as: "noapi", method: method, path: path, body: `{"title":"B"}`, status: 403})
		if forbidden {
			list = append(list, bad{name: "without the right", as: "user", method: method, path: path, body: `{"title":"B"}`, status: 403})
		}
	}
	for _, path := range posts {
		add("POST", "/api/data/page/"+path, path != "_bulk")
	}
	for _, path := range []string{"/api/data/page/d", "/api/data/page/get/d", "/api/data/page/revisions/d", "/api/data/page/revisions/d/" + id, "/api/content-types/page/schema"} {
		add("GET", path, true)
	}
	for _, path := range []string{"/api/meta/page", "/api/meta/content-type/page", "/api/meta/environments", "/api/meta/drafts", "/api/admin/versions", "/api/admin/content-types"} {
		add("GET", path, false)
	}
	for _, path := range []string{"/api/admin/config-types", "/api/admin/environment", "/api/admin/environment/live"} {
		add("GET", path, true)
	}
	add("POST", "/api/admin/environment", true)
	add("POST", "/api/admin/environment/live", true)
	add("DELETE", "/api/admin/environment/live", true)
	add("POST", "/api/meta/alias-attach-environment", true)
	add("POST", "/api/meta/info/documents", false)
	nothing(t, s, list)
}

func TestWrongMethods(t *testing.T) {
	s := serve(t, nil)
	id := s.post("/api/data/page/index/d", `{"title":"A"}`).is(200).id()
	s.events()
	var list []bad
	add := func(path string, methods ...string) {
		for _, method := range methods {
			list = append(list, bad{name: "method", method: method, path: path, status: 405})
		}
	}
	for _, path := range []string{"index/d", "update/d", "create/d", "draft/d", "replace/d", "merge/d", "finalize/" + id, "discard/" + id, "delete/d", "restore/d/" + id, "publish/d/live", "publish/d/live/" + id, "unpublish/d/live"} {
		add("/api/data/page/"+path, "GET", "PUT", "PATCH", "DELETE")
	}
	add("/api/data/page/index", "PUT", "PATCH", "DELETE")
	for _, path := range []string{"d", "get/d", "revisions/d", "revisions/d/" + id} {
		add("/api/data/page/"+path, "POST", "PUT", "PATCH", "DELETE")
	}
	for _, path := range []string{"/api/meta/page", "/api/meta/content-type/page", "/api/meta/environments", "/api/meta/drafts", "/api/content-types/page/schema"} {
		add(path, "POST", "PUT", "DELETE")
	}
	add("/api/meta/info/documents", "GET", "PUT", "DELETE")
	add("/api/admin/environment/live", "PUT", "PATCH")
	add("/api/admin/environment", "PUT", "PATCH", "DELETE")
	nothing(t, s, list)
}

func TestBadEntities(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", pageType)
		s.events()
		var list []bad
		add := func(name, path, body string, status int) {
			list = append(list, bad{name: name, as: "admin", method: "POST", path: "/api/admin/" + path, body: body, status: status})
		}
		for _, kind := range []string{"content-type", "environment", "managed-alias", "analyzer", "form", "schedule", "i18n"} {
			for body, status := range brokenJSON() {
				if strings.HasPrefix(body, `{"data":[[`) && status == 413 {
					continue // nests deeper than a document may, but not than a configuration
				}
				add("broken JSON "+body[:min(40, len(body))], kind, body, status)
			}
			add("too deep", kind, `{"properties":`+nested(400)+`}`, 413)
			for _, body := range []string{``, `{}`, `[]`, `{"properties":[]}`, `{"properties":{}}`, `{"properties":{"name":5,"identifier":5}}`, `{"properties":{"name":"","identifier":""}}`,
				`{"properties":{"name":"a/b","identifier":"a/b"}}`, `{"properties":{"name":"` + strings.Repeat("x", 256) + `","identifier":"` + strings.Repeat("x", 256) + `"}}`,
				`{"class":"EMS\\Other","properties":{"name":"x","identifier":"x","fieldType":` + rootField + `}}`} {
				add("properties "+body[:min(40, len(body))], kind, body, 400)
			}
			add("path and body", kind+"/other", `{"properties":{"name":"x","identifier":"x","fieldType":`+rootField+`}}`, 400)
			list = append(list,
				bad{name: "NUL", as: "admin", method: "GET", path: "/api/admin/" + kind + "/%00", status: 400},
				bad{name: "no UTF-8", as: "admin", method: "GET", path: "/api/admin/" + kind + "/%ff", status: 400},
				bad{name: "NUL", as: "admin", method: "DELETE", path: "/api/admin/" + kind + "/a%00", status: 400},
				bad{name: "unknown", as: "admin", method: "DELETE", path: "/api/admin/" + kind + "/none", status: 404})
		}
		for _, name := range []string{"Live", "1x", "a b", "é", "a.b", strings.Repeat("x", 101)} {
			add("environment "+name, "environment", `{"properties":{"name":"`+name+`"}}`, 400)
			add("content type "+name, "content-type", `{"properties":{"name":"`+name+`","fieldType":`+rootField+`}}`, 400)
		}
		for _, name := range []string{"a b", "é", "*", "1"} {
			add("alias "+name, "managed-alias", `{"properties":{"name":"`+name+`"}}`, 400)
		}
		add("no fields", "content-type", `{"properties":{"name":"x"}}`, 400)
		add("fields of another kind", "content-type", `{"properties":{"name":"x","fieldType":"text"}}`, 400)
		for _, body := range []string{``, `{}`, `[]`, `{"environment":1,"alias":"x"}`, `{"environment":"live","alias":""}`, `{"environment":"live","environment":"live","alias":"x"}`, `nonsense`} {
			list = append(list, bad{name: "attach " + body, as: "admin", method: "POST", path: "/api/meta/alias-attach-environment", body: body, status: 400})
		}
		nothing(t, s, list)
	})
}
