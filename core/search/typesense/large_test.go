package typesense_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/typesense"
)

// manyDocs is more than the engine looks at by itself.
const manyDocs = 10_400

// many makes an index of many documents: i counts them, tag is one of 7, word
// of every 100th is rare, and parts are nested.
func many(t *testing.T) *typesense.Engine {
	o, _ := server(t)
	e := open(t, o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(e.Create(t.Context(), "many", search.Settings{Types: map[string][]search.Field{"page": {
		{Path: "tag", Kind: search.KindKeyword}, {Path: "code", Kind: search.KindKeyword}, {Path: "i", Kind: search.KindLong}, {Path: "at", Kind: search.KindDate},
		{Path: "both", Kind: search.KindKeyword}, {Path: "text", Kind: search.KindText}, {Path: "parts", Kind: search.KindNested}, {Path: "parts.n", Kind: search.KindLong},
	}}}))
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	var ops []search.Op
	for i := range manyDocs {
		key := search.Key{Type: "page", OUUID: fmt.Sprintf("d%05d", i)}
		word := "often"
		if i%100 == 0 {
			word += " rare"
		}
		raw := fmt.Sprintf(`{"_contenttype":"page","tag":"t%d","code":"c%05d","i":%d,"at":%q,"both":["x%d","y%d"],"text":%q,"parts":[{"n":%d},{"n":%d}]}`,
			i%7, i, i, day.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), i%3, i%4, word, i%5, i%11)
		ops = append(ops, search.Op{Key: key, Doc: &search.Doc{Key: key, Ref: int64(i), Raw: []byte(raw)}})
	}
	must(e.Apply(t.Context(), "many", ops))
	must(e.Refresh(t.Context(), "many"))
	return e
}

func parse(t *testing.T, object string) *search.Request {
	t.Helper()
	r, err := dsl.Parse([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMany searches more documents than can be scored and sorted outside of the
// server.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: it writes 10,400 documents")
	}
	e := many(t)
	target := search.Target{Indices: []string{"many"}}
	for _, c := range []struct{ object, want string }{
		{`{"sort":"i","size":2,"from":10398}`, "10400: d10398 d10399"},
		{`{"sort":{"code":"desc"},"size":2}`, "10400: d10399 d10398"},
		{`{"sort":[{"tag":"desc"},{"i":"asc"}],"size":3}`, "10400: d00006 d00013 d00020"},
		{`{"sort":[{"both":"desc"},{"i":"asc"}],"size":2}`, "10400: d00003 d00007"},
		{`{"sort":[{"both":{"order":"asc","mode":"max"}},{"i":"asc"}],"size":2}`, "10400: d00000 d00004"},
		{`{"sort":{"at":"desc"},"size":1,"query":{"range":{"at":{"lt":"2020-01-02"}}}}`, "24: d00023"},
		{`{"sort":"code","size":2,"search_after":["c09999"]}`, "10400: d10000 d10001"},
		{`{"sort":[{"tag":"asc"},{"code":"desc"}],"size":2,"search_after":["t3","c00010"]}`, "10400: d00003 d10399"},
		{`{"sort":{"i":"desc"},"size":2,"search_after":[1]}`, "10400: d00000"},
		{`{"sort":{"i":"desc"},"size":2,"search_after":[0]}`, "10400:"},
		{`{"size":2,"sort":["_score",{"i":"asc"}],"query":{"match":{"text":"often rare"}}}`, "10400: d00000 d00100"},
		{`{"size":2,"sort":["_score",{"i":"desc"}],"query":{"bool":{"must":{"match":{"text":"often"}},"should":[{"term":{"tag":"t2"}},{"match":{"text":"rare"}}]}}}`, "10400: d09900 d09200"},
		{`{"size":1,"sort":"i","query":{"nested":{"path":"parts","query":{"range":{"parts.n":{"gte":10}}}}}}`, "945: d00010"},
		{`{"size":1,"sort":"i","query":{"bool":{"must_not":{"nested":{"path":"parts","query":{"range":{"parts.n":{"lt":9}}}}}}}}`, "0:"},
		{`{"size":1,"sort":"i","query":{"wildcard":{"tag":"*3"}}}`, "1486: d00003"},
		{`{"size":1,"sort":"i","query":{"prefix":{"code":"c103"}}}`, "100: d10300"},
	} {
		out, err := e.Search(t.Context(), target, parse(t, c.object))
		if err != nil {
			t.Errorf("%s: %v", c.object, err)
			continue
		}
		got := fmt.Sprintf("%d:", out.Total)
		for _, h := range out.Hits {
			got += " " + h.Key.OUUID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.object, got, c.want)
		}
	}
	refusedOver(t, e, target)
	aggregatedOver(t, e, target)
	scrolledOver(t, e, target)
}

// refusedOver checks what is too much.
func refusedOver(t *testing.T, e *typesense.Engine, target search.Target) {
	for _, c := range []struct{ object, path string }{
		{`{"query":{"wildcard":{"code":"*7"}}}`, "query.wildcard"},
		{`{"query":{"regexp":{"code":".*7"}}}`, "query.regexp"},
		{`{"query":{"range":{"code":{"gte":"c5"}}}}`, "query.range"},
		{`{"query":{"match_phrase":{"text":{"query":"often often","slop":1}}}}`, "query"},
		{`{"sort":[{"parts.n":{"order":"asc","nested_path":"parts"}}]}`, "sort[0].parts.n"},
		{`{"sort":["tag","code","i","at"]}`, "sort[0]"},
		{`{"sort":["i"],"collapse":{"field":"tag"}}`, "sort[0]"},
		{`{"size":0,"aggs":{"c":{"terms":{"field":"code","size":5000},"aggs":{"m":{"max":{"field":"i"}}}}}}`, "aggs"},
		{`{"size":0,"aggs":{"c":{"composite":{"sources":[{"t":{"terms":{"field":"tag"}}}]}}}}`, "aggs.c.composite"},
	} {
		_, err := e.Search(t.Context(), target, parse(t, c.object))
		p := problem.From(err)
		if p.Kind != problem.Invalid || len(p.Fields) != 1 || p.Fields[0].Path != c.path || !strings.Contains(p.Fields[0].Message, "typesense") {
			t.Errorf("%s: %v", c.object, err)
		}
		plan, err := e.Explain(t.Context(), target, parse(t, c.object))
		if err != nil || len(plan.Refused) != 1 || plan.Refused[0].Path != c.path {
			t.Errorf("%s explained: %+v, %v", c.object, plan, err)
		}
	}
}

func aggregatedOver(t *testing.T, e *typesense.Engine, target search.Target) {
	for _, c := range []struct{ object, want string }{
		{`{"size":0,"aggs":{"a":{"terms":{"field":"code","size":1}}}}`, `"sum_other_doc_count":10399,"buckets":[{"key":"c00000","doc_count":1}]`},
		{`{"size":0,"aggs":{"a":{"stats":{"field":"i"}}}}`, `"count":10400,"min":0.0,"max":10399.0,"avg":5199.5,"sum":54074800.0`},
		{`{"size":0,"aggs":{"a":{"cardinality":{"field":"at"}}}}`, `"value":10400`},
		{`{"size":0,"aggs":{"a":{"date_histogram":{"field":"at","calendar_interval":"year"}}}}`, `"key":1609459200000,"doc_count":1616`},
		{`{"size":0,"aggs":{"a":{"nested":{"path":"parts"},"aggs":{"s":{"sum":{"field":"parts.n"}}}}}}`, `"doc_count":20800,"s":{"value":72785.0}`},
		{`{"size":0,"aggs":{"a":{"terms":{"field":"tag","order":{"m":"desc"},"size":1},"aggs":{"m":{"max":{"field":"i"}}}}}}`, `"key":"t4","doc_count":1486,"m":{"value":10399.0}`},
	} {
		out, err := e.Search(t.Context(), target, parse(t, c.object))
		if err != nil {
			t.Errorf("%s: %v", c.object, err)
			continue
		}
		if text := string(out.AppendJSON(nil)); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s is not in %.600s", c.object, c.want, text)
		}
	}
}

// scrolledOver reads everything, page by page.
func scrolledOver(t *testing.T, e *typesense.Engine, target search.Target) {
	cursor, err := e.Scroll(t.Context(), target, parse(t, `{"size":3000,"sources":["i"]}`))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for !cursor.Done() {
		out, err := cursor.Next(t.Context(), nil)
		if err != nil || out.Total != manyDocs {
			t.Fatalf("total %d, %v", out.Total, err)
		}
		for _, h := range out.Hits {
			if seen[h.Key.OUUID] {
				t.Errorf("%s comes twice", h.Key.OUUID)
			}
			seen[h.Key.OUUID] = true
		}
	}
	if len(seen) != manyDocs {
		t.Errorf("%d documents", len(seen))
	}
}
