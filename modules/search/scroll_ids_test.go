package search_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/search"
)

// many stores n documents of the category many and gives their ids, sorted.
func (s *server) many(n int) (ids []string) {
	s.Helper()
	var lines strings.Builder
	for i := range n {
		ids = append(ids, fmt.Sprintf("d%03d", i))
		fmt.Fprintf(&lines, `{"ouuid":"d%03d","data":{"title":"stone %d","category":"many"}}`+"\n", i, i)
	}
	s.post("/api/data/page/_bulk?refresh=true", lines.String()).is(200)
	s.must(s.index.RefreshAll(context.Background()))
	return ids
}

const ofMany = `{"indices":["quoin_preview"],"query":{"term":{"category":"many"}},"sources":["title"],"size":7,` +
	`"highlight":{"fields":{"title":[]}},"aggs":{"t":{"terms":{"field":"_contenttype"}}}}`

// TestScrollOfEveryProcess reads one scroll through two processes in turns,
// while its index is replaced and one of them starts again.
func TestScrollOfEveryProcess(t *testing.T) {
	vars, _ := onServer(t)
	vars = append(vars, "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()))
	one := site(t, vars...)
	want := one.many(100)
	two := start(t, append(slices.Clone(vars), "QUOIN_SERVER__DATA="+t.TempDir())...)
	two.login("admin")
	a := one.open("admin", ofMany, "1m").is(200)
	a.has("aggregations.t.buckets.0.doc_count", "100")
	var got []string
	for page := 0; a.ids() != ""; page++ {
		got = append(got, strings.Split(a.ids(), ",")...)
		a.has("hits.total.value", "100", "hits.hits.0._score", "null")
		if a.raw("hits.hits.0._source.title") == "" || a.raw("hits.hits.0._source._sha1") == "" || a.raw("hits.hits.0._source.category") != "" {
			t.Fatalf("sources as in a search: %s", a.body)
		}
		id := a.text("_scroll_id")
		if n := len(id); n > 2000 {
			t.Errorf("the id has %d bytes", n)
		}
		switch page {
		case 4:
			one.must(one.index.Rebuild(t.Context()))
		case 8:
			one = one.again()
			one.login("admin")
		}
		s := []*server{two, one}[page%2]
		a = s.next("admin", id).is(200)
		if again := s.next("admin", id).is(200); again.ids() != a.ids() {
			t.Errorf("page %d is %s and then %s", page, a.ids(), again.ids())
		}
		a.has("aggregations", "")
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%d documents, want each of %d once: %v", len(got), len(want), got)
	}
	for _, s := range []*server{one, two} {
		s.next("admin", a.text("_scroll_id")).is(200).has("hits.hits", "[]", "hits.total.value", "100")
	}
}

// TestScrollIDsAreOfOneUser tries ids of others, ids that nobody has made, and
// rights that go away.
func TestScrollIDsAreOfOneUser(t *testing.T) {
	vars, _ := onServer(t)
	s := site(t, vars...)
	s.user("jane", "ROLE_USER", "ROLE_API")
	s.user("joe", "ROLE_WEBMASTER", "ROLE_API")
	const everything = `{"indices":["quoin_preview"],"size":1}`
	a := s.open("joe", everything, "1m").is(200)
	a.has("hits.total.value", "4")
	id := a.text("_scroll_id")
	refused := s.next("jane", id).is(404)
	refused.has("errors.0.path", `"scroll-id"`, "code", `"scroll_not_found"`)
	for i := 3; i < len(id); i += 7 {
		other := "A"
		if id[i] == 'A' {
			other = "B"
		}
		wrong := s.next("joe", id[:i]+other+id[i+1:]).is(404)
		if wrong.text("detail") != refused.text("detail") {
			t.Fatalf("an id of somebody else can be told from one of nobody: %s, %s", refused.body, wrong.body)
		}
	}
	for _, wrong := range []string{"s1.", "s1.x", "s1." + strings.Repeat("A", 50), id + "A", id[:len(id)-4], strings.Repeat("s1.", 9), id[3:]} {
		s.next("joe", wrong).is(404)
	}
	s.call("joe", http.MethodPost, "/api/search/next-scroll", `{"scroll-id":"s1.`+strings.Repeat("A", 200_000)+`"}`).is(400)
	gone := s.open("joe", everything, "1nanos").is(200)
	s.next("joe", gone.text("_scroll_id")).is(404)
	s.contentType("memo", "ROLE_SUPER", "title:TextString") // joe may not view it any more
	var rest []string
	for a = s.next("joe", id).is(200); a.ids() != ""; a = s.next("joe", a.text("_scroll_id")) {
		rest = append(rest, a.ids())
		a.has("hits.total.value", "3")
	}
	if slices.Contains(rest, "secret") {
		t.Errorf("joe reads %v", rest)
	}
}

// TestScrollIDsAreShort opens scrolls of long searches.
func TestScrollIDsAreShort(t *testing.T) {
	vars, _ := onServer(t)
	s := site(t, vars...)
	words := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%x",`, (uint64(i)+1)*0x9E3779B97F4A7C15) // nothing to compress
		}
		return `{"query":{"terms":{"category":[` + b.String() + `"a"]}},"size":1}`
	}
	a := s.open("admin", words(1000), "1m").is(200)
	s.next("admin", a.text("_scroll_id")).is(200).has("hits.total.value", "3")
	s.open("admin", words(10_000), "1m").is(400).has("errors.0.path", `"search"`)
}

// TestScrollIDsExpire moves the clock, and takes cursors away.
func TestScrollIDsExpire(t *testing.T) {
	c := &clock{now: time.Unix(1_700_000_000, 0)}
	cfg := search.Defaults()
	cfg.Key, cfg.Scrolls = "secret", 2
	ids := search.NewScrollIDs(cfg, "one", c.Now)
	id := ids.Pack(t, 7, time.Minute)
	c.move(time.Minute - time.Millisecond)
	if err := ids.Unpack(id, 7); err != nil {
		t.Error(err)
	}
	cfg2 := *cfg
	cfg2.Key = "another"
	for name, other := range map[string]search.ScrollIDs{"key": search.NewScrollIDs(&cfg2, "one", c.Now), "installation": search.NewScrollIDs(cfg, "two", c.Now)} {
		if err := other.Unpack(id, 7); !problem.Is(err, problem.NotFound) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for i := range 10 {
		ids.Pack(t, int64(i), time.Minute)
	}
	if n := ids.Warm(); n != 2 {
		t.Errorf("%d cursors are at hand, want 2", n)
	}
	c.move(time.Millisecond)
	if err := ids.Unpack(id, 7); !problem.Is(err, problem.NotFound) {
		t.Errorf("expired: %v", err)
	}
}

// FuzzScrollID reads ids that nobody has made.
func FuzzScrollID(f *testing.F) {
	cfg := search.Defaults()
	cfg.Key = "secret"
	ids := search.NewScrollIDs(cfg, "one", time.Now)
	f.Add(ids.Pack(f, 1, time.Minute))
	f.Add("s1.AAAA")
	f.Add("s1.")
	f.Fuzz(func(t *testing.T, id string) {
		if err := ids.Unpack(id, 2); !problem.Is(err, problem.NotFound) {
			t.Errorf("%q: %v", id, err)
		}
	})
}
