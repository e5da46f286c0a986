package content_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestRights: every operation asks for its right on the content type, whoever
// else may do what.
func TestRights(t *testing.T) {
	// what each operation does to the document d, its draft D or its revision R
	operations := []struct{ right, method, path, body string }{
		{"view", "GET", "d", ""},
		{"view", "GET", "get/d", ""},
		{"view", "HEAD", "d", ""},
		{"view", "GET", "revisions/d", ""},
		{"view", "GET", "revisions/d/R", ""},
		{"view", "GET", "/api/content-types/page/schema", ""},
		{"create", "POST", "index", `{"title":"A"}`},
		{"create", "POST", "index/new", `{"title":"A"}`},
		{"create", "POST", "create", `{"title":"A"}`},
		{"create", "POST", "create/new", `{"title":"A"}`},
		{"create", "POST", "draft", `{"title":"A"}`},
		{"create", "POST", "draft/new", `{"title":"A"}`},
		{"edit", "POST", "index/d", `{"title":"B"}`},
		{"edit", "POST", "update/d", `{"title":"B"}`},
		{"edit", "POST", "replace/d", `{"title":"B"}`},
		{"edit", "POST", "merge/d", `{"title":"B"}`},
		{"edit", "POST", "restore/d/R", ""},
		{"edit", "POST", "finalize/D", ""},
		{"edit", "POST", "discard/D", ""},
		{"publish", "POST", "publish/d/live", ""},
		{"publish", "POST", "publish/d/live/R", ""},
		{"publish", "POST", "unpublish/d/live", ""},
		{"delete", "POST", "delete/d", ""},
	}
	rights := []string{"view", "create", "edit", "publish", "delete"}
	s := serve(t, nil)
	for _, op := range operations {
		for _, role := range []string{"ROLE_WEBMASTER", "not-defined"} {
			// Everybody may do everything but this.
			pairs := []string{}
			for _, right := range rights {
				needed := "ROLE_USER"
				if right == op.right {
					needed = role
				}
				pairs = append(pairs, `"`+right+`":"`+needed+`"`)
			}
			s.put("content-type", strings.Replace(export(anyPage), `"roles":[]`, `"roles":{`+strings.Join(pairs, ",")+`}`, 1))
			allowed := map[bool]string{true: "webmaster", false: "super"}[role != "not-defined"]
			path := s.prepare(op.path)
			rows := s.rows()
			refusals := []string{"user", "author", "publisher"}
			if role == "not-defined" {
				refusals = append(refusals, "webmaster", "admin")
			}
			for _, as := range refusals {
				if a := s.call(as, op.method, path, op.body); a.status != 403 {
					t.Errorf("%s without the right %s: %d %s", a.call, op.right, a.status, a.body)
				}
			}
			if a := s.call("noapi", op.method, path, op.body); a.status != 403 {
				t.Errorf("%s without ROLE_API: %d %s", a.call, a.status, a.body)
			}
			for _, as := range []string{"", "stranger"} {
				if a := s.call(as, op.method, path, op.body); a.status != 401 {
					t.Errorf("%s: %d %s", a.call, a.status, a.body)
				}
			}
			if after := s.rows(); after != rows {
				t.Errorf("%s: rows %s, before %s", op.path, after, rows)
			}
			if a := s.call(allowed, op.method, path, op.body); a.status != 200 {
				t.Errorf("%s with the right %s: %d %s", a.call, op.right, a.status, a.body)
			}
		}
	}
}

const anyPage = `{"name":"page","environment":"preview","roles":{},"fields":[{"name":"title","type":"text"}]}`

// prepare makes the document d afresh and puts the ids into a path.
func (s *server) prepare(path string) string {
	s.Helper()
	super := func(path, body string) *answer {
		return s.call("super", http.MethodPost, "/api/data/page/"+path, body)
	}
	s.clock.Advance(1e12) // whatever is locked is free
	super("delete/d", "")
	super("delete/new", "")
	id := super("index/d", `{"title":"A"}`).is(200).id()
	if strings.HasSuffix(path, "/D") {
		draft := super("merge/d", `{"title":"B"}`).is(200).id()
		s.clock.Advance(1e12)
		path = strings.Replace(path, "/D", "/"+draft, 1)
	}
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/api/data/page/" + strings.Replace(path, "/R", "/"+id, 1)
}

// TestEnvironmentRole: an environment can ask for a role and for circles.
func TestEnvironmentRole(t *testing.T) {
	s := serve(t, nil)
	s.put("environment", entity("environment", "Environment", `"name":"closed","rolePublish":"ROLE_WEBMASTER"`))
	s.put("environment", entity("environment", "Environment", `"name":"circle","circles":["circle:red"]`))
	s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
	for _, test := range []struct {
		as, path string
		status   int
	}{
		{"publisher", "publish/d/closed", 403}, {"webmaster", "publish/d/closed", 200}, {"publisher", "unpublish/d/closed", 403}, {"webmaster", "unpublish/d/closed", 200},
		{"publisher", "publish/d/circle", 403}, {"red", "publish/d/circle", 200}, {"admin", "publish/d/circle", 200}, {"publisher", "unpublish/d/circle", 403},
	} {
		s.call(test.as, http.MethodPost, "/api/data/page/"+test.path, nil).is(test.status)
	}
}
