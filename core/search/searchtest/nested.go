package searchtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

var nestedDocs = [][2]string{
	{"p:1", `{"c":[{"color":"red","n":5,"m":[{"k":"a"},{"k":"b"}]},{"color":"blue","n":1}]}`},
	{"p:2", `{"c":[{"color":"red","n":1,"m":{"k":"b"}},{"color":"blue","n":5,"m":{"k":"a"}}]}`},
	{"p:3", `{"c":{"color":"green","n":9}}`},
	{"p:4", `{"x":1}`},
	{"q:5", `{"c":[{"color":"red","n":5},{"color":"blue","m":[{"k":"a"}]}]}`}, // not nested in this type
}

// nestedSemantics are the cases that engines most often get wrong.
func nestedSemantics(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{Types: map[string][]search.Field{"p": {
		{Path: "c", Kind: search.KindNested}, {Path: "c.color", Kind: search.KindKeyword}, {Path: "c.n", Kind: search.KindLong},
		{Path: "c.m", Kind: search.KindNested}, {Path: "c.m.k", Kind: search.KindKeyword},
	}, "q": {{Path: "c.color", Kind: search.KindKeyword}, {Path: "c.m.k", Kind: search.KindKeyword}}}}, nestedDocs...)
	in := func(q string) string { return `{"nested":{"path":"c","query":` + q + `}}` }
	red, five, blue := `{"term":{"c.color":"red"}}`, `{"range":{"c.n":{"gte":5}}}`, `{"term":{"c.color":"blue"}}`
	deep := func(k string) string { return `{"nested":{"path":"c.m","query":{"term":{"c.m.k":"` + k + `"}}}}` }
	for _, c := range []struct{ what, query, want string }{
		{"two conditions on one object", in(`{"bool":{"must":[` + red + `,` + five + `]}}`), "1"},
		{"two nested clauses, met by any objects", `{"bool":{"must":[` + in(red) + `,` + in(five) + `]}}`, "1 2"},
		{"must_not of a nested clause", `{"bool":{"must_not":[` + in(red) + `]}}`, "3 4 5"},
		{"a nested clause around must_not", in(`{"bool":{"must_not":[` + red + `]}}`), "1 2 3"},
		{"optional nested clauses", `{"bool":{"should":[` + in(red) + `,{"term":{"x":1}}]}}`, "1 2 4"},
		{"minimum_should_match over nested clauses", `{"bool":{"should":[` + in(red) + `,` + in(blue) + `,` + in(`{"term":{"c.n":9}}`) + `],"minimum_should_match":2}}`, "1 2"},
		{"any object at all", in(`{"match_all":{}}`), "1 2 3"},
		{"the second level, inside the first", in(`{"bool":{"must":[` + red + `,` + deep("a") + `]}}`), "1"},
		{"the second level, from the document", deep("a"), "1 2"},
		{"not at the second level", in(`{"bool":{"must":[` + red + `],"must_not":[` + deep("a") + `]}}`), "2"},
		{"a field of the document inside a nested clause", in(`{"term":{"x":1}}`), ""},
		{"a nested field from the document", red, "5"},
		{"a plain object is not nested", `{"bool":{"must":[` + red + `,` + blue + `]}}`, "5"},
		{"outer path inside the inner one", `{"nested":{"path":"c.m","query":` + in(red) + `}}`, ""},
		{"exists inside", in(`{"exists":{"field":"c.m"}}`), ""},
		{"exists at the second level", `{"nested":{"path":"c.m","query":{"exists":{"field":"c.m"}}}}`, "1 2"},
	} {
		out := b.mustSearch(target("one"), `{"sort":"_id","size":100,"query":`+c.query+`}`)
		var got []string
		for _, h := range out.Hits {
			got = append(got, h.Key.OUUID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
	scoreModes(t, b)
}

func scoreModes(t *testing.T, b *bench) {
	for mode, want := range map[string]float64{"sum": 6, "avg": 3, "max": 5, "min": 1, "none": 0} {
		out := b.mustSearch(target("one"), `{"query":{"bool":{"filter":{"ids":{"values":["1"]}},"must":{"nested":{"path":"c","score_mode":"`+mode+`","query":{"bool":{"should":[
			{"constant_score":{"filter":{"term":{"c.color":"red"}},"boost":5}},{"constant_score":{"filter":{"term":{"c.color":"blue"}}}}]}}}}}}}`)
		if len(out.Hits) != 1 || !b.OwnScores && *out.Hits[0].Score != want {
			t.Errorf("score_mode %s: %+v, want %v", mode, out.Hits, want)
		}
	}
}

// visibleTypes checks that documents of types that the caller may not view
// are nowhere: not in hits, totals, counts or any aggregation.
func visibleTypes(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{}, [2]string{"page:1", `{"a":"x"}`}, [2]string{"note:2", `{"a":"y"}`}, [2]string{"note:3", `{"a":"x"}`})
	object := `{"query":{"bool":{"should":[{"match_all":{}}],"must_not":{"term":{"a":"z"}}}},"sort":"_id","aggs":{
		"g":{"global":{},"aggs":{"t":{"terms":{"field":"a.keyword","min_doc_count":0}}}},
		"t":{"terms":{"field":"_contenttype","min_doc_count":0}},"c":{"cardinality":{"field":"_id"}}}}`
	for _, c := range []struct {
		types []string
		want  string
	}{
		{[]string{"page"}, `{"g":{"doc_count":1,"t":[["x",1]]},"t":[["page",1]],"c":{"value":1}}`},
		{[]string{}, `{"g":{"doc_count":0,"t":[]},"t":[],"c":{"value":0}}`},
		{[]string{"note", "other"}, `{"g":{"doc_count":2,"t":[["x",1],["y",1]]},"t":[["note",2]],"c":{"value":2}}`},
	} {
		out := b.mustSearch(search.Target{Indices: []string{"one"}, Types: c.types}, object)
		compareJSON(t, fmt.Sprint(c.types), shorten(answer(out)["aggregations"]), c.want)
		for _, h := range out.Hits {
			if len(c.types) == 0 || h.Key.Type != c.types[0] {
				t.Errorf("%v: hit %v", c.types, h.Key)
			}
		}
		if int(out.Total) != len(out.Hits) {
			t.Errorf("%v: total %d of %d hits", c.types, out.Total, len(out.Hits))
		}
		if _, err := b.e.Get(t.Context(), search.Target{Indices: []string{"one"}, Types: c.types}, "1"); (err == nil) != (len(c.types) == 1) || err != nil && !problem.Is(err, problem.NotFound) {
			t.Errorf("%v: get: %v", c.types, err)
		}
	}
}

// shorten writes buckets as pairs of key and count.
func shorten(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if list, ok := m["buckets"].([]any); ok {
		pairs := []any{}
		for _, e := range list {
			pairs = append(pairs, []any{e.(map[string]any)["key"], e.(map[string]any)["doc_count"]})
		}
		return pairs
	}
	for k := range m {
		m[k] = shorten(m[k])
	}
	return m
}

// concurrent runs writers, alias switches and readers at once. Each document
// is always there, in one version or the next, so a search must find each
// exactly once.
func concurrent(t *testing.T, factory subject) {
	b := newBench(t, factory)
	const docs, rounds = 40, 60
	ctx := t.Context()
	b.index("one", search.Settings{})
	write := func(round int) error {
		ops := make([]search.Op, docs)
		for i := range ops {
			ops[i] = b.op(fmt.Sprintf("page:%d", i), fmt.Sprintf(`{"i":%d,"round":%d,"parts":[{"w":"word%d"}],"t":"text of round %d"}`, i, round, round%7, round))
		}
		return b.e.Apply(ctx, "one", ops)
	}
	if err := write(0); err != nil {
		t.Fatal(err)
	}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		writers.Go(func() {
			for round := 1; round < rounds; round++ {
				if err := write(round); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				out, err := b.search(target("one"), `{"size":100,"query":{"match":{"t":"text"}},"aggs":{"r":{"terms":{"field":"t.keyword"}},"w":{"terms":{"field":"parts.w.keyword"}}}}`)
				if err != nil {
					t.Error(err)
					return
				}
				ids := map[string]bool{}
				for _, h := range out.Hits {
					ids[h.Key.OUUID] = true
				}
				if out.Total != docs || len(ids) != docs {
					t.Errorf("%d hits, %d documents, want %d", out.Total, len(ids), docs)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if out := b.mustSearch(target("one"), fmt.Sprintf(`{"query":{"term":{"round":%d}}}`, rounds-1)); out.Total != docs {
		t.Errorf("after the last round: %d", out.Total)
	}
}
