package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

const benchDocs = 10_000

var one = search.Target{Indices: []string{"one"}}

// corpus makes documents of about 1 kB with words that are as uneven as those
// of a language.
func corpus(n int) []search.Op {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 3, 20_000)
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "word%d ", zipf.Uint64())
		}
		return b.String()
	}
	ops := make([]search.Op, n)
	for i := range ops {
		key := search.Key{Type: []string{"page", "news", "label"}[i%3], OUUID: fmt.Sprintf("%08x-1111-4222-8333-444455556666", i)}
		raw := fmt.Sprintf(`{"_contenttype":%q,"title":%q,"body":%q,"section":"section %d","status":"s%d","order":%d,"price":%d.5,"date":"2024-%02d-%02dT10:00:00+01:00","on":%t,"parts":[{"name":"part%d","weight":%d},{"name":"part%d","weight":2}]}`,
			key.Type, words(8), words(70), r.IntN(40), r.IntN(5), r.IntN(1000), r.IntN(100), 1+r.IntN(12), 1+r.IntN(28), i%2 == 0, r.IntN(50), r.IntN(20), r.IntN(50))
		ops[i] = search.Op{Key: key, Doc: &search.Doc{Key: key, Ref: int64(i), Raw: []byte(raw)}}
	}
	return ops
}

func benchSettings() search.Settings {
	fields := []search.Field{
		{Path: "title", Kind: search.KindText}, {Path: "body", Kind: search.KindText}, {Path: "section", Kind: search.KindKeyword},
		{Path: "status", Kind: search.KindKeyword}, {Path: "date", Kind: search.KindDate}, {Path: "parts", Kind: search.KindNested},
		{Path: "parts.name", Kind: search.KindKeyword},
	}
	return search.Settings{Types: map[string][]search.Field{"page": fields, "news": fields, "label": fields}}
}

func loaded(tb testing.TB) (*embedded.Engine, []search.Op) {
	ops := corpus(benchDocs)
	return load(tb, ops), ops
}

func load(tb testing.TB, ops []search.Op) *embedded.Engine {
	e := embedded.New(func(_ context.Context, _ string, refs []int64) ([][]byte, error) {
		out := make([][]byte, len(refs))
		for i, ref := range refs {
			out[i] = ops[ref%int64(len(ops))].Doc.Raw
		}
		return out, nil
	})
	if err := e.Create(context.Background(), "one", benchSettings()); err != nil {
		tb.Fatal(err)
	}
	if err := e.Apply(context.Background(), "one", ops); err != nil {
		tb.Fatal(err)
	}
	e.Settle()
	return e
}

func BenchmarkBuild10k(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(corpus(1)[0].Doc.Raw) * benchDocs))
	for b.Loop() {
		loaded(b)
	}
}

func BenchmarkApplyOne(b *testing.B) {
	e, ops := loaded(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := e.Apply(context.Background(), "one", ops[i%benchDocs:i%benchDocs+1]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

var benchRequests = map[string]string{
	"TextFilterFacet":  `{"query":{"bool":{"must":{"match":{"title":"word5 word9"}},"filter":{"terms":{"_contenttype":["page","news"]}}}},"aggs":{"s":{"terms":{"field":"section"}}}}`,
	"TextFilter3Facet": `{"query":{"bool":{"must":{"match":{"body":"word5"}},"filter":{"term":{"on":true}}}},"aggs":{"s":{"terms":{"field":"section"}},"t":{"terms":{"field":"status"}},"c":{"terms":{"field":"_contenttype"}}}}`,
	"AllFacets":        `{"size":0,"aggs":{"s":{"terms":{"field":"section"}},"t":{"terms":{"field":"status"}},"c":{"terms":{"field":"_contenttype"}}}}`,
	"TermsAvg":         `{"size":0,"aggs":{"s":{"terms":{"field":"section"},"aggs":{"a":{"avg":{"field":"price"}}}}}}`,
	"NestedAgg":        `{"size":0,"query":{"term":{"status":"s1"}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"t":{"terms":{"field":"parts.name"},"aggs":{"r":{"reverse_nested":{},"aggs":{"c":{"terms":{"field":"_contenttype"}}}}}}}}}}`,
	"Sort2":            `{"sort":[{"order":"asc"},{"date":"desc"}]}`,
	"SortDeep":         `{"from":5000,"sort":[{"section":"asc"},{"date":"desc"}]}`,
	"NestedQuery":      `{"query":{"nested":{"path":"parts","query":{"bool":{"must":[{"term":{"parts.name":"part7"}},{"range":{"parts.weight":{"gte":5}}}]}}}}}`,
	"Wildcard":         `{"size":0,"query":{"wildcard":{"body":"*99"}}}`,
	"Phraseless":       `{"query":{"multi_match":{"query":"word5 word77","fields":["title^3","body"]}}}`,
}

func BenchmarkSearch(b *testing.B) {
	e, _ := loaded(b)
	for name, object := range benchRequests {
		r, err := dsl.Parse([]byte(object))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				out, err := e.Search(context.Background(), one, r)
				if err != nil {
					b.Fatal(err)
				}
				buf = out.AppendJSON(buf[:0])
			}
		})
	}
}

func BenchmarkCount(b *testing.B) {
	e, _ := loaded(b)
	r, err := dsl.Parse([]byte(`{"query":{"bool":{"must":[{"term":{"section":"section 3"}}],"must_not":[{"term":{"status":"s1"}}]}}}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Count(context.Background(), one, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	object := []byte(benchRequests["TextFilter3Facet"])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dsl.Parse(object); err != nil {
			b.Fatal(err)
		}
	}
}

// Memory that a small machine can give: next to nothing for an empty index,
// and not much more than the sources themselves for a full one.
func TestMemory(t *testing.T) {
	before := heap()
	empty := embedded.New(nil)
	if err := empty.Create(context.Background(), "one", search.Settings{}); err != nil {
		t.Fatal(err)
	}
	if used := heap() - before; used > 200<<10 {
		t.Errorf("an empty index takes %d bytes", used)
	}
	e, ops := loaded(t)
	raw := 0
	for _, op := range ops {
		raw += len(op.Doc.Raw)
	}
	used := int(heap()-before) - raw
	t.Logf("%d documents of %d bytes: the index takes %d kB", benchDocs, raw/benchDocs, used>>10)
	if used > 5*raw {
		t.Errorf("the index takes %d bytes for %d bytes of documents", used, raw)
	}
	runtime.KeepAlive(e)
	runtime.KeepAlive(empty)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
