package search_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// quoin runs a command as the command line does: in a process that has the
// database of the server and not its index. line is split at spaces.
func (s *server) quoin(line string, flags map[string]any) (out string, err error) {
	words := strings.Fields(line)
	other := assemble(s.TB, s.vars...)
	defer other.stop()
	for _, m := range modules.All() {
		for _, c := range m.Commands {
			path := c.Path()
			if len(words) < len(path) || !slices.Equal(words[:len(path)], path) {
				continue
			}
			var text bytes.Buffer
			call := &module.Call{Args: words[len(path):], JSON: true, In: strings.NewReader(""), Out: &text, Table: func(v any, _ []string, _ [][]string) error {
				return json.NewEncoder(&text).Encode(v)
			}}
			call.Flags = func(name string) any {
				for _, f := range c.Flags {
					if f.Name == name {
						if v, given := flags[name]; given {
							return v
						}
						return f.Default
					}
				}
				s.Errorf("%s has no flag %q", line, name)
				return nil
			}
			err := other.app.Run(context.WithoutCancel(s.Context()), c, call)
			return strings.TrimSpace(text.String()), err
		}
	}
	s.Fatalf("there is no command %q", line)
	return "", nil
}

// traffic writes 50 times a second and remembers what must be found: ouuid →
// value of n, by environment.
type traffic struct {
	s       *server
	r       *rand.Rand
	preview map[string]int
	live    map[string]int
	ids     []string // of preview
	next    int
	writes  int
}

// add notes a new document.
func (w *traffic) add(id string) {
	w.preview[id] = w.next
	w.ids = append(w.ids, id)
}

func (w *traffic) run(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := w.write(); err != nil {
			return err
		}
		w.writes++
	}
}

func (w *traffic) write() error {
	w.next++
	i := w.r.IntN(len(w.ids))
	id := w.ids[i]
	path, body := "", `{"title":"`+sentence(w.r, 5)+`","n":`+strconv.Itoa(w.next)+`}`
	switch w.r.IntN(6) {
	case 0:
		id = "new" + strconv.Itoa(w.next)
		w.add(id)
		path = "index/" + id
	case 1, 2:
		path, w.preview[id] = "index/"+id, w.next
	case 3:
		path, body, w.live[id] = "publish/"+id+"/live", "", w.preview[id]
	case 4:
		path, body = "unpublish/"+id+"/live", ""
		delete(w.live, id)
	case 5:
		path, body = "delete/"+id, "[]"
		delete(w.preview, id)
		delete(w.live, id)
		w.ids = slices.Delete(w.ids, i, i+1)
	}
	a, err := w.s.do("admin", http.MethodPost, "/api/data/page/"+path, body)
	if err != nil || a.status != 200 || a.raw("success") != "true" {
		return fmt.Errorf("%s: %w %+v", path, err, a)
	}
	return nil
}

// reader searches without a pause, by the alias and by the name of the index
// that it was given a moment ago. Nothing may fail.
func reader(ctx context.Context, s *server, alias string) (n int, err error) {
	ask := func(path, body string) *answer {
		a, failed := s.do("admin", http.MethodPost, "/api/search/"+path, body)
		if failed != nil {
			err = failed
			return &answer{}
		}
		if a.status != 200 && err == nil {
			err = fmt.Errorf("%s: %d %s", a.call, a.status, a.body)
		}
		return a
	}
	for n = 0; ctx.Err() == nil && err == nil; n++ {
		index := ask("indices-from-alias", `{"alias":"`+alias+`"}`).raw("indices.0")
		for _, name := range []string{`"` + alias + `"`, index} {
			if a := ask("has-index", `{"index":`+name+`}`); a.raw("exist") != "true" && err == nil {
				err = fmt.Errorf("there is no index %s: %s", name, a.body)
			}
			a := ask("search", wrap(`{"indices":[`+name+`],"query":{"constant_score":{"filter":{"match":{"title":"stone"}}}},"aggs":{"t":{"terms":{"field":"_contenttype"}}}}`))
			if a.raw("hits.total.value") == "0" && err == nil {
				err = fmt.Errorf("nothing is found in %s", name)
			}
		}
	}
	return n, err
}

// found gives ouuid → n of everything in an index, and fails when something is
// there twice.
func (s *server) found(index string) map[string]int {
	s.Helper()
	all := map[string]int{}
	page := s.post("/api/search/init-scroll", `{"expire-time":"1m",`+wrap(`{"indices":["` + index + `"],"size":1000}`)[1:]).is(200)
	for {
		n := 0
		for it := rawjson.Iterate([]byte(page.raw("hits.hits"))); it.Next(); n++ {
			var hit struct {
				ID     string          `json:"_id"`
				Source struct{ N int } `json:"_source"`
			}
			s.must(json.Unmarshal(it.Value(), &hit))
			if _, twice := all[hit.ID]; twice {
				s.Errorf("%s: %s is there twice", index, hit.ID)
			}
			all[hit.ID] = hit.Source.N
		}
		if n == 0 {
			return all
		}
		page = s.post("/api/search/next-scroll", `{"expire-time":"1m","scroll-id":`+page.raw("_scroll_id")+`}`).is(200)
	}
}

// compare reports what an index has too much, too little or too old.
func (s *server) compare(index string, want map[string]int) {
	s.Helper()
	got := s.found(index)
	missing, stale, strange := 0, 0, 0
	for id, n := range want {
		if m, there := got[id]; !there {
			missing++
		} else if m != n {
			stale++
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			strange++
		}
	}
	if missing+stale+strange > 0 {
		s.Errorf("%s: %d of %d documents are missing, %d stale, %d should not be there", index, missing, len(want), stale, strange)
	}
}

// emitted counts the events of a type.
func (s *server) emitted(name string) (n int) {
	s.Helper()
	s.must(s.app.DB.Row(s.Context(), db.SQL(`SELECT count(*) FROM event WHERE type = ?`), name).Scan(&n))
	return n
}

// bulk writes lines, of which none may fail.
func (s *server) bulk(lines string) {
	s.Helper()
	a := s.post("/api/data/page/_bulk", lines).is(200)
	if n := strings.Count(string(a.body), `"success":true`); n != strings.Count(lines, "\n") {
		_, first, _ := strings.Cut(string(a.body), `"success":false`)
		s.Fatalf("%d of %d lines are written: %.300s", n, strings.Count(lines, "\n"), first)
	}
}

// underLoad does something while documents are written and everybody searches.
// What was written is searchable when it returns.
func (s *server) underLoad(w *traffic, do func()) {
	s.Helper()
	load, enough := context.WithCancel(s.Context())
	var users sync.WaitGroup
	failures := make(chan error, 3)
	users.Go(func() { failures <- w.run(load) })
	searches := make(chan int, 2)
	for _, alias := range []string{"quoin_preview", "quoin_both"} {
		users.Go(func() {
			n, err := reader(load, s, alias)
			searches <- n
			failures <- err
		})
	}
	begin := time.Now()
	do()
	took := time.Since(begin)
	enough()
	users.Wait()
	for range 3 {
		if err := <-failures; err != nil {
			s.Error(err)
		}
	}
	s.Logf("%s, %d writes, %d and %d rounds of searches", took.Round(time.Millisecond), w.writes, <-searches, <-searches)
	s.post("/api/search/refresh", "[]").is(200)
}

// rebuilt runs a command that gives an index, which must be there.
func (s *server) rebuilt(line string) {
	s.Helper()
	out, err := s.quoin(line, nil)
	_, name, found := strings.Cut(out, `"index":"`)
	if err != nil || !found {
		s.Errorf("%s: %s %v", line, out, err)
		return
	}
	name, _, _ = strings.Cut(name, `"`)
	if s.post("/api/search/has-index", `{"index":"`+name+`"}`).raw("exist") != "true" {
		s.Errorf("%s said %s, but the index is not there", line, out)
	}
}

// aliasOfBoth makes a managed alias over both environments.
func (s *server) aliasOfBoth() {
	s.Helper()
	s.post("/api/admin/managed-alias/both", `{"class":"EMS\\CoreBundle\\Entity\\ManagedAlias","arguments":[],"properties":{"name":"both","label":"Both","environments":["preview","live"]},"replaced":[]}`).is(200)
}

// TestRebuildRealSize does it once with packages of a distribution: 8,000 of
// them, or as many as QUOIN_TEST_PACKAGES says (there are 63,666).
func TestRebuildRealSize(t *testing.T) {
	file, err := os.Open(filepath.Join(testkit.Data(t), "debian-packages.ndjson.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	s := start(t, "QUOIN_SERVER__DATA="+t.TempDir())
	unpacked, err := gzip.NewReader(file)
	s.must(err)
	s.contentType("page", "ROLE_USER", "title:TextString", "n:Integer", "section:Choice", "depends:TextString")
	s.aliasOfBoth()
	w := &traffic{s: s, r: rand.New(rand.NewPCG(5, 6)), preview: map[string]int{}, live: map[string]int{}}
	var lines strings.Builder
	in := bufio.NewScanner(unpacked)
	in.Buffer(nil, 1<<20)
	most := 8_000 / slower
	if n, err := strconv.Atoi(os.Getenv("QUOIN_TEST_PACKAGES")); err == nil {
		most = n
	}
	for w.next < most && in.Scan() {
		var p struct {
			OUUID, Summary, Section string
			Depends                 []string
		}
		s.must(json.Unmarshal(in.Bytes(), &p))
		w.next++
		w.add(p.OUUID)
		data, err := json.Marshal(map[string]any{"title": "stone " + p.Summary, "n": w.next, "section": p.Section, "depends": strings.Join(p.Depends, " ")})
		s.must(err)
		fmt.Fprintf(&lines, `{"ouuid":"%s","data":%s}`+"\n", p.OUUID, data)
		if w.next%3 == 0 {
			w.live[p.OUUID] = w.next
			fmt.Fprintf(&lines, `{"op":"publish","ouuid":"%s","environment":"live"}`+"\n", p.OUUID)
		}
		if lines.Len() > 8<<20 {
			s.bulk(lines.String())
			lines.Reset()
		}
	}
	s.must(in.Err())
	s.bulk(lines.String())
	s.post("/api/search/refresh", "[]").is(200)
	s.underLoad(w, func() { s.rebuilt("environment rebuild preview") })
	s.compare("quoin_preview", w.preview)
	s.compare("quoin_live", w.live)
}

// TestRebuildUnderLoad: environments are rebuilt and indexed again while
// documents are written and everybody searches, and nobody notices.
func TestRebuildUnderLoad(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		vars, _ := onServer(t)
		rebuildUnderLoad(t, 1500/slower, vars...) // the double is slower than a server
	})
	engines(t, func(t *testing.T, vars ...string) { rebuildUnderLoad(t, 4000/slower, vars...) })
}

// rebuildUnderLoad is the test of one kind of installation.
func rebuildUnderLoad(t *testing.T, documents int, vars ...string) {
	t.Helper()
	s := start(t, append(vars, "QUOIN_SEARCH__KEEP_REPLACED=1m")...)
	s.contentType("page", "ROLE_USER", "title:TextString", "n:Integer")
	s.aliasOfBoth()
	w := &traffic{s: s, r: rand.New(rand.NewPCG(3, 4)), preview: map[string]int{}, live: map[string]int{}}
	var lines strings.Builder
	for w.next < documents {
		w.next++
		id := "d" + strconv.Itoa(w.next)
		w.add(id)
		fmt.Fprintf(&lines, `{"ouuid":"%s","data":{"title":"stone %s","n":%d}}`+"\n", id, sentence(w.r, 10), w.next)
		if w.next%3 == 0 {
			w.live[id] = w.next
			fmt.Fprintf(&lines, `{"op":"publish","ouuid":"%s","environment":"live"}`+"\n", id)
		}
	}
	s.post("/api/data/page/_bulk?refresh=true", lines.String()).is(200)
	first := s.indexOf("quoin_preview")

	s.underLoad(w, func() {
		for range 2 {
			for _, line := range []string{"environment rebuild preview", "environment rebuild live", "environment reindex preview"} {
				s.rebuilt(line)
			}
		}
	})
	s.post("/api/search/refresh", "[]").is(200)
	now := s.indexOf("quoin_preview")
	for _, index := range []string{"quoin_preview", now} {
		s.compare(index, w.preview)
	}
	s.compare("quoin_live", w.live)
	if now == first || s.emitted("environment.new_index.preview") != 3 || s.emitted("manage_alias.update.quoin_both") != 5 {
		t.Errorf("%s after %s, %d and %d events", now, first, s.emitted("environment.new_index.preview"), s.emitted("manage_alias.update.quoin_both"))
	}
	if out, err := s.quoin("orphans delete", nil); err != nil || !strings.Contains(out, "quoin_preview_") || strings.Contains(out, now) {
		t.Errorf("orphans: %s %v", out, err)
	}
	if out, err := s.quoin("aliases check", nil); err != nil || out != "[]" {
		t.Errorf("aliases: %s %v", out, err)
	}
	s = s.again()
	if got := s.indexOf("quoin_preview"); got != now {
		t.Errorf("after a restart the index is %s, before it was %s", got, now)
	}
	s.compare("quoin_preview", w.preview)
	s.compare("quoin_live", w.live)
}

// TestRebuildOutlivesTheServer: a rebuild that a server was asked for and had
// no time to finish is done by the next one, which answers meanwhile.
func TestRebuildOutlivesTheServer(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		old := s.indexOf("quoin_preview")
		s.stop()
		dead := assemble(t, s.vars...)
		next, err := dead.index.Renew(t.Context(), "preview")
		s.must(err)
		dead.stop()
		s = start(t, s.vars...)
		s.comes("the new index is in force", func() bool { return s.indexOf("quoin_preview") == next })
		if got := s.count("admin", `{"indices":["quoin_preview"]}`); got != "4" || old == next {
			t.Errorf("%s documents in %s after %s", got, next, old)
		}
		s.comes("everybody is told", func() bool { return s.emitted("environment.new_index.preview") == 2 })
		if out, err := s.quoin("environment list", nil); err != nil || !strings.Contains(out, next) || strings.Contains(out, "building") {
			t.Errorf("%s %v", out, err)
		}
	})
}

// TestReplacedIndex: an index that was replaced answers for a while, with what
// was written since, and then it is gone.
func TestReplacedIndex(t *testing.T) {
	s := site(t, "QUOIN_SERVER__DATA="+t.TempDir(), "QUOIN_SEARCH__KEEP_REPLACED=1s")
	old := s.indexOf("quoin_preview")
	if _, err := s.quoin("environment rebuild preview", nil); err != nil {
		t.Fatal(err)
	}
	s.store("page", "new", `{"title":"Later"}`)
	if got := s.search("admin", `{"indices":["`+old+`"],"query":{"match":{"title":"later"}}}`); got.status != 404 && got.ids() != "new" {
		t.Errorf("the old index: %s", got.body)
	}
	s.comes("the old index is gone", func() bool { return s.post("/api/search/has-index", `{"index":"`+old+`"}`).raw("exist") == "false" })
	if got := s.count("admin", `{"indices":["quoin_preview"]}`); got != "5" {
		t.Errorf("%s documents", got)
	}
}

// TestNobodyAnswers: without a server the command says so, and leaves nothing
// behind.
func TestNobodyAnswers(t *testing.T) {
	s := start(t)
	s.stop()
	_, err := s.quoin("environment rebuild preview", nil)
	if err == nil || !strings.Contains(err.Error(), "quoin serve") {
		t.Errorf("%v", err)
	}
	if _, err := s.quoin("environment rebuild nowhere", nil); err == nil || !strings.Contains(err.Error(), "environment list") {
		t.Errorf("%v", err)
	}
	if s := start(t, s.vars...); s.emitted("environment.new_index.preview") != 1 {
		t.Error("the rebuild that nobody did happened later")
	}
}
