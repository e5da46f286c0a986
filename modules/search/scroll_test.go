package search_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	coresearch "github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/modules/search"
)

// open opens a scroll.
func (s *server) open(as, object, expire string) *answer {
	s.Helper()
	return s.call(as, http.MethodPost, "/api/search/init-scroll", strings.TrimSuffix(wrap(object), "}")+`,"expire-time":"`+expire+`"}`)
}

func (s *server) next(as, id string) *answer {
	s.Helper()
	return s.call(as, http.MethodPost, "/api/search/next-scroll", `{"scroll-id":"`+id+`","expire-time":"1m"}`)
}

// readAll reads a scroll as old clients do, and gives the ids of all hits and
// the sources of the last page that had any.
func (s *server) readAll(as string, first *answer) (ids []string) {
	s.Helper()
	id, total := first.is(200).text("_scroll_id"), first.raw("hits.total")
	for a := first; a.ids() != ""; a = s.next(as, a.text("_scroll_id")) {
		ids = append(ids, strings.Split(a.ids(), ",")...)
		a.has("hits.total", total, "_scroll_id", `"`+id+`"`, "timed_out", "false")
	}
	return ids
}

func TestScroll(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		a := s.open("admin", `{"indices":["quoin_preview"],"sources":["title"],"sort":{"n":"desc"},"from":3,"size":3,"aggs":{"t":{"terms":{"field":"_contenttype"}}}}`, "3m").is(200)
		if !strings.HasPrefix(string(a.body), `{"_scroll_id":"`) || len(a.text("_scroll_id")) < 32 {
			t.Errorf("the id of a scroll comes first and cannot be guessed: %s", a.body)
		}
		a.has("hits.total", `{"value":4,"relation":"eq"}`, "aggregations.t.buckets.0.key", `"page"`, "hits.hits.0._source._contenttype", `"page"`, "hits.hits.0._score", "null", "hits.hits.0.sort", "",
			"_shards", `{"total":1,"successful":1,"skipped":0,"failed":0}`)
		if a.raw("hits.hits.0._source._sha1") == "" || a.raw("hits.hits.0._source.n") != "" {
			t.Errorf("sources as in a search: %s", a.body)
		}
		// Everything changes before the second page is read.
		s.store("page", "four", `{"title":"Fourth"}`)
		s.store("page", "two", `{"title":"Another second"}`)
		s.call("admin", http.MethodDelete, "/api/data/page/three", "")
		s.post("/api/data/page/delete/one?refresh=true", "")
		s.post("/api/data/memo/delete/secret?refresh=true", "")
		if got := s.count("admin", `{"query":{"ids":{"values":["secret"]}}}`); got != "0" {
			t.Fatalf("the document is still there: %s", got)
		}
		rest := s.next("admin", a.text("_scroll_id")).is(200)
		if got := a.ids() + "," + rest.ids(); got != "two,three,secret,one" {
			t.Errorf("the scroll gives %s", got)
		}
		rest.has("hits.total", `{"value":4,"relation":"eq"}`, "aggregations", "", "hits.hits.0._source.title", `"First of all"`)
		for range 2 {
			end := s.next("admin", a.text("_scroll_id")).is(200)
			end.has("hits.hits", "[]", "hits.total", `{"value":4,"relation":"eq"}`, "_scroll_id", a.raw("_scroll_id"))
		}
	})
}

// TestScrollMoment reads scrolls while documents are replaced and the index is
// built anew: they give what was there when they were opened, once each.
func TestScrollMoment(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		const n = 300
		var lines strings.Builder
		var want []string
		for i := range n {
			fmt.Fprintf(&lines, `{"ouuid":"d%03d","data":{"title":"old","category":"many"}}`+"\n", i)
			want = append(want, fmt.Sprintf("d%03d", i))
		}
		s.post("/api/data/page/_bulk?refresh=true", lines.String()).is(200)
		sizes := []string{"7", "64", "130", "1000"} // sources are loaded in blocks
		firsts := make([]*answer, len(sizes))
		for i, size := range sizes {
			firsts[i] = s.open("admin", `{"query":{"term":{"category":"many"}},"size":`+size+`}`, "5m").is(200)
		}
		s.post("/api/data/page/_bulk?refresh=true", strings.ReplaceAll(lines.String(), "old", "new")).is(200)
		s.index.Sweep()
		s.must(s.index.Rebuild(t.Context()))
		s.index.Sweep()
		s.post("/api/data/page/_bulk?refresh=true", strings.ReplaceAll(strings.ReplaceAll(lines.String(), "many", "none"), "old", "newer")).is(200)
		s.index.Sweep()
		for i, a := range firsts {
			id := a.text("_scroll_id")
			var got []string
			for ; a.ids() != ""; a = s.next("admin", id) {
				last := strings.Count(a.ids(), ",")
				a.has("hits.total.value", "300", "hits.hits.0._source.title", `"old"`, fmt.Sprintf("hits.hits.%d._source.title", last), `"old"`)
				got = append(got, strings.Split(a.ids(), ",")...)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("size %s: %d documents, want each of %d once: %v", sizes[i], len(got), n, got)
			}
		}
		if got := s.count("admin", `{"query":{"term":{"category":"many"}}}`); got != "0" {
			t.Errorf("%s are there now", got)
		}
	})
}

// TestScrollOutlivesItsEnvironment removes the environment under a scroll.
func TestScrollOutlivesItsEnvironment(t *testing.T) {
	s := site(t)
	a := s.open("admin", `{"indices":["quoin_both"],"size":1,"sort":"_id"}`, "1m").is(200)
	s.call("admin", http.MethodDelete, "/api/admin/environment/live", "").is(200)
	s.must(s.index.RefreshAll(t.Context()))
	s.index.Sweep()
	for range 6 {
		s.next("admin", a.text("_scroll_id")).is(200)
	}
}

// TestScrollBelongsToItsUser tries ids of others, and rights that go away.
func TestScrollBelongsToItsUser(t *testing.T) {
	s := site(t)
	s.user("jane", "ROLE_USER", "ROLE_API")
	s.user("joe", "ROLE_WEBMASTER", "ROLE_API")
	const everything = `{"indices":["quoin_preview"],"size":2}`
	ofJoe := s.open("joe", everything, "1m").is(200)
	ofJoe.has("hits.total.value", "4")
	if got := s.readAll("jane", s.open("jane", everything, "1m")); strings.Join(got, ",") != "two,three,one" {
		t.Errorf("jane reads %v", got)
	}
	a := s.next("jane", ofJoe.text("_scroll_id")).is(404)
	a.has("errors.0.path", `"scroll-id"`)
	if unknown := s.next("jane", "AAAA").is(404); unknown.text("detail") != a.text("detail") {
		t.Errorf("an id of somebody else can be told from one of nobody: %s, %s", a.body, unknown.body)
	}
	s.contentType("memo", "ROLE_SUPER", "title:TextString") // joe may not view it any more
	if a := s.next("joe", ofJoe.text("_scroll_id")).is(200); a.ids() != "one" {
		t.Errorf("joe reads %s", a.body)
	} else {
		a.has("hits.total.value", "3")
	}
}

func TestScrollBadInput(t *testing.T) {
	s := site(t)
	s.user("noapi", "ROLE_ADMIN")
	scroll := func(object, rest string) string { return strings.TrimSuffix(wrap(object), "}") + rest + "}" }
	for _, c := range []struct {
		path, body string
		status     int
		tells      string
	}{
		{"init-scroll", ``, 400, "body"},
		{"init-scroll", `[]`, 400, "search"},
		{"init-scroll", `{}`, 400, "search"},
		{"init-scroll", `nonsense`, 400, ""},
		{"init-scroll", `{"search":5}`, 400, "number"},
		{"init-scroll", wrap(`{"size":0}`), 400, "size"},
		{"init-scroll", wrap(`{"size":50001}`), 400, "size"},
		{"init-scroll", wrap(`{"indices":["quoin_nowhere"]}`), 404, "quoin_nowhere"},
		{"init-scroll", wrap(`{"query":{"unheard_of":{}}}`), 400, "unheard_of"},
		{"init-scroll", scroll(`{}`, `,"expire-time":3`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"3"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"m"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"0m"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"-1m"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"1 m"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"1y"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"61m"`), 400, "limit"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"1d"`), 400, "limit"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"99999999999999999999h"`), 400, "expire-time"},
		{"init-scroll", scroll(`{}`, `,"expire-time":"`+strings.Repeat("9", 5000)+`"`), 400, "expire-time"},
		{"next-scroll", ``, 400, "body"},
		{"next-scroll", `[]`, 400, "scroll-id"},
		{"next-scroll", `{}`, 400, "scroll-id"},
		{"next-scroll", `{"_scroll_id":"x"}`, 400, "scroll-id: is missing; the body has \"_scroll_id\" in its place"},
		{"next-scroll", `{"scroll-id":null}`, 400, "scroll-id"},
		{"next-scroll", `{"scroll-id":5}`, 400, "scroll-id"},
		{"next-scroll", `{"scroll-id":""}`, 400, "scroll-id"},
		{"next-scroll", `{"scroll-id":["x"]}`, 400, "scroll-id"},
		{"next-scroll", `{"scroll-id":"x","expire-time":"soon"}`, 400, "expire-time"},
		{"next-scroll", `{"scroll-id":"x"}`, 404, "expired"},
		{"next-scroll", `{"scroll-id":"\u0000"}`, 400, "U+0000"},
	} {
		s.refuses(c.path, c.body, c.status, c.tells)
	}
	if got := s.post("/api/search/next-scroll", `{"scroll-id":null}`).text("detail"); got != "scroll-id: is missing" {
		t.Error(got) // not that something else is in its place
	}
	for _, path := range []string{"init-scroll", "next-scroll"} {
		s.call("", http.MethodPost, "/api/search/"+path, wrap(`{}`)).is(401)
		s.call("noapi", http.MethodPost, "/api/search/"+path, wrap(`{}`)).is(403)
		s.call("admin", http.MethodGet, "/api/search/"+path, "").is(405)
	}
	for _, expire := range []string{"1h", "60m", "30s", "500ms", "3600000micros"} {
		s.open("admin", `{}`, expire).is(200)
	}
	for _, body := range []string{wrap(`{}`), scroll(`{}`, `,"expire-time":null`), scroll(`[]`, ``), `{"search":[]}`} {
		s.post("/api/search/init-scroll", body).is(200).has("hits.total.value", "5")
	}
	gone := s.open("admin", `{"size":1}`, "1nanos").is(200)
	s.next("admin", gone.text("_scroll_id")).is(404)
}

// refuses posts what must be refused: an error in the API's form, that names
// what is wrong.
func (s *server) refuses(path, body string, status int, tells string) {
	s.Helper()
	a := s.post("/api/search/"+path, body)
	name := path + " " + body[:min(len(body), 100)]
	if a.status != status {
		s.Errorf("%s: %d, want %d: %.300s", name, a.status, status, a.body)
		return
	}
	a.has("success", "false", "acknowledged", "true")
	if !strings.Contains(a.text("detail"), tells) {
		s.Errorf("%s: the answer does not name %q: %.300s", name, tells, a.body)
	}
}

// TestScrollLimits opens too many.
func TestScrollLimits(t *testing.T) {
	s := site(t, "QUOIN_SERVER__DATA="+t.TempDir(), "QUOIN_SEARCH__SCROLLS=4", "QUOIN_SEARCH__SCROLLS_PER_USER=3")
	s.user("jane", "ROLE_USER", "ROLE_API")
	var ids []string
	for range 3 {
		ids = append(ids, s.open("admin", `{"size":1}`, "1m").is(200).text("_scroll_id"))
	}
	a := s.open("admin", `{"size":1}`, "1m").is(429)
	if a.header.Get("Retry-After") == "" || !strings.Contains(a.text("detail"), "this user has 3 scrolls") {
		t.Errorf("%v %s", a.header, a.body)
	}
	s.open("jane", `{"size":1}`, "1m").is(200)
	if a := s.open("jane", `{"size":1}`, "1m").is(429); !strings.Contains(a.text("detail"), "the server has 4 scrolls") {
		t.Errorf("%s", a.body)
	}
	// One that was read to the end makes room, and only one.
	for range 5 {
		s.next("admin", ids[1]).is(200)
	}
	s.open("admin", `{"size":1}`, "1m").is(200)
	s.open("admin", `{"size":1}`, "1m").is(429)
	s.next("admin", ids[1]).is(404)
	s.next("admin", ids[0]).is(200)
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestScrollsExpire moves the clock.
func TestScrollsExpire(t *testing.T) {
	c := &clock{now: time.Unix(1_700_000_000, 0)}
	cfg := search.Defaults()
	cfg.Scrolls, cfg.ScrollsPerUser = 3, 2
	scrolls := search.NewScrolls(cfg, c.Now)
	open := func(user int64, keep time.Duration) string {
		t.Helper()
		id, err := scrolls.Add(user, endless{}, keep)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a, b := open(1, time.Minute), open(1, 2*time.Minute)
	c.move(50 * time.Second)
	if err := scrolls.Find(1, a, time.Minute); err != nil { // lives on
		t.Error(err)
	}
	if err := scrolls.Find(2, a, time.Minute); !problem.Is(err, problem.NotFound) {
		t.Errorf("another user: %v", err)
	}
	_, err := scrolls.Add(1, endless{}, time.Minute)
	if p := problem.From(err); p.Kind != problem.TooManyRequests || p.RetryAfter != time.Minute {
		t.Errorf("a third one: %v, again after %s", err, p.RetryAfter)
	}
	other := open(2, time.Minute)
	c.move(59 * time.Second)
	scrolls.Sweep()
	if n := scrolls.Len(); n != 3 {
		t.Errorf("%d are left, want 3", n)
	}
	c.move(time.Second)
	for _, id := range []string{a, other} {
		if err := scrolls.Find(1, id, time.Minute); !problem.Is(err, problem.NotFound) {
			t.Errorf("expired: %v", err)
		}
	}
	scrolls.Sweep()
	if err := scrolls.Find(1, b, time.Minute); err != nil || scrolls.Len() != 1 {
		t.Errorf("%d are left, %v", scrolls.Len(), err)
	}
	c.move(time.Hour)
	open(1, time.Minute)
	if scrolls.Len() != 1 {
		t.Errorf("a new one does not make room: %d", scrolls.Len())
	}
}

// endless is a cursor that gives nothing and is never done.
type endless struct{ coresearch.Cursor }

func (endless) Done() bool { return false }
func (endless) Tidy()      {}

// TestScrollOfManyReaders reads one scroll from several connections: each
// document comes once.
func TestScrollOfManyReaders(t *testing.T) {
	s := site(t)
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, `{"ouuid":"d%d","data":{"title":"x","category":"many"}}`+"\n", i)
	}
	s.post("/api/data/page/_bulk?refresh=true", lines.String()).is(200)
	first := s.open("admin", `{"query":{"term":{"category":"many"}},"size":3}`, "1m").is(200)
	body := `{"scroll-id":"` + first.text("_scroll_id") + `"}`
	var mu sync.Mutex
	seen := map[string]int{}
	count := func(a *answer) bool {
		mu.Lock()
		defer mu.Unlock()
		ids := a.ids()
		for id := range strings.SplitSeq(ids, ",") {
			if id != "" {
				seen[id]++
			}
		}
		return ids != ""
	}
	count(first)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				a, err := s.do("admin", http.MethodPost, "/api/search/next-scroll", body)
				if err != nil || a.status != 200 {
					t.Errorf("%v %v", err, a)
					return
				}
				if !count(a) {
					return
				}
			}
		})
	}
	readers.Wait()
	if len(seen) != 200 {
		t.Errorf("%d documents", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
}
