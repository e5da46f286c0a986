package searchtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// pages walks through random documents with search_after and compares with
// what one search gives.
func pages(t *testing.T, factory subject) {
	b := newBench(t, factory)
	g := gen{rand.New(rand.NewPCG(3, 9))}
	for _, index := range []string{"one", "two"} {
		var docs [][2]string
		for i := range 40 {
			docs = append(docs, [2]string{fmt.Sprintf("page:%d", i), string(g.doc("page"))})
		}
		b.index(index, randomSettings(), docs...)
	}
	all := target("one", "two")
	for _, sort := range []string{`["_id","_index"]`, `[{"tag":"desc"},"_id","_index"]`, `[{"price":{"order":"asc","missing":"_first"}},"_id","_index"]`,
		`[{"date":{"order":"desc","missing":"2024-02-05"}},{"_id":"desc"},"_index"]`, `["_score","_id","_index"]`, `[{"date":"asc"},"_index",{"_id":"desc"}]`} {
		query := `"query":{"bool":{"should":[{"match":{"title":"apple fig"}},{"match_all":{}}]}},"sort":` + sort
		want := b.mustSearch(all, `{"size":100,`+query+`}`)
		var got []search.Hit
		after := ""
		for range 40 {
			page := b.mustSearch(all, `{"size":7,`+after+query+`}`)
			if page.Total != want.Total {
				t.Fatalf("%s: total %d, want %d", sort, page.Total, want.Total)
			}
			if len(page.Hits) == 0 {
				break
			}
			got = append(got, page.Hits...)
			hits := answer(page)["hits"].(map[string]any)["hits"].([]any)
			tuple, err := json.Marshal(hits[len(hits)-1].(map[string]any)["sort"])
			if err != nil {
				t.Fatal(err)
			}
			after = `"search_after":` + string(tuple) + `,`
		}
		if len(got) != len(want.Hits) {
			t.Fatalf("%s: %d hits on all pages, want %d", sort, len(got), len(want.Hits))
		}
		for i := range got {
			if got[i].Ref != want.Hits[i].Ref {
				t.Fatalf("%s: hit %d is %v, want %v", sort, i, got[i].Key, want.Hits[i].Key)
			}
		}
	}
}
