package search_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web/webtest"
	"github.com/quoin-cms/quoin/modules"
	"github.com/quoin-cms/quoin/modules/search"
)

const password = "correct horse battery staple"

// server is the whole program in this process, behind real HTTP.
type server struct {
	testing.TB
	app    *app.App
	index  *search.Indexer // nil where the module is switched off
	url    string
	client *http.Client
	tokens map[string]string
	vars   []string
	stop   func()
}

// engines runs a test on SQLite and on PostgreSQL, each time with an empty
// database. vars are what start needs to reach it.
func engines(t *testing.T, test func(t *testing.T, vars ...string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "QUOIN_SERVER__DATA="+t.TempDir()) })
	t.Run("postgres", func(t *testing.T) {
		test(t, "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()), "QUOIN_SERVER__DATA="+t.TempDir())
	})
}

// assemble makes a server that has not started.
func assemble(t testing.TB, vars ...string) *server {
	t.Helper()
	s := &server{TB: t, tokens: map[string]string{}, vars: vars}
	probe := module.Spec{Name: "probe", Wiring: always(module.Checks(func(r port.Refresher) []telemetry.Check {
		s.index = r.(*search.Indexer)
		return nil
	}))}
	all := modules.All()
	if !contains(vars, "QUOIN_MODULES__SEARCH__ENABLED=false") {
		all = append(all, probe)
	}
	c, err := app.Load(all, conf.Options{Env: append([]string{
		"QUOIN_ADMIN_PASSWORD=" + password, "QUOIN_USER__HASHING__MEMORY=8KiB",
	}, vars...)})
	s.must(err)
	s.app, err = app.Open(t.Context(), c, app.Options{Log: telemetry.Discard(), Version: "test"})
	s.must(err)
	s.must(s.app.Migrate(t.Context()))
	s.must(s.app.Assemble("test"))
	h := httptest.NewServer(webtest.Checked(t, s.app.Router))
	s.url = h.URL
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 600}}
	stopped := false
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		h.Close()
		s.must(s.app.Stop(context.WithoutCancel(t.Context())))
		s.must(s.app.Close())
	}
	t.Cleanup(s.stop)
	return s
}

// always gives what a Spec has for Wiring.
func always[T any](v T) func() T { return func() T { return v } }

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// start runs a server; without vars in a folder of its own. Its index is
// filled when start returns.
func start(t testing.TB, vars ...string) *server {
	t.Helper()
	if len(vars) == 0 {
		vars = []string{"QUOIN_SERVER__DATA=" + t.TempDir()}
	}
	s := assemble(t, vars...)
	s.must(s.app.Start(t.Context()))
	if s.index != nil {
		s.must(s.index.RefreshAll(t.Context()))
	}
	return s
}

// again stops the server and starts another one on the same data.
func (s *server) again() *server {
	s.Helper()
	s.stop()
	return start(s.TB, s.vars...)
}

func (s *server) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// answer is what came back.
type answer struct {
	t      testing.TB
	call   string
	status int
	header http.Header
	body   []byte
}

// do sends a request as a user, "" for nobody. It may be called by any
// goroutine once the user has signed in.
func (s *server) do(as, method, path, body string) (*answer, error) {
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if as != "" {
		req.Header.Set("X-Auth-Token", s.tokens[as])
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return &answer{s.TB, method + " " + path + " " + body, res.StatusCode, res.Header, bytes.TrimSpace(text)}, err
}

func (s *server) call(as, method, path, body string) *answer {
	s.Helper()
	if as != "" && s.tokens[as] == "" {
		s.login(as)
	}
	a, err := s.do(as, method, path, body)
	s.must(err)
	return a
}

func (s *server) login(as string) {
	s.Helper()
	s.tokens[as] = s.call("", http.MethodPost, "/auth-token", `{"username":"`+as+`","password":"`+password+`"}`).is(200).text("authToken")
}

// post is call with POST as the administrator, who may do everything.
func (s *server) post(path, body string) *answer {
	s.Helper()
	return s.call("admin", http.MethodPost, path, body)
}

// user makes a user with the roles.
func (s *server) user(name string, roles ...string) {
	s.Helper()
	list, err := json.Marshal(roles)
	s.must(err)
	s.post("/api/admin/user/"+name, `{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"properties":{"username":"`+name+`","email":"`+name+
		`@example.org","enabled":true,"plainPassword":"`+password+`","roles":`+string(list)+`},"replaced":[]}`).is(200)
}

// contentType stores a content type. Fields are "name:Type" or
// "name:Type:{mapping options}"; view is the role that may see it.
func (s *server) contentType(name, view string, fields ...string) {
	s.Helper()
	const field = `{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\%sFieldType","name":"%s","options":{"mappingOptions":%s},"children":[%s]},"replaced":[]}`
	var children []string
	for _, f := range fields {
		parts := append(strings.SplitN(f, ":", 3), "{}")
		children = append(children, fmt.Sprintf(field, parts[1], parts[0], parts[2], ""))
	}
	root := fmt.Sprintf(field, "Container", "source", "{}", strings.Join(children, ","))
	s.post("/api/admin/content-type/"+name, `{"class":"EMS\\CoreBundle\\Entity\\ContentType","arguments":[],"properties":{"name":"`+name+
		`","singularName":"`+name+`","pluralName":"`+name+`","environment":"preview","roles":{"view":"`+view+`"},"fieldType":`+root+`},"replaced":[]}`).is(200)
}

// index stores a document and waits until it is searchable.
func (s *server) store(typeName, ouuid, data string) {
	s.Helper()
	s.post("/api/data/"+typeName+"/index/"+ouuid+"?refresh=true", data).is(200).has("success", "true", "warning", "")
}

// search posts a search object as the API wants it: JSON in a string.
func (s *server) search(as, object string) *answer {
	s.Helper()
	return s.call(as, http.MethodPost, "/api/search/search", wrap(object))
}

func (s *server) count(as, object string) string {
	s.Helper()
	return s.call(as, http.MethodPost, "/api/search/count", wrap(object)).is(200).raw("count")
}

func wrap(object string) string {
	return string(rawjson.AppendString([]byte(`{"search":`), object)) + "}"
}

// is checks the status.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d, want %d: %s", a.call, a.status, status, a.body)
	}
	return a
}

// raw gives a member as JSON, "" when it is not there. Dots lead inside, also
// into arrays by number.
func (a *answer) raw(path string) string {
	v := a.body
	for key := range strings.SplitSeq(path, ".") {
		found := false
		for i, it := 0, rawjson.Iterate(v); it.Next(); i++ {
			if string(it.Key()) == key || rawjson.KindOf(v) == rawjson.Array && fmt.Sprint(i) == key {
				v, found = it.Value(), true
				break
			}
		}
		if !found {
			return ""
		}
	}
	return string(v)
}

func (a *answer) text(path string) string {
	a.t.Helper()
	s, ok := rawjson.String([]byte(a.raw(path)))
	if !ok {
		a.t.Fatalf("%s: %s is %q, not a string: %s", a.call, path, a.raw(path), a.body)
	}
	return s
}

// has checks members: path, JSON, path, JSON …
func (a *answer) has(pairs ...string) *answer {
	a.t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		if got := a.raw(pairs[i]); got != pairs[i+1] {
			a.t.Errorf("%s: %s is %s, want %s\n%s", a.call, pairs[i], got, pairs[i+1], a.body)
		}
	}
	return a
}

// ids gives the ids of the hits, in order, with commas.
func (a *answer) ids() string {
	a.t.Helper()
	a.is(200)
	var ids []string
	for it := rawjson.Iterate([]byte(a.raw("hits.hits"))); it.Next(); {
		id, _ := rawjson.Get(it.Value(), "_id")
		s, _ := rawjson.String(id)
		ids = append(ids, s)
	}
	return strings.Join(ids, ",")
}
