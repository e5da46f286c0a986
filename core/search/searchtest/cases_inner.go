package searchtest

import (
	"fmt"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

func innerSettings() search.Settings {
	return search.Settings{Types: map[string][]search.Field{"post": {
		{Path: "author", Kind: search.KindKeyword}, {Path: "likes", Kind: search.KindLong}, {Path: "text", Kind: search.KindText},
		{Path: "notes", Kind: search.KindNested}, {Path: "notes.by", Kind: search.KindKeyword}, {Path: "notes.n", Kind: search.KindLong}, {Path: "notes.text", Kind: search.KindText},
		{Path: "notes.votes", Kind: search.KindNested}, {Path: "notes.votes.by", Kind: search.KindKeyword},
		{Path: "meta.links", Kind: search.KindNested}, {Path: "meta.links.to", Kind: search.KindKeyword},
	}}}
}

var innerDocs = [][2]string{
	{"post:1", `{"author":"ann","likes":5,"text":"one fine day","notes":[{"by":"bob","n":3,"text":"a fine note"},{"by":"cid","n":1,"text":"bad"},{"by":"bob","n":2,"votes":[{"by":"x"},{"by":"y"}]}]}`},
	{"post:2", `{"author":"ann","likes":9,"text":"another day","notes":{"by":"cid","n":7,"votes":{"by":"y"}}}`},
	{"post:3", `{"author":"bob","likes":1,"text":"day after day","meta":[{"links":[{"to":"a"},{"to":"b"}]},{"links":{"to":"c"}}]}`},
	{"post:4", `{"likes":4,"text":"no author","notes":[[{"by":"bob","n":4}],null,{"by":"dot"}]}`},
	{"post:5", `{"likes":4,"text":"nor here"}`},
}

// innerHits checks what stands behind hits: nested objects and groups.
func innerHits(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", innerSettings(), innerDocs...)
	for i, c := range innerCases {
		b.named(fmt.Sprintf("body %d", i), func(b *bench) { b.body("one", c) })
	}
}

// bobs is a search for notes of bob with inner hits.
func bobs(inner string) string {
	return `{"sort":"_id","sources":["likes"],"query":{"nested":{"path":"notes","query":{"constant_score":{"filter":{"term":{"notes.by":"bob"}}}},"inner_hits":` + inner + `}}}`
}

// innerCases are bodyCases of inner hits.
var innerCases = []bodyCase{
	{bobs(`{"_source":["notes.n"]}`), "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":5},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":0},"_score":1,"_source":{"n":3}},{"_id":"1","_index":"one","_nested":{"field":"notes","offset":2},"_score":1,"_source":{"n":2}}],"max_score":1,"total":{"relation":"eq","value":2}}}},"sort":["1"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"4","_index":"one","_nested":{"field":"notes","offset":0},"_score":1,"_source":{"n":4}}],"max_score":1,"total":{"relation":"eq","value":1}}}},"sort":["4"]}]`},
	{bobs(`[]`), "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":5},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":0},"_score":1,"_source":{"by":"bob","n":3,"text":"a fine note"}},{"_id":"1","_index":"one","_nested":{"field":"notes","offset":2},"_score":1,"_source":{"by":"bob","n":2,"votes":[{"by":"x"},{"by":"y"}]}}],"max_score":1,"total":{"relation":"eq","value":2}}}},"sort":["1"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"4","_index":"one","_nested":{"field":"notes","offset":0},"_score":1,"_source":{"by":"bob","n":4}}],"max_score":1,"total":{"relation":"eq","value":1}}}},"sort":["4"]}]`},
	{bobs(`{"size":1,"from":1,"sort":{"notes.n":"asc"},"name":"x","_source":false}`), "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":5},"inner_hits":{"x":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":0},"_score":null,"_source":{},"sort":[3]}],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":["1"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"inner_hits":{"x":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":["4"]}]`},
	{bobs(`{"size":0}`), "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":5},"inner_hits":{"notes":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":["1"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"inner_hits":{"notes":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":["4"]}]`},
	{bobs(`{"sort":[{"notes.n":{"order":"desc"}}],"_source":{"excludes":["notes.by","*.votes"]}}`), "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":5},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":0},"_score":null,"_source":{"n":3,"text":"a fine note"},"sort":[3]},{"_id":"1","_index":"one","_nested":{"field":"notes","offset":2},"_score":null,"_source":{"n":2,"votes":[{"by":"x"},{"by":"y"}]},"sort":[2]}],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":["1"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"4","_index":"one","_nested":{"field":"notes","offset":0},"_score":null,"_source":{"n":4},"sort":[4]}],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":["4"]}]`},
	{`{"sources":["x"],"query":{"nested":{"path":"notes","inner_hits":{"_source":["by"]},"query":{"bool":{"must":[{"match":{"notes.text":"fine"}}]}}}}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":0.5754429697990417,"_source":{"_contenttype":"post"},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":0},"_score":0.5754429697990417,"_source":{"by":"bob"}}],"max_score":0.5754429697990417,"total":{"relation":"eq","value":1}}}}}]`},
	{`{"sources":["x"],"sort":"_id","query":{"nested":{"path":"notes","inner_hits":{"_source":["n"]},"query":{"nested":{"path":"notes.votes","query":{"term":{"notes.votes.by":"y"}},"inner_hits":{}}}}}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":2},"_score":0.4700036346912384,"_source":{"n":2},"inner_hits":{"notes.votes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"_nested":{"field":"votes","offset":1},"field":"notes","offset":2},"_score":0.4700036346912384,"_source":{"by":"y"}}],"max_score":0.4700036346912384,"total":{"relation":"eq","value":1}}}}}],"max_score":0.4700036346912384,"total":{"relation":"eq","value":1}}}},"sort":["1"]},{"_id":"2","_index":"one","_score":null,"_source":{"_contenttype":"post"},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"2","_index":"one","_nested":{"field":"notes","offset":0},"_score":0.4700036346912384,"_source":{"n":7},"inner_hits":{"notes.votes":{"hits":{"hits":[{"_id":"2","_index":"one","_nested":{"_nested":{"field":"votes","offset":0},"field":"notes","offset":0},"_score":0.4700036346912384,"_source":{"by":"y"}}],"max_score":0.4700036346912384,"total":{"relation":"eq","value":1}}}}}],"max_score":0.4700036346912384,"total":{"relation":"eq","value":1}}}},"sort":["2"]}]`},
	{`{"sources":["x"],"sort":"_id","query":{"nested":{"path":"notes.votes","query":{"term":{"notes.votes.by":"y"}},"inner_hits":{"sort":"_doc"}}}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"inner_hits":{"notes.votes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"_nested":{"field":"votes","offset":1},"field":"notes","offset":2},"_score":null,"_source":{"by":"y"},"sort":[1]}],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":["1"]},{"_id":"2","_index":"one","_score":null,"_source":{"_contenttype":"post"},"inner_hits":{"notes.votes":{"hits":{"hits":[{"_id":"2","_index":"one","_nested":{"_nested":{"field":"votes","offset":0},"field":"notes","offset":0},"_score":null,"_source":{"by":"y"},"sort":[2]}],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":["2"]}]`},
	{`{"sources":["x"],"query":{"nested":{"path":"meta.links","query":{"terms":{"meta.links.to":["b","c"]}},"inner_hits":{"sort":"meta.links.to"}}}}`, "hits.hits",
		`[{"_id":"3","_index":"one","_score":1,"_source":{"_contenttype":"post"},"inner_hits":{"meta.links":{"hits":{"hits":[{"_id":"3","_index":"one","_nested":{"field":"meta.links","offset":1},"_score":null,"_source":{"to":"b"},"sort":["b"]},{"_id":"3","_index":"one","_nested":{"field":"meta.links","offset":2},"_score":null,"_source":{"to":"c"},"sort":["c"]}],"max_score":null,"total":{"relation":"eq","value":2}}}}}]`},
	{`{"sources":["x"],"sort":"_id","query":{"bool":{"should":[{"term":{"author":"bob"}},{"nested":{"path":"notes","query":{"term":{"notes.by":"dot"}},"inner_hits":{}}}]}}}`, "hits.hits",
		`[{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post"},"inner_hits":{"notes":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":0}}}},"sort":["3"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post"},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"4","_index":"one","_nested":{"field":"notes","offset":1},"_score":1.54044508934021,"_source":{"by":"dot"}}],"max_score":1.54044508934021,"total":{"relation":"eq","value":1}}}},"sort":["4"]}]`},
	{`{"sources":["x"],"query":{"bool":{"filter":[{"ids":{"values":["5"]}}],"must_not":[{"nested":{"path":"notes","query":{"term":{"notes.by":"dot"}},"inner_hits":{}}}]}}}`, "hits.hits",
		`[{"_id":"5","_index":"one","_score":0,"_source":{"_contenttype":"post"}}]`},
	{`{"sources":["x"],"query":{"nested":{"path":"notes","query":{"match":{"notes.text":"fine"}},"inner_hits":{"_source":["x"],"highlight":{"fields":{"notes.text":{}}}}}}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":0.5754429697990417,"_source":{"_contenttype":"post"},"inner_hits":{"notes":{"hits":{"hits":[{"_id":"1","_index":"one","_nested":{"field":"notes","offset":0},"_score":0.5754429697990417,"_source":{},"highlight":{"notes.text":["a <em>fine</em> note"]}}],"max_score":0.5754429697990417,"total":{"relation":"eq","value":1}}}}}]`},
	{`{"sources":["x"],"sort":["likes","_id"],"collapse":{"field":"author"}}`, "hits",
		`{"hits":[{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":["bob"]},"sort":[1,"3"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":[null]},"sort":[4,"4"]},{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":["ann"]},"sort":[5,"1"]}],"max_score":null,"total":{"relation":"eq","value":5}}`},
	{`{"sources":["x"],"sort":[{"likes":"desc"},"_id"],"size":1,"from":1,"collapse":{"field":"author"}}`, "hits",
		`{"hits":[{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":[null]},"sort":[4,"4"]}],"max_score":null,"total":{"relation":"eq","value":5}}`},
	{`{"sources":["likes"],"sort":[{"likes":"desc"},"_id"],"collapse":{"field":"author","max_concurrent_group_searches":4,"inner_hits":{"name":"all","size":2,"sort":[{"likes":"asc"},"_id"],"_source":["likes"]}}}`, "hits.hits",
		`[{"_id":"2","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":9},"fields":{"author":["ann"]},"inner_hits":{"all":{"hits":{"hits":[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":5},"sort":[5,"1"]},{"_id":"2","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":9},"sort":[9,"2"]}],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":[9,"2"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"fields":{"author":[null]},"inner_hits":{"all":{"hits":{"hits":[{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"sort":[4,"4"]},{"_id":"5","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":4},"sort":[4,"5"]}],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":[4,"4"]},{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":1},"fields":{"author":["bob"]},"inner_hits":{"all":{"hits":{"hits":[{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post","likes":1},"sort":[1,"3"]}],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":[1,"3"]}]`},
	{`{"sources":["x"],"query":{"match":{"text":"day"}},"sort":["_id"],"collapse":{"field":"author","inner_hits":[{"name":"a","size":1,"sort":"_id","_source":["x"]},{"name":"b","size":0,"_source":["x"],"sort":"_id"}]}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":["ann"]},"inner_hits":{"a":{"hits":{"hits":[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"sort":["1"]}],"max_score":null,"total":{"relation":"eq","value":2}}},"b":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":["1"]},{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":["bob"]},"inner_hits":{"a":{"hits":{"hits":[{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post"},"sort":["3"]}],"max_score":null,"total":{"relation":"eq","value":1}}},"b":{"hits":{"hits":[],"max_score":null,"total":{"relation":"eq","value":1}}}},"sort":["3"]}]`},
	{`{"sources":["x"],"sort":"_id","collapse":{"field":"likes"}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"likes":[5]},"sort":["1"]},{"_id":"2","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"likes":[9]},"sort":["2"]},{"_id":"3","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"likes":[1]},"sort":["3"]},{"_id":"4","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"likes":[4]},"sort":["4"]}]`},
	{`{"sources":["x"],"sort":"_id","size":2,"collapse":{"field":"nowhere"}}`, "hits",
		`{"hits":[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"nowhere":[null]},"sort":["1"]}],"max_score":null,"total":{"relation":"eq","value":5}}`},
	{`{"sources":["x"],"sort":"_id","query":{"match":{"text":"day"}},"size":1,"collapse":{"field":"author","inner_hits":{"name":"m","size":1,"sort":"_id","_source":["x"],"highlight":{"fields":{"text":{}}}}}}`, "hits.hits",
		`[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"fields":{"author":["ann"]},"inner_hits":{"m":{"hits":{"hits":[{"_id":"1","_index":"one","_score":null,"_source":{"_contenttype":"post"},"highlight":{"text":["one fine <em>day</em>"]},"sort":["1"]}],"max_score":null,"total":{"relation":"eq","value":2}}}},"sort":["1"]}]`},
}
