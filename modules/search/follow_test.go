package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/testkit"
)

const page = `{"contentTypes":["page"],"sort":"_id","size":1000}`

// TestRefresh: what was written with refresh=true is found by the next search,
// whatever was written.
func TestRefresh(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := start(t, vars...)
		s.contentType("page", "ROLE_USER", "title:TextString")
		finds := func(alias, title, want string) {
			t.Helper()
			if got := s.search("admin", `{"indices":["quoin_`+alias+`"],"query":{"match":{"title":"`+title+`"}},"sort":"_id"}`).ids(); got != want {
				t.Errorf("%q finds %q in %s, want %q", title, got, alias, want)
			}
		}
		post := func(path, body string) *answer {
			t.Helper()
			return s.post("/api/data/page/"+path, body).is(200).has("success", "true", "warning", "")
		}
		post("index/a?refresh=true", `{"title":"apple"}`)
		finds("preview", "apple", "a")
		post("update/a?refresh=true", `{"title":"pear"}`)
		finds("preview", "apple", "")
		finds("preview", "pear", "a")
		post("publish/a/live?refresh=true", "")
		finds("live", "pear", "a")
		post("index/a?refresh=true", `{"title":"plum"}`)
		finds("preview", "plum", "a")
		finds("live", "pear", "a")
		post("unpublish/a/live?refresh=true", "")
		finds("live", "pear", "")
		draft := post("create/b", `{"title":"grape"}`).raw("revision_id")
		finds("preview", "grape", "")
		post("finalize/"+draft+"?refresh=true", "[]")
		finds("preview", "grape", "b")
		first := s.call("admin", http.MethodGet, "/api/data/page/revisions/a", "").is(200).raw("2.id")
		post("restore/a/"+first+"?refresh=true", "")
		finds("preview", "apple", "a")
		post("delete/a?refresh=true", "[]")
		finds("preview", "apple", "")
		bulk := s.post("/api/data/page/_bulk?refresh=true", `{"ouuid":"c","data":{"title":"cherry"}}`+"\n"+`{"op":"delete","ouuid":"b"}`+"\n").is(200)
		if strings.Count(string(bulk.body), `"success":true`) != 2 {
			t.Fatalf("bulk: %s", bulk.body)
		}
		finds("preview", "cherry", "c")
		finds("preview", "grape", "")
		post("index/d", `{"title":"date"}`)
		s.post("/api/search/refresh", `{"index":null}`).is(200)
		finds("preview", "date", "d")
	})
}

// TestRestart: a server that starts on existing data answers searches as the
// one before, and says 503 until it can.
func TestRestart(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		const everything = `{"sort":["_id","_index"],"aggs":{"c":{"terms":{"field":"category"}}}}`
		before := s.search("admin", everything).is(200)
		s.stop()

		s = assemble(t, vars...) // not started: the state of the first moments
		a := s.search("admin", everything).is(503)
		if a.header.Get("Retry-After") != "1" || a.raw("code") != `"index_not_ready"` {
			t.Errorf("%v %s", a.header, a.body)
		}
		for path, body := range map[string]string{
			"count": wrap(`{}`), "document": `{"index":"quoin_live","ouuid":"one"}`, "has-index": `{"index":"x"}`, "indices-for-content-type": `{"aliases":[]}`,
		} {
			if a := s.post("/api/search/"+path, body).is(503); a.header.Get("Retry-After") != "1" {
				t.Errorf("%s: no Retry-After", path)
			}
		}
		s.search("admin", `{"size":-1}`).is(400)
		s.call("admin", http.MethodGet, "/api/search/version", "").is(200)
		s.call("admin", http.MethodGet, "/api/search/health-status", "").is(200).has("status", `"red"`)
		s.call("admin", http.MethodGet, "/api/data/page/one", "").is(200)
		s.post("/api/data/page/index/four", `{"title":"Fourth"}`).is(200)
		s.must(s.app.Start(t.Context()))
		s.must(s.index.RefreshAll(t.Context()))
		after := s.search("admin", everything).is(200)
		if got := after.ids(); got != "four,one,one,secret,three,two" {
			t.Errorf("found after the start: %s", got)
		}
		after.has("aggregations", before.raw("aggregations"))
		if stats := s.index.Stats(); stats.Builds != 0 || stats.Scanned != 0 || stats.Refused != 0 {
			t.Errorf("a start finds the indexes that were saved: %+v", stats)
		}
	})
}

// TestRefreshesShareBatches: many writers who wait for the index at the same
// time wait for few batches.
func TestRefreshesShareBatches(t *testing.T) {
	s := start(t)
	s.contentType("page", "ROLE_USER", "title:TextString")
	s.must(s.index.RefreshAll(t.Context()))
	const writers = 512
	before := s.index.Stats()
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range writers {
		wg.Go(func() {
			<-begin
			a, err := s.do("admin", http.MethodPost, fmt.Sprintf("/api/data/page/index/d%03d?refresh=true", i), `{"title":"x"}`)
			if err != nil || a.status != 200 || a.raw("warning") != "" {
				t.Errorf("%v %v", err, a)
				return
			}
			if a, err = s.do("admin", http.MethodPost, "/api/search/document", fmt.Sprintf(`{"index":"quoin_preview","ouuid":"d%03d"}`, i)); err != nil || a.status != 200 {
				t.Errorf("written and not found: %v %v", err, a)
			}
		})
	}
	close(begin)
	wg.Wait()
	after := s.index.Stats()
	batches := after.Batches - before.Batches
	t.Logf("%d documents in %d batches", after.Documents-before.Documents, batches)
	if after.Documents-before.Documents < writers || batches > writers/4 {
		t.Errorf("%d writers needed %d batches", writers, batches)
	}
}

// TestRebuild: a content type that changes is indexed in the new way, for old
// documents too, and a burst of changes costs few builds.
func TestRebuild(t *testing.T) {
	s := start(t)
	s.contentType("page", "ROLE_USER", "title:TextString", "code:TextString")
	s.store("page", "a", `{"title":"Rouge","code":"AB 12"}`)
	s.store("page", "b", `{"title":"Les chevaux","code":"AB 13"}`)
	const byCode, byStem = `{"query":{"term":{"code":"AB 12"}}}`, `{"query":{"match":{"title":"cheval"}}}`
	if got := s.search("admin", byCode).ids() + s.search("admin", byStem).ids(); got != "" {
		t.Fatalf("an analyzed code is found whole: %s", got)
	}
	s.post("/api/search/refresh", "").is(200)
	before := s.index.Stats()
	for i := range 20 { // as an import does
		s.post(fmt.Sprintf("/api/admin/filter/stemmer_%d", i), fmt.Sprintf(`{"class":"EMS\\CoreBundle\\Entity\\Filter","arguments":[],"properties":{"name":"stemmer_%d","label":"x","options":{"type":"stemmer","language":"light_french"}},"replaced":[]}`, i)).is(200)
	}
	s.post("/api/admin/analyzer/fr", `{"class":"EMS\\CoreBundle\\Entity\\Analyzer","arguments":[],"properties":{"name":"fr","label":"x","options":{"type":"custom","tokenizer":"standard","filter":["lowercase","stemmer_7"]}},"replaced":[]}`).is(200)
	s.contentType("page", "ROLE_USER", `title:TextString:{"analyzer":"fr"}`, `code:TextString:{"analyzer":"keyword"}`)
	s.store("page", "c", `{"title":"Un cheval","code":"AB 12"}`)
	if got := s.search("admin", byCode).ids(); !strings.Contains(got, "c") {
		t.Errorf("a document written after the change is indexed in the old way: %q", got)
	}
	s.post("/api/search/refresh", "").is(200)
	if got := s.search("admin", `{"query":{"term":{"code":"AB 12"}},"sort":"_id"}`).ids(); got != "a,c" {
		t.Errorf("found by code after the refresh: %s", got)
	}
	if got := s.search("admin", `{"query":{"match":{"title":"cheval"}},"sort":"_id"}`).ids(); got != "b,c" {
		t.Errorf("found by stem after the refresh: %s", got)
	}
	if n := s.index.Stats().Builds - before.Builds; n < 1 || n > 5 {
		t.Errorf("%d builds for one import", n)
	}
	// What changes nothing for the index builds nothing.
	before = s.index.Stats()
	s.contentType("empty", "ROLE_USER", "title:TextString")
	s.post("/api/search/refresh", "").is(200)
	if n := s.index.Stats().Builds - before.Builds; n != 0 {
		t.Errorf("%d builds for a content type without documents", n)
	}
}

// TestEnvironments come and go.
func TestEnvironments(t *testing.T) {
	s := site(t)
	s.post("/api/admin/environment/staging", `{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"properties":{"name":"staging","label":"S","managed":true,"orderKey":3},"replaced":[]}`).is(200)
	if got := s.search("admin", `{"indices":["quoin_staging"]}`).ids(); got != "" {
		t.Errorf("a new environment holds %s", got)
	}
	s.post("/api/data/page/publish/two/staging?refresh=true", "").is(200)
	if got := s.search("admin", `{"indices":["quoin_staging"]}`).ids(); got != "two" {
		t.Errorf("staging holds %s", got)
	}
	s.post("/api/admin/managed-alias/both", `{"class":"EMS\\CoreBundle\\Entity\\ManagedAlias","arguments":[],"properties":{"name":"both","label":"Both","environments":["staging"]},"replaced":[]}`).is(200)
	s.post("/api/search/refresh", "").is(200)
	if got := s.search("admin", `{"indices":["quoin_both"]}`).ids(); got != "two" {
		t.Errorf("the alias holds %s", got)
	}
	if got := s.search("admin", `{"query":{"term":{"_index":"quoin_both"}}}`).ids(); got != "two" {
		t.Errorf("a clause about the alias finds %s", got)
	}
	s.call("admin", http.MethodDelete, "/api/admin/environment/staging", "").is(200)
	s.post("/api/search/refresh", "").is(200)
	s.search("admin", `{"indices":["quoin_staging"]}`).is(404)
	if got := s.search("admin", `{"indices":["quoin_both"]}`).ids(); got != "" {
		t.Errorf("the alias holds %s", got)
	}
	if got := s.again().search("admin", page).ids(); got != "one,one,three,two" {
		t.Errorf("after a restart: %s", got)
	}
}

// renamed gives the environment live another index once it is told to.
type renamed struct {
	port.ContentTypes
	index atomic.Pointer[string]
}

// Environments implements port.ContentTypes.
func (r *renamed) Environments(ctx context.Context) ([]port.Environment, error) {
	list, err := r.ContentTypes.Environments(ctx)
	for i := range list {
		if name := r.index.Load(); name != nil && list[i].Name == "live" {
			list[i].Index = *name
		}
	}
	return list, err
}

// TestMovedIndex: an environment whose index gets another name is searched in
// the old one until the new one holds every document.
func TestMovedIndex(t *testing.T) {
	s := site(t)
	s.stop()
	s = assemble(t, s.vars...)
	r := &renamed{}
	s.index.ThroughTypes(func(c port.ContentTypes) port.ContentTypes { r.ContentTypes = c; return r })
	s.must(s.app.Start(t.Context()))
	s.must(s.index.RefreshAll(t.Context()))
	old := s.indexOf("quoin_live")
	for _, name := range []string{"quoin_live_next", "quoin_live_third"} {
		r.index.Store(&name)
		s.index.Reconfigured()
		s.must(s.index.RefreshAll(t.Context()))
		if got := s.indexOf("quoin_live"); got != name {
			t.Errorf("the index is %s, want %s", got, name)
		}
		if got := s.search("admin", `{"indices":["quoin_live"]}`).ids(); got != "one" {
			t.Errorf("%s holds %s", name, got)
		}
		s.search("admin", `{"indices":["`+old+`"]}`).is(404)
		old = name
	}
	s.must(s.index.Rebuild(t.Context()))
	if got := s.search("admin", `{"indices":["quoin_both"],"sort":"_id"}`).ids(); got != "one,one,secret,three,two" {
		t.Errorf("all hold %s", got)
	}
}

// TestBrokenConfiguration: what the engine cannot honour stops nothing else.
func TestBrokenConfiguration(t *testing.T) {
	s := start(t)
	s.post("/api/admin/analyzer/broken", `{"class":"EMS\\CoreBundle\\Entity\\Analyzer","arguments":[],"properties":{"name":"broken","label":"x","options":{"type":"custom","tokenizer":"unheard_of"}},"replaced":[]}`).is(200)
	s.contentType("page", "ROLE_USER", `title:TextString:{"analyzer":"broken"}`, `other:TextString:{"analyzer":"missing"}`, `when:TextString:{"type":"date","format":"no format"}`)
	s.store("page", "a", `{"title":"Apples","other":"Pears","when":"2026-01-01"}`)
	s.post("/api/search/refresh", "").is(200)
	if got := s.search("admin", `{"query":{"bool":{"must":[{"match":{"title":"apples"}},{"match":{"other":"pears"}}]}}}`).ids(); got != "a" {
		t.Errorf("found: %q", got)
	}
}

// faulty fails now and then.
type faulty struct {
	port.Documents
	states, scans atomic.Int32 // how often more
}

var errFault = errors.New("a fault of the test")

// States implements port.Documents.
func (f *faulty) States(ctx context.Context, keys []port.Key, fn func(port.Published) error) error {
	if f.states.Add(-1) >= 0 {
		return errFault
	}
	return f.Documents.States(ctx, keys, fn)
}

// Scan implements port.Documents; it fails in the middle.
func (f *faulty) Scan(ctx context.Context, fn func(port.Published) error) error {
	fail := f.scans.Add(-1) >= 0
	n := 0
	err := f.Documents.Scan(ctx, func(p port.Published) error {
		if n++; fail && n > 2 {
			return errFault
		}
		return fn(p)
	})
	return err
}

// TestFaults: indexing that fails is tried again, and nothing is lost.
func TestFaults(t *testing.T) {
	s := site(t)
	s.stop()
	s = assemble(t, s.vars...)
	f := &faulty{}
	f.scans.Store(2)
	s.index.Through(func(d port.Documents) port.Documents { f.Documents = d; return f })
	s.must(s.app.Start(t.Context()))
	s.must(s.index.RefreshAll(t.Context()))
	if got := s.search("admin", page).ids(); got != "one,one,three,two" {
		t.Errorf("after a scan that failed: %s", got)
	}
	f.states.Store(3)
	s.store("page", "four", `{"title":"Fourth"}`)
	if got := s.search("admin", page).ids(); got != "four,one,one,three,two" {
		t.Errorf("after loads that failed: %s", got)
	}
	// A builder that fails while it builds anew leaves the old index alone.
	f.scans.Store(1)
	s.contentType("page", "ROLE_USER", `title:TextString:{"analyzer":"keyword"}`, "n:Integer")
	s.post("/api/search/refresh", "").is(200)
	if got := s.search("admin", `{"query":{"term":{"title":"Fourth"}}}`).ids(); got != "four" {
		t.Errorf("after a build that failed: %s", got)
	}
	// A wait that is cut short says so, and the document is found later.
	f.states.Store(1 << 30)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.post("/api/data/page/index/five", `{"title":"Fifth"}`).is(200)
	if err := s.index.Refresh(ctx, []port.Key{{Type: "page", OUUID: "five"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a refresh whose context has ended: %v", err)
	}
	f.states.Store(0)
	s.must(s.index.Refresh(t.Context(), []port.Key{{Type: "page", OUUID: "five"}}))
	s.post("/api/search/document", `{"index":"quoin_preview","ouuid":"five"}`).is(200)
}

// TestSecondProcess: on one PostgreSQL one process holds the index; what others
// write is found through it.
func TestSecondProcess(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		if !strings.HasPrefix(vars[0], "QUOIN_DATABASE_URL=") {
			return // SQLite has one process
		}
		s := site(t, vars...)
		second := assemble(t, vars...)
		err := second.app.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "belongs to one process") || !strings.Contains(err.Error(), "modules.search.enabled=false") {
			t.Fatalf("a second process: %v", err)
		}
		second.stop()

		other := start(t, append(vars, "QUOIN_MODULES__SEARCH__ENABLED=false")...)
		other.post("/api/search/search", wrap(`{}`)).is(404)
		other.contentType("note", "ROLE_USER", "title:TextString")
		other.post("/api/data/note/index/new?refresh=true", `{"title":"New"}`).is(200)
		other.post("/api/data/page/index/two?refresh=true", `{"title":"Changed elsewhere"}`).is(200)
		other.post("/api/data/page/delete/three", `[]`).is(200)
		testkit.Eventually(t, func() bool {
			s.search("admin", `{}`).is(200)
			return s.search("admin", `{"indices":["quoin_preview"],"sort":"_id"}`).ids() == "new,one,secret,two"
		})
		if got := s.search("admin", `{"query":{"match":{"title":"elsewhere"}}}`).ids(); got != "two" {
			t.Errorf("found: %s", got)
		}
		// The lock is free when its holder has gone.
		other.stop()
		if got := s.again().search("admin", `{"indices":["quoin_preview"],"sort":"_id"}`).ids(); got != "new,one,secret,two" {
			t.Errorf("after a restart: %s", got)
		}
	})
}

// TestSwitchedOff: without the module the rest works, refresh=true included.
func TestSwitchedOff(t *testing.T) {
	s := start(t, "QUOIN_SERVER__DATA="+t.TempDir(), "QUOIN_MODULES__SEARCH__ENABLED=false")
	s.contentType("page", "ROLE_USER", "title:TextString")
	s.store("page", "a", `{"title":"x"}`)
	s.call("admin", http.MethodGet, "/api/data/page/a", "").is(200)
}

// TestEverythingAtOnce writes, deletes, publishes, searches and changes the
// configuration at the same time. At the end the index holds what the store
// holds.
func TestEverythingAtOnce(t *testing.T) {
	s := start(t)
	s.contentType("page", "ROLE_USER", "title:TextString", "n:Integer")
	var wg sync.WaitGroup
	do := func(path, body string) {
		a, err := s.do("admin", http.MethodPost, path, body)
		switch {
		case err != nil:
			t.Error(err)
		case a.status >= 500, a.status == 400:
			t.Errorf("%s: %d %s", a.call, a.status, a.body)
		}
	}
	for w := range 6 {
		wg.Go(func() {
			for i := range 60 {
				id := fmt.Sprintf("d%02d", (i*7+w*3)%40)
				switch i % 6 {
				case 0, 1, 2:
					do("/api/data/page/index/"+id+"?refresh=true", fmt.Sprintf(`{"title":"writer %d","n":%d}`, w, i))
				case 3:
					do("/api/data/page/publish/"+id+"/live", "")
				case 4:
					do("/api/data/page/delete/"+id, "[]")
				case 5:
					do("/api/search/search", wrap(page))
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 8 {
			analyzer := []string{"standard", "keyword", "english"}[i%3]
			s.contentType("page", "ROLE_USER", `title:TextString:{"analyzer":"`+analyzer+`"}`, "n:Integer")
			do("/api/search/refresh", "")
		}
	})
	wg.Wait()
	s.must(s.index.RefreshAll(t.Context()))
	alike := func() string {
		return s.search("admin", `{"indices":["quoin_preview"],"sort":"_id","size":100}`).is(200).raw("hits.hits") +
			s.search("admin", `{"indices":["quoin_live"],"sort":"_id","size":100}`).is(200).raw("hits.hits")
	}
	before := alike()
	s = s.again()
	if after := alike(); before != after {
		t.Errorf("the index followed to\n%s\nbut the store holds\n%s", before, after)
	}
	if s.index.Stats().Refused != 0 {
		t.Error("documents were refused")
	}
}

// TestHealth: the check fails while indexing fails, and no longer.
func TestHealth(t *testing.T) {
	s := site(t)
	s.stop()
	s = assemble(t, s.vars...)
	f := &faulty{}
	s.index.Through(func(d port.Documents) port.Documents { f.Documents = d; return f })
	s.must(s.app.Start(t.Context()))
	s.must(s.index.RefreshAll(t.Context()))
	check := func() error {
		for _, r := range s.app.Checks.Ready(t.Context()) {
			if r.Name == "search" {
				return r.Err
			}
		}
		return problem.New(problem.NotFound, "there is no check")
	}
	if err := check(); err != nil {
		t.Errorf("all is well, but the check says %v", err)
	}
	f.states.Store(1 << 30)
	s.post("/api/data/page/index/four", `{"title":"Fourth"}`).is(200)
	testkit.Eventually(t, func() bool { return check() != nil })
	if got := s.call("admin", http.MethodGet, "/api/search/health-status", "").is(200).text("status"); got != "yellow" {
		t.Errorf("health-status is %s", got)
	}
	f.states.Store(0)
	s.must(s.index.RefreshAll(t.Context()))
	if err := check(); err != nil {
		t.Errorf("all is well again, but the check says %v", err)
	}
}
