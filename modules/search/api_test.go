package search_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// site has two content types, documents in two environments and a managed
// alias over both.
func site(t *testing.T, vars ...string) *server {
	t.Helper()
	s := start(t, vars...)
	s.contentType("page", "ROLE_USER", "title:TextString", "category:Choice", "n:Integer", "date:Date", "body:JSON")
	s.contentType("memo", "ROLE_WEBMASTER", "title:TextString")
	s.post("/api/admin/managed-alias/both", `{"class":"EMS\\CoreBundle\\Entity\\ManagedAlias","arguments":[],"properties":{"name":"both","label":"Both","environments":["preview","live"]},"replaced":[]}`).is(200)
	s.store("page", "one", `{"title":"First of all","category":"a","n":1,"body":{"text":"x","more":2}}`)
	s.store("page", "two", `{"title":"Second to none","category":"b","n":2}`)
	s.store("page", "three", `{"title":"Third time lucky","category":"a","n":3}`)
	s.store("memo", "secret", `{"title":"First secret"}`)
	s.post("/api/data/page/publish/one/live?refresh=true", "").is(200)
	return s
}

// indexNames hold the time at which they were made.
var indexNames = regexp.MustCompile(`quoin_(preview|live)_\d{8}_\d{6}`)

func (a *answer) plain() string {
	return indexNames.ReplaceAllString(string(a.body), "INDEX_$1")
}

// indexOf gives the name of the index behind an alias.
func (s *server) indexOf(alias string) string {
	s.Helper()
	return s.post("/api/search/indices-from-alias", `{"alias":"`+alias+`"}`).is(200).text("indices.0")
}

func TestSearchAnswers(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		a := s.search("admin", `{"indices":["quoin_preview"],"contentTypes":["page"],"queryArray":{"bool":{"must":[{"term":{"category":"a"}}]}},"sources":["title"],`+
			`"sort":{"n":{"order":"desc"}},"size":1,"aggs":{"types":{"terms":{"field":"category"}},"latest":{"max":{"field":"_published_datetime"}}},"postFilter":null,"suggest":null,"highlight":[],"regex":null}`).is(200)
		a.has("timed_out", "false", "hits.total", `{"value":2,"relation":"eq"}`, "hits.hits.0._id", `"three"`, "hits.hits.0._source.title", `"Third time lucky"`,
			"hits.hits.0._source._contenttype", `"page"`, "hits.hits.0._source.category", "", "hits.hits.0.sort", "[3]", "hits.hits.0._score", "null", "hits.max_score", "null",
			"_shards", `{"total":1,"successful":1,"skipped":0,"failed":0}`,
			"aggregations.types.buckets", `[{"key":"a","doc_count":2}]`, "aggregations.types.sum_other_doc_count", "0")
		if a.raw("hits.hits.0._source._sha1") == "" {
			t.Errorf("a list of sources has _sha1 as well: %s", a.body)
		}
		if got := a.raw("hits.hits.0._index"); got != `"`+s.indexOf("quoin_preview")+`"` {
			t.Errorf("_index is %s", got)
		}
		if s := a.raw("aggregations.latest.value_as_string"); !regexp.MustCompile(`^"\d{4}-\d\d-\d\dT`).MatchString(s) {
			t.Errorf("value_as_string is %s", s)
		}
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %s", got)
		}
		for _, c := range []struct{ what, object, ids string }{
			{"everything", `{"sort":"_id"}`, "one,one,secret,three,two"},
			{"an empty array", `[]`, "*5"},
			{"alias of an environment", `{"indices":["quoin_live"]}`, "one"},
			{"managed alias", `{"indices":["quoin_both"],"sort":"_id"}`, "one,one,secret,three,two"},
			{"pattern", `{"indices":["*_live*"]}`, "one"},
			{"pattern that matches nothing", `{"indices":["nothing*"]}`, ""},
			{"index by name", `{"indices":["` + s.indexOf("quoin_live") + `"]}`, "one"},
			{"names with a comma", `{"indices":["quoin_live,quoin_preview"],"contentTypes":["page"],"sort":["_id"]}`, "one,one,three,two"},
			{"regex", `{"indices":["quoin_both"],"regex":"_live_\\d+"}`, "one"},
			{"regex that matches nothing", `{"indices":["quoin_live"],"regex":"nothing"}`, "one"},
			{"content types", `{"contentTypes":["memo"]}`, "secret"},
			{"match", `{"queryArray":{"match":{"title":"first"}},"indices":["quoin_preview"],"sort":"_id"}`, "one,secret"},
			{"match in _all", `{"query":{"match":{"_all":"lucky"}}}`, "three"},
			{"term", `{"query":{"term":{"_contenttype":{"value":"memo"}}}}`, "secret"},
			{"terms", `{"query":{"terms":{"n":[2,3]}},"sort":[{"n":"asc"}]}`, "two,three"},
			{"range", `{"query":{"range":{"n":{"gte":3}}}}`, "three"},
			{"exists", `{"query":{"exists":{"field":"body.more"}},"indices":["quoin_live"]}`, "one"},
			{"ids", `{"query":{"ids":{"values":["two","secret"]}},"sort":"_id"}`, "secret,two"},
			{"from and size", `{"query":{"match_all":[]},"indices":["quoin_preview"],"contentTypes":["page"],"sort":"n","from":1,"size":1}`, "two"},
			{"size 0", `{"size":0}`, ""},
			{"post filter", `{"indices":["quoin_preview"],"post_filter":{"term":{"category":"b"}}}`, "two"},
		} {
			a := s.search("admin", c.object)
			if got := a.ids(); got != c.ids && !(c.ids == "*5" && strings.Count(got, ",") == 4) {
				t.Errorf("%s: %s, want %s: %s", c.what, got, c.ids, a.body)
			}
		}
		if got := s.count("admin", `{"contentTypes":["page"],"indices":["quoin_preview"],"size":1}`); got != "3" {
			t.Errorf("count is %s", got)
		}
		s.post("/api/search/search", `{"search":{"indices":["quoin_live"],"size":1}}`).is(200).has("hits.total.value", "1")
	})
}

func TestDocument(t *testing.T) {
	s := site(t)
	document := func(body string) *answer {
		t.Helper()
		return s.post("/api/search/document", body)
	}
	a := document(`{"index":"quoin_live","content-type":"page","ouuid":"one"}`).is(200)
	a.has("_id", `"one"`, "_index", `"`+s.indexOf("quoin_live")+`"`, "_source.title", `"First of all"`, "_source.body", `{"text":"x","more":2}`, "_source._contenttype", `"page"`)
	if a.raw("_source._published_datetime") == "" {
		t.Errorf("the index adds _published_datetime: %s", a.body)
	}
	a = document(`{"index":"quoin_live","content-type":null,"ouuid":"one","source-includes":["body.*"],"sources-excludes":["body.more"]}`).is(200)
	a.has("_source.title", "", "_source.body", `{"text":"x"}`, "_source._contenttype", `"page"`)
	document(`{"index":"quoin_live","ouuid":"one","source-includes":[],"source-excludes":["title","_*"]}`).is(200).
		has("_source.title", "", "_source.n", "1", "_source._contenttype", `"page"`, "_source._sha1", "")
	document(`{"index":"quoin_both","ouuid":"two"}`).is(200)
	document(`{"index":"quoin_live","ouuid":"two"}`).is(404)
	document(`{"index":"quoin_live","content-type":"memo","ouuid":"one"}`).is(404)
	document(`{"index":"quoin_live","content-type":"nothing","ouuid":"one"}`).is(404)
	document(`{"index":"quoin_nowhere","ouuid":"one"}`).is(404).has("errors.0.path", `"index"`)
}

func TestNames(t *testing.T) {
	s := site(t)
	for _, c := range []struct{ path, body, want string }{
		{"has-index", `{"index":"quoin_preview"}`, `{"exist":true}`},
		{"has-index", `{"index":"` + s.indexOf("quoin_preview") + `"}`, `{"exist":true}`},
		{"has-index", `{"index":"quoin_both"}`, `{"exist":true}`},
		{"has-index", `{"index":"preview"}`, `{"exist":false}`},
		{"has-index", `{"index":"x*"}`, `{"exist":false}`},
		{"indices-from-alias", `{"alias":"quoin_preview"}`, `{"indices":["INDEX_preview"]}`},
		{"indices-from-alias", `{"alias":"quoin_both"}`, `{"indices":["INDEX_live","INDEX_preview"]}`},
		{"indices-from-aliases", `{"aliases":["quoin_both","quoin_live"]}`, `{"indices":["INDEX_live","INDEX_preview"]}`},
		{"indices-from-aliases", `{"aliases":{"0":"quoin_both","2":"quoin_live"}}`, `{"indices":["INDEX_live","INDEX_preview"]}`},
		{"indices-from-aliases", `{"aliases":[]}`, `{"indices":[]}`},
		{"aliases-from-index", `{"index":"` + s.indexOf("quoin_live") + `"}`, `{"aliases":["quoin_both","quoin_live"]}`},
		{"indices-for-content-type", `{"aliases":["quoin_both"]}`, `{"indices":{"memo":["INDEX_preview"],"page":["INDEX_live","INDEX_preview"]}}`},
		{"indices-for-content-type", `{"aliases":["quoin_live"]}`, `{"indices":{"page":["INDEX_live"]}}`},
		{"refresh", `{"index":"quoin_live"}`, `{"success":true}`},
		{"refresh", `{"index":null}`, `{"success":true}`},
		{"refresh", `[]`, `{"success":true}`},
		{"refresh", ``, `{"success":true}`},
	} {
		if got := s.post("/api/search/"+c.path, c.body).is(200).plain(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.path, c.body, got, c.want)
		}
	}
	if got := s.call("admin", http.MethodGet, "/api/search/version", "").is(200).plain(); !regexp.MustCompile(`^\{"version":"8\.\d+\.\d+"\}$`).MatchString(got) {
		t.Errorf("version: %s", got)
	}
	if got := s.call("admin", http.MethodGet, "/api/search/health-status", "").is(200).plain(); got != `{"status":"green"}` {
		t.Errorf("health-status: %s", got)
	}
}

// TestBadInput sends each endpoint what it must refuse: an error in the API's
// form, that names what is wrong and tells nothing of the inside.
func TestBadInput(t *testing.T) {
	s := site(t)
	s.user("noapi", "ROLE_ADMIN")
	deep := strings.Repeat(`{"bool":{"must":`, 100) + `{"match_all":{}}` + strings.Repeat(`}}`, 100)
	for _, c := range []struct {
		path, body string
		status     int
		tells      string
	}{
		{"search", ``, 400, "body"},
		{"search", `{}`, 400, "search"},
		{"search", `[]`, 400, "search"},
		{"search", `{"search":null}`, 400, "search"},
		{"search", `{"search":5}`, 400, "number"},
		{"search", `{"search":true}`, 400, "boolean"},
		{"search", `{"search":""}`, 400, ""},
		{"search", `{"search":"nonsense"}`, 400, ""},
		{"search", `{"search":"[1]"}`, 400, ""},
		{"search", `{"search":"{}","search":"{}"}`, 400, "twice"},
		{"search", `{"search":"{\"size\":1,\"size\":2}"}`, 400, "size"},
		{"search", `{"search":"\ud800"}`, 400, "surrogate"},
		{"search", `{"search":`, 400, ""},
		{"search", `nonsense`, 400, ""},
		{"search", `"text"`, 400, "object"},
		{"search", `{"search":{"size":NaN}}`, 400, ""},
		{"search", `{"search":{"size":1e999}}`, 400, ""},
		{"search", strings.Repeat("[", 100_000), 413, ""},
		{"search", `{"search":"` + strings.Repeat(" ", 5<<20) + `"}`, 413, ""},
		{"search", wrap(`{"size":-1}`), 400, "size"},
		{"search", wrap(`{"size":"ten"}`), 400, "size"},
		{"search", wrap(`{"size":50001}`), 400, "size"},
		{"search", wrap(`{"from":50000,"size":1}`), 400, "50000"},
		{"search", wrap(`{"indices":"x"}`), 404, "x"},
		{"search", wrap(`{"indices":[5]}`), 404, "5"},
		{"search", wrap(`{"indices":[{}]}`), 400, "indices"},
		{"search", wrap(`{"indices":{"0":"quoin_preview","":"quoin_live"}}`), 400, "indices"},
		{"search", wrap(`{"indices":["quoin_preview","quoin_nowhere"]}`), 404, "quoin_nowhere"},
		{"search", wrap(`{"regex":"("}`), 400, "regex"},
		{"search", wrap(`{"regex":"` + strings.Repeat("a", 600) + `"}`), 400, "regex"},
		{"search", wrap(`{"query":{"unheard_of":{}}}`), 400, "unheard_of"},
		{"search", wrap(`{"query":{"bool":{"must":[{"term":{}}]}}}`), 400, "query.bool.must[0]"},
		{"search", wrap(`{"query":` + deep + `}`), 400, ""},
		{"search", wrap(`{"aggs":{"a":{"unheard_of":{}}}}`), 400, "aggs.a"},
		{"search", wrap(`{"sort":{"title":{"order":"sideways"}}}`), 400, "sort"},
		{"search", wrap(`{"unheard_of":1}`), 400, "unheard_of"},
		{"count", `{}`, 400, "search"},
		{"count", wrap(`{"query":{"unheard_of":{}}}`), 400, "unheard_of"},
		{"count", wrap(`{"indices":["quoin_nowhere"]}`), 404, "quoin_nowhere"},
		{"document", `{}`, 400, "index"},
		{"document", `{"index":"quoin_live"}`, 400, "ouuid"},
		{"document", `{"index":5,"ouuid":"one"}`, 400, "index"},
		{"document", `{"index":"quoin_live","ouuid":["one"]}`, 400, "ouuid"},
		{"document", `{"index":"quoin_live","ouuid":""}`, 400, "ouuid"},
		{"document", `{"index":"quoin_live","ouuid":"` + strings.Repeat("x", 5000) + `"}`, 400, "ouuid"},
		{"document", `{"index":"quoin_live","ouuid":"one","content-type":1}`, 400, "content-type"},
		{"document", `{"index":"quoin_live","ouuid":"one","source-includes":{"a":1}}`, 400, "source-includes"},
		{"document", `{"index":"quoin_live","ouuid":"one","sources-excludes":["a",1]}`, 400, "sources-excludes[1]"},
		{"document", `{"index":"quoin_live","ouuid":"none"}`, 404, "none"},
		{"document", `{"index":"quoin_nowhere","ouuid":"one"}`, 404, "quoin_nowhere"},
		{"refresh", `{"index":5}`, 400, "index"},
		{"refresh", `{"index":"quoin_nowhere"}`, 404, "quoin_nowhere"},
		{"refresh", `nonsense`, 400, ""},
		{"has-index", `{}`, 400, "index"},
		{"has-index", `{"index":[]}`, 400, "index"},
		{"indices-from-alias", `{}`, 400, "alias"},
		{"indices-from-alias", `{"alias":"quoin_nowhere"}`, 404, "quoin_nowhere"},
		{"indices-from-aliases", `{"aliases":5}`, 400, "aliases"},
		{"indices-from-aliases", `{"aliases":{"0":"quoin_live","x":"quoin_both"}}`, 400, "aliases"},
		{"indices-from-aliases", `{"aliases":["quoin_nowhere"]}`, 404, "quoin_nowhere"},
		{"aliases-from-index", `{"index":{}}`, 400, "index"},
		{"aliases-from-index", `{"index":"quoin_nowhere"}`, 404, "quoin_nowhere"},
		{"indices-for-content-type", `{"aliases":[null]}`, 400, "aliases[0]"},
		{"indices-for-content-type", `{"aliases":["quoin_nowhere"]}`, 404, "quoin_nowhere"},
	} {
		a := s.post("/api/search/"+c.path, c.body)
		name := c.path + " " + c.body[:min(100, len(c.body))]
		if a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.status, c.status, a.body)
			continue
		}
		a.has("success", "false", "acknowledged", "true")
		if !strings.Contains(a.text("detail"), c.tells) {
			t.Errorf("%s: the answer does not name %q: %s", name, c.tells, a.body)
		}
		if strings.Contains(string(a.body), "goroutine") || strings.Contains(string(a.body), "SELECT") || strings.Contains(string(a.body), ".go:") {
			t.Errorf("%s: the answer tells of the inside: %s", name, a.body)
		}
	}
	for _, path := range []string{"search", "count", "document", "refresh", "has-index", "indices-from-alias", "indices-from-aliases", "aliases-from-index", "indices-for-content-type"} {
		s.call("", http.MethodPost, "/api/search/"+path, `{}`).is(401)
		s.call("noapi", http.MethodPost, "/api/search/"+path, `{}`).is(403)
		a := s.call("admin", http.MethodGet, "/api/search/"+path, "").is(405)
		if a.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow is %q", path, a.header.Get("Allow"))
		}
	}
	for _, path := range []string{"version", "health-status"} {
		s.call("", http.MethodGet, "/api/search/"+path, "").is(401)
		s.post("/api/search/"+path, "{}").is(405)
	}
}

// TestRights asks as somebody who may view one of two content types.
func TestRights(t *testing.T) {
	s := site(t)
	s.user("jane", "ROLE_USER", "ROLE_API")
	const everything = `{"sort":"_id","aggs":{"types":{"terms":{"field":"_contenttype"}},"all":{"global":{},"aggs":{"t":{"terms":{"field":"_contenttype"}}}}}}`
	for _, c := range []struct{ who, ids, types string }{
		{"admin", "one,one,secret,three,two", `[{"key":"page","doc_count":4},{"key":"memo","doc_count":1}]`},
		{"jane", "one,one,three,two", `[{"key":"page","doc_count":4}]`},
	} {
		a := s.search(c.who, everything)
		if got := a.ids(); got != c.ids {
			t.Errorf("%s finds %s, want %s", c.who, got, c.ids)
		}
		a.has("aggregations.types.buckets", c.types, "aggregations.all.t.buckets", c.types)
	}
	for _, object := range []string{
		`{"contentTypes":["memo"]}`, `{"query":{"term":{"_contenttype":"memo"}}}`, `{"query":{"ids":{"values":["secret"]}}}`,
		`{"query":{"match":{"title":"secret"}}}`, `{"query":{"bool":{"must_not":[{"term":{"_contenttype":"page"}}]}}}`,
	} {
		if got := s.count("jane", object); got != "0" {
			t.Errorf("%s: jane counts %s", object, got)
		}
		if got := s.count("admin", object); got != "1" {
			t.Errorf("%s: admin counts %s", object, got)
		}
	}
	for _, body := range []string{`{"index":"quoin_preview","ouuid":"secret"}`, `{"index":"quoin_preview","ouuid":"secret","content-type":"memo"}`} {
		s.call("admin", http.MethodPost, "/api/search/document", body).is(200)
		s.call("jane", http.MethodPost, "/api/search/document", body).is(404)
	}
	if got := s.call("jane", http.MethodPost, "/api/search/indices-for-content-type", `{"aliases":["quoin_preview"]}`).is(200).plain(); got != `{"indices":{"page":["INDEX_preview"]}}` {
		t.Errorf("jane learns of %s", got)
	}
}
