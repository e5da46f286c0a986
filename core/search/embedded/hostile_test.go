package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

func single(tb testing.TB, raws map[int64][]byte, s search.Settings) *embedded.Engine {
	tb.Helper()
	e := embedded.New(func(_ context.Context, _ string, refs []int64) ([][]byte, error) {
		out := make([][]byte, len(refs))
		for i, ref := range refs {
			out[i] = raws[ref]
		}
		return out, nil
	})
	if err := e.Create(context.Background(), "one", s); err != nil {
		tb.Fatal(err)
	}
	return e
}

func upsert(ouuid string, ref int64, raw []byte) search.Op {
	k := search.Key{Type: "page", OUUID: ouuid}
	return search.Op{Key: k, Doc: &search.Doc{Key: k, Ref: ref, Raw: raw}}
}

// FuzzEngine indexes any bytes as a document and runs any bytes as a search.
// Nothing may panic, and every error must be one that a client can read.
func FuzzEngine(f *testing.F) {
	f.Add(`{"a":"x","parts":[{"n":1,"parts":{"n":2}}],"d":"2024-01-01"}`, `{"query":{"match":{"a":"x"}},"aggs":{"t":{"terms":{"field":"a.keyword"}}},"sort":["d"]}`)
	f.Add(`{"a":[1,"x",true,null,1.5,"2024-01-01"]}`, `{"query":{"range":{"a":{"gte":"a","lt":2}}},"aggs":{"t":{"terms":{"field":"a","missing":1,"min_doc_count":0},"aggs":{"s":{"stats":{"field":"a"}}}}},"sort":[{"a":{"mode":"avg"}}]}`)
	f.Add(`{"":{"":1},".":2,"a.b":"c"}`, `{"query":{"multi_match":{"query":"c","fields":["*","a*^2"]}},"sources":{"includes":["a*"],"excludes":["*.b"]}}`)
	f.Add(`{"parts":[{"n":[]},{}]}`, `{"query":{"nested":{"path":"parts","query":{"bool":{"must_not":{"exists":{"field":"parts.n"}}}}}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"r":{"reverse_nested":{}}}}}}`)
	f.Add(`{"at":[[4,50],{"lat":1,"lon":2},"u151"],"n":3,"a":"x"}`, `{"query":{"function_score":{"query":{"geo_distance":{"distance":"9km","at":"50,4"}},"functions":[{"field_value_factor":{"field":"n","missing":1}},{"gauss":{"at":{"origin":"50,4","scale":"1km"}}},{"random_score":{"field":"n","seed":7}}],"min_score":0.1}},"sort":[{"_geo_distance":{"at":[4,50],"unit":"km"}}],"track_scores":true}`)
	f.Add(`{"parts":[{"n":1,"t":"one two. Three","parts":{"n":2}}]}`, `{"query":{"nested":{"path":"parts","inner_hits":{"sort":"parts.n","highlight":{"fields":{"*":{}}}},"query":{"nested":{"path":"parts.parts","inner_hits":{},"query":{"match_all":{}}}}}}}`)
	f.Add(`{"a":"x","n":1}`, `{"collapse":{"field":"n","inner_hits":[{"name":"i","size":2},{"name":"j","sort":"a.keyword"}]},"min_score":0.5,"track_total_hits":1}`)
	f.Add(`{"a":"some words. More words here, and more"}`, `{"query":{"match_phrase":{"a":"more words"}},"highlight":{"encoder":"html","no_match_size":5,"fields":{"a":{"type":"plain","fragment_size":3},"a*":{"boundary_scanner":"chars","fragment_size":1},"*":{"boundary_scanner":"word","highlight_query":{"prefix":{"a":"w"}}}}},"suggest":{"text":"wrods","s":{"term":{"field":"a","suggest_mode":"always"}}}}`)
	f.Add(`{"at":"180,90","a":"x"}`, `{"query":{"geo_bounding_box":{"at":{"top":1,"left":179,"bottom":-1,"right":-179}}},"aggs":{"t":{"terms":{"field":"at"}}},"sort":["a.keyword"]}`)
	settings := search.Settings{Types: map[string][]search.Field{"page": {{Path: "parts", Kind: search.KindNested}, {Path: "parts.parts", Kind: search.KindNested}, {Path: "at", Kind: search.KindGeoPoint}}}}
	f.Fuzz(func(t *testing.T, doc, object string) {
		start := time.Now()
		defer func() {
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		}()
		e := single(t, map[int64][]byte{1: []byte(doc), 2: []byte(`{"a":"y","parts":{"n":3}}`)}, settings)
		e.MergeEarly(1)
		ops := []search.Op{upsert("1", 1, []byte(doc)), upsert("2", 2, []byte(`{"a":"y","parts":{"n":3}}`)), upsert("1", 1, []byte(doc))}
		if err := e.Apply(context.Background(), "one", ops); err != nil && !problem.Is(err, problem.Invalid) {
			t.Fatal(err)
		}
		r, err := dsl.Parse([]byte(object))
		if err != nil {
			return
		}
		out, err := e.Search(context.Background(), one, r)
		if err != nil {
			if !problem.Is(err, problem.Invalid) {
				t.Fatal(err)
			}
			return
		}
		out.AppendJSON(nil)
		n, err := e.Count(context.Background(), one, r)
		if err != nil || r.PostFilter == nil && n != out.Total {
			t.Errorf("counted %d of %d, %v", n, out.Total, err)
		}
	})
}

// Documents that are large in one respect must cost in proportion.
func TestHostileDocuments(t *testing.T) {
	const n = 100_000
	var keys, objects strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, `"k%d":%d,`, i, i)
		fmt.Fprintf(&objects, `{"n":%d},`, i)
	}
	docs := map[int64][]byte{
		1: []byte(`{"list":[` + strings.Repeat(`"x",`, n) + `"y"]}`),
		2: []byte(`{"list":[` + strings.Repeat(`1,`, n) + `2]}`),
		3: []byte(`{"parts":[` + strings.TrimSuffix(objects.String(), ",") + `]}`),
		4: []byte(`{` + strings.TrimSuffix(keys.String(), ",") + `}`),
		5: []byte(`{"text":"` + strings.Repeat("word ", n) + `"}`),
		6: []byte(`{"text":"` + strings.Repeat("a", 10*n) + `"}`),
		7: []byte(`{"deep":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100) + `}`),
	}
	e := single(t, docs, search.Settings{Types: map[string][]search.Field{"page": {{Path: "parts", Kind: search.KindNested}}}})
	start := time.Now()
	for range 3 {
		for ref, raw := range docs {
			if err := e.Apply(context.Background(), "one", []search.Op{upsert(fmt.Sprint(ref), ref, raw)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, object := range []string{
		`{"sort":["list"],"aggs":{"a":{"terms":{"field":"list"},"aggs":{"s":{"stats":{"field":"list"}}}},"b":{"terms":{"field":"list.keyword"}}}}`,
		`{"query":{"nested":{"path":"parts","query":{"range":{"parts.n":{"gte":5}}}}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"r":{"reverse_nested":{}}}}},"sort":[{"parts.n":{"nested_path":"parts"}}]}`,
		`{"query":{"wildcard":{"text":"*a*a*a*a*a*b"}}}`,
		`{"query":{"multi_match":{"query":"word","fields":["te*","li*"]}}}`,
	} {
		r, err := dsl.Parse([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Search(context.Background(), one, r); err != nil {
			t.Errorf("%s: %v", object, err)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if h := e.Health(context.Background()); h != "yellow" {
		t.Errorf("with fields left out, health is %s", h)
	}
}

// Terms in terms that would make too many buckets are refused.
func TestTooManyBuckets(t *testing.T) {
	raw := []byte(`{"n":[0`)
	for i := range 300 {
		raw = fmt.Appendf(raw, ",%d", i)
	}
	docs := map[int64][]byte{1: append(raw, "]}"...)}
	e := single(t, docs, search.Settings{})
	if err := e.Apply(context.Background(), "one", []search.Op{upsert("1", 1, docs[1])}); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[string]bool{"200": true, "300": false} {
		r, err := dsl.Parse([]byte(`{"size":0,"aggs":{"a":{"terms":{"field":"n","size":` + size + `},"aggs":{"b":{"terms":{"field":"n","size":` + size + `}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = e.Search(context.Background(), one, r); (err == nil) != want || err != nil && !problem.Is(err, problem.Invalid) {
			t.Errorf("size %s: %v", size, err)
		}
	}
}

// A document is a hit in each of its buckets, so a few documents with many
// values could fill the memory with hits and their sources.
func TestTooManyTopHits(t *testing.T) {
	raw := []byte(`{"n":[0`)
	for i := range 100 {
		raw = fmt.Appendf(raw, ",%d", i)
	}
	raw = append(raw, "]}"...)
	docs := map[int64][]byte{}
	var ops []search.Op
	for i := range int64(30) {
		docs[i] = raw
		ops = append(ops, upsert(fmt.Sprint(i), i, raw))
	}
	e := single(t, docs, search.Settings{})
	if err := e.Apply(context.Background(), "one", ops); err != nil {
		t.Fatal(err)
	}
	for hits, want := range map[string]bool{`"size":20`: true, `"size":20,"from":10`: true, `"size":21`: false, `"size":100`: false} {
		r, err := dsl.Parse([]byte(`{"size":0,"aggs":{"a":{"terms":{"field":"n","size":100},"aggs":{"b":{"terms":{"field":"n","size":100},"aggs":{"c":{"top_hits":{"_source":false,` + hits + `}}}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Search(context.Background(), one, r)
		if p := problem.From(err); (err == nil) != want || err != nil && (p.Kind != problem.Invalid || p.Fields[0].Path != "aggs.a.aggs.b.aggs.c.top_hits") {
			t.Errorf("%s: %v", hits, err)
		}
	}
}
