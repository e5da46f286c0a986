package search_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// searchKeys are the members of a search object as the PHP client writes them:
// always all of them (contract-notes 12).
var searchKeys = [][2]string{
	{"sources", `[]`}, {"contentTypes", `[]`}, {"queryArray", `null`}, {"indices", `["quoin_preview"]`}, {"size", `10`}, {"from", `0`},
	{"searchOptions", `{"size":10,"from":0}`}, {"sort", `null`}, {"scrollOptions", `{"size":10}`}, {"countOptions", `[]`}, {"aggs", `[]`},
	{"postFilter", `null`}, {"suggest", `null`}, {"highlight", `null`}, {"regex", `null`},
}

// phpSearch gives the body of the PHP client for a search, with some members
// given: {"search":"<JSON>"} with the escapes of two encoders, one in the other.
func phpSearch(given map[string]string) string { return phpBody(given, "") }

// phpBody is phpSearch with further members, such as `,"expire-time":"3m"`.
func phpBody(given map[string]string, more string) string {
	var inner strings.Builder
	inner.WriteByte('{')
	for i, k := range searchKeys {
		if i > 0 {
			inner.WriteByte(',')
		}
		v, ok := given[k[0]]
		if !ok {
			v = k[1]
		}
		inner.WriteString(`"` + k[0] + `":` + v)
	}
	inner.WriteByte('}')
	return `{"search":"` + escapeOuter(escapeInner(inner.String())) + `"` + more + `}`
}

// escapeInner is what json_encode does to the text of JSON: slashes and all
// that is not ASCII are escaped.
func escapeInner(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case r > 126:
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeOuter makes a string of it as Symfony's client does.
func escapeOuter(text string) string {
	return strings.NewReplacer(`\`, `\\`, `/`, `\/`, `"`, `\u0022`, `<`, `\u003C`, `>`, `\u003E`, `&`, `\u0026`, `'`, `\u0027`).Replace(text)
}

// phpClient checks of every answer what the PHP client needs not to throw
// (contract-notes 9 and 13).
type phpClient struct {
	*server
	as string
}

func (c phpClient) post(path, body string) *answer {
	c.Helper()
	a := c.call(c.as, http.MethodPost, "/api/search/"+path, body).is(200)
	if k := rawjson.KindOf(a.body); k != rawjson.Map && k != rawjson.Array {
		c.Errorf("%s: the client needs an object or an array: %.200s", a.call, a.body)
	}
	if s := a.raw("success"); s != "" && s != "true" {
		c.Errorf("%s: success is %s", a.call, s)
	}
	return a
}

// page checks an answer with hits and gives their ids.
func (c phpClient) page(a *answer) []string {
	c.Helper()
	a.has("hits.total.relation", `"eq"`)
	if _, err := strconv.Atoi(a.raw("hits.total.value")); err != nil {
		c.Errorf("%s: the total is %s", a.call, a.raw("hits.total"))
	}
	var ids []string
	for it := rawjson.Iterate([]byte(a.raw("hits.hits"))); it.Next(); {
		hit := &answer{t: c.TB, call: a.call, body: it.Value()}
		ids = append(ids, hit.text("_id"))
		if hit.text("_index") == "" || hit.text("_source._contenttype") == "" {
			c.Errorf("%s: the client throws for %.200s", a.call, hit.body)
		}
	}
	return ids
}

func (c phpClient) search(given map[string]string) []string {
	c.Helper()
	return c.page(c.post("search", phpSearch(given)))
}

func (c phpClient) count(given map[string]string) int {
	c.Helper()
	n, err := strconv.Atoi(c.post("count", phpSearch(given)).raw("count"))
	if err != nil {
		c.Error(err)
	}
	return n
}

// scroll iterates as the client does: until a page is empty, and not further
// than the total allows.
func (c phpClient) scroll(given map[string]string, size int) (ids []string) {
	c.Helper()
	a := c.post("init-scroll", phpBody(given, `,"expire-time":"3m"`))
	for pages := 0; ; pages++ {
		page := c.page(a)
		ids = append(ids, page...)
		total, _ := strconv.Atoi(a.raw("hits.total.value"))
		if len(page) == 0 || pages > total/size {
			return ids
		}
		a = c.post("next-scroll", `{"scroll-id":`+a.raw("_scroll_id")+`,"expire-time":"3m"}`)
	}
}

// document looks for the index first, as the client does.
func (c phpClient) document(index, contentType, ouuid string) *answer {
	c.Helper()
	c.post("has-index", `{"index":"`+index+`"}`).has("exist", "true")
	return c.post("document", `{"index":"`+index+`","content-type":`+contentType+`,"ouuid":"`+ouuid+`","source-includes":[],"sources-excludes":[]}`)
}

// TestOldClient plays the requests of the PHP client over a small site.
func TestOldClient(t *testing.T) {
	s := site(t)
	s.store("page", "four", `{"title":"<Été> & \"l'eau\" a/b \\ 😀","category":"é/<'&\">","n":4}`)
	c := phpClient{s, "admin"}
	page := func(pairs ...string) map[string]string {
		m := map[string]string{"contentTypes": `["page"]`}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, q := range []struct {
		what  string
		given map[string]string
		ids   string // sorted
	}{
		{"nothing but the types", page(), "four,one,three,two"},
		{"arrays with gaps", map[string]string{"indices": `{"1":"quoin_preview"}`, "contentTypes": `{"3":"page"}`}, "four,one,three,two"},
		{"match_all as []", page("queryArray", `{"match_all":[]}`), "four,one,three,two"},
		{"bool as []", page("queryArray", `{"bool":[]}`), "four,one,three,two"},
		{"bool of empty arrays", page("queryArray", `{"bool":{"must":[],"should":[],"filter":[{"match_all":[]}]}}`), "four,one,three,two"},
		{"term with what PHP escapes", page("queryArray", `{"term":{"category":{"value":"é/<'&\">","boost":2}}}`), "four"},
		{"words with accents", page("queryArray", `{"match":{"title":{"query":"ÉTÉ 😀","operator":"AND"}}}`), "four"},
		{"_id and _contenttype", map[string]string{"queryArray": `{"bool":{"must":[{"term":{"_id":"one"}},{"terms":{"_contenttype":["page","memo"]}}]}}`}, "one"},
		{"range", page("queryArray", `{"bool":{"filter":[{"range":{"n":{"gte":2,"lt":4}}}]}}`), "three,two"},
		{"prefix", page("queryArray", `{"prefix":{"category":"a"}}`), "one,three"},
		{"exists", page("queryArray", `{"bool":{"must_not":[{"exists":{"field":"body.text"}}]}}`), "four,three,two"},
		{"sort by an object", page("sort", `{"n":{"order":"desc","missing":"_last","unmapped_type":"long"}}`, "size", "2", "searchOptions", `{"size":2,"from":0}`), "four,three"},
		{"sort by a list", page("sort", `[{"n":"asc"},"_score"]`, "size", "2"), "one,two"},
		{"sort by []", page("sort", `[]`), "four,one,three,two"},
		{"post filter without its name", page("postFilter", `{"params":{"category":"a"}}`), "four,one,three,two"},
		{"suggest without its name", page("suggest", `{"params":{"text":"x"}}`), "four,one,three,two"},
		{"highlight as []", page("highlight", `[]`), "four,one,three,two"},
		{"highlight of a field as []", page("highlight", `{"pre_tags":["<b>"],"post_tags":["</b>"],"fields":{"title":[]}}`, "queryArray", `{"match":{"title":"first"}}`), "one"},
		{"two indices and a regex", page("indices", `["quoin_preview","quoin_live"]`, "regex", `"quoin_live.*"`), "one"},
	} {
		got := c.search(q.given)
		slices.Sort(got)
		if strings.Join(got, ",") != q.ids {
			t.Errorf("%s: %v, want %s", q.what, got, q.ids)
		}
		if q.given["size"] == "" {
			if n := c.count(q.given); n != len(got) {
				t.Errorf("%s: %d are counted", q.what, n)
			}
			all := c.scroll(q.given, 10)
			slices.Sort(all)
			if !slices.Equal(all, got) {
				t.Errorf("%s: the scroll gives %v", q.what, all)
			}
		}
	}
	if got := c.scroll(page("size", "1", "scrollOptions", `{"size":1}`, "sort", `{"n":"desc"}`), 1); len(got) != 4 {
		t.Errorf("pages of one: %v", got)
	}
	c.post("search", phpSearch(page("aggs", `{"all":{"global":[],"aggs":{"t":{"terms":{"field":"_contenttype","size":20,"order":{"_term":"asc"}}}}},`+
		`"n":{"nested":{"path":"body"},"aggs":{"back":{"reverse_nested":[]}}},"f":{"filter":{"match_all":[]},"aggs":{"i":{"terms":{"field":"_index"}}}}}`))).
		has("aggregations.all.t.buckets", `[{"key":"memo","doc_count":1},{"key":"page","doc_count":4}]`, "aggregations.n.doc_count", "0", "aggregations.n.back.doc_count", "0",
			"aggregations.f.doc_count", "4", "aggregations.f.i.buckets.0.doc_count", "4")
	a := c.post("search", phpSearch(page("queryArray", `{"ids":{"values":["one"]}}`, "sources", `["title","_contenttype","_version_uuid","_sha1"]`)))
	a.has("hits.hits.0._source.title", `"First of all"`, "hits.hits.0._source.n", "", "hits.hits.0._source._contenttype", `"page"`)
	a = c.post("search", phpSearch(page("queryArray", `{"ids":{"values":["one"]}}`, "sources", `{"includes":["title","body.*"],"excludes":["body.more"]}`)))
	a.has("hits.hits.0._source.body", `{"text":"x"}`, "hits.hits.0._source._contenttype", `"page"`)
	a = c.post("search", phpSearch(page("queryArray", `{"ids":{"values":["one"]}}`, "sources", `{"excludes":["*"]}`)))
	a.has("hits.hits.0._source", `{"_contenttype":"page"}`)
	c.document("quoin_preview", "null", "four").has("_source.title", `"<Été> & \"l'eau\" a/b \\ 😀"`)
	c.document("quoin_live", `"page"`, "one").has("_source.n", "1")
	c.post("refresh", `{"index":null}`).has("success", "true")
	c.post("refresh", `[]`).has("success", "true")
}

// TestOldClientOnDemo plays them over a real site: every document is found by
// a scroll, by a search page by page, and one by one.
func TestOldClientOnDemo(t *testing.T) {
	s := start(t)
	ouuids := demo(t, s)
	c := phpClient{s, "admin"}
	in := func(names string, pairs ...string) map[string]string {
		m := map[string]string{"contentTypes": names, "size": "7", "scrollOptions": `{"size":7}`, "searchOptions": `{"size":7,"from":0}`}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	c.post("indices-from-alias", `{"alias":"quoin_preview"}`).has("indices", `["`+s.indexOf("quoin_preview")+`"]`)
	all := 0
	for name, want := range ouuids {
		types := `["` + name + `"]`
		slices.Sort(want)
		all += len(want)
		a := c.post("search", phpSearch(in(types, "indices", `["*"]`, "aggs", `{"c":{"terms":{"field":"_contenttype"},"aggs":{"i":{"terms":{"field":"_index"}},"m":{"max":{"field":"_published_datetime"}}}}}`)))
		a.has("aggregations.c.buckets.0.key", `"`+name+`"`, "aggregations.c.buckets.0.doc_count", strconv.Itoa(len(want)))
		index, err := strconv.Unquote(a.raw("aggregations.c.buckets.0.i.buckets.0.key"))
		s.must(err)
		if a.raw("aggregations.c.buckets.0.m.value_as_string") == "" {
			t.Errorf("%s: no time of publication: %s", name, a.raw("aggregations"))
		}
		here := `["` + index + `"]`
		for what, got := range map[string][]string{
			"a scroll":          c.scroll(in(types, "indices", here), 7),
			"a scroll in order": c.scroll(in(types, "indices", here, "sort", `{"_id":"asc"}`, "queryArray", `{"bool":{"must":[{"match_all":[]}]}}`), 7),
			"pages":             c.pages(in(types, "indices", here, "sort", `{"_id":{"order":"asc"}}`), len(want)),
		} {
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s of %s: %d documents, want %d", what, name, len(got), len(want))
			}
		}
		if n := c.count(in(types, "indices", here)); n != len(want) {
			t.Errorf("%d of %d %s are counted", n, len(want), name)
		}
		for _, id := range want[:min(len(want), 5)] {
			c.document(index, `"`+name+`"`, id).has("_id", `"`+id+`"`, "_source._contenttype", `"`+name+`"`)
		}
	}
	if got := c.scroll(in(`[]`, "indices", `["*"]`), 7); len(got) != all {
		t.Errorf("a scroll of everything: %d of %d", len(got), all)
	}
	a := c.post("indices-for-content-type", `{"aliases":["*"]}`)
	for name := range ouuids {
		if a.raw("indices."+name) == "" {
			t.Errorf("no index for %s: %s", name, a.body)
		}
	}
	c.post("filter-stop-words", `{"index":"quoin_preview","analyzer":"french_for_highlighting","words":["le","monitoring"]}`).has("filtered", `["monitoring"]`)
}

// pages reads a search page by page.
func (c phpClient) pages(given map[string]string, total int) (ids []string) {
	c.Helper()
	for from := 0; from < total; from += 7 {
		given["from"] = strconv.Itoa(from)
		ids = append(ids, c.search(given)...)
	}
	return ids
}
