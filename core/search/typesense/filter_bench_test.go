package typesense

import (
	"fmt"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// BenchmarkFilter writes a filter with lists of 10,000 keywords and ids.
func BenchmarkFilter(b *testing.B) {
	f := &mapping.Field{Family: mapping.Keyword}
	var words, ids []string
	for i := range 10_000 {
		words, ids = append(words, fmt.Sprintf("value-%d", i)), append(ids, fmt.Sprintf("paged1m%d", i))
	}
	c := both(&test{f: f, column: "k_tag", terms: words}, not{amongIDs("id", ids)})
	b.ReportAllocs()
	for b.Loop() {
		if text := express(c, false).String(); len(text) < 100_000 {
			b.Fatal(text)
		}
	}
}

// BenchmarkColumns reads documents for a ranking from their columns.
func BenchmarkColumns(b *testing.B) {
	set, err := analysis.NewSet(search.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	standard, err := set.Get("")
	if err != nil {
		b.Fatal(err)
	}
	f := &mapping.Field{Path: "text", Family: mapping.Text, Analyzer: standard, Search: standard}
	n := &needs{columns: map[string]*mapping.Field{"t_text": f}}
	hit := rawHit{Document: []byte(`{"id":"paged1m1","_n":12345,"t_text":["the quick brown fox jumps over the lay dog and more words of a text"],"` + lengthColumnOf(f) + `":[14]}`)}
	hits := make([]rawHit, 250)
	for i := range hits {
		hits[i] = hit
	}
	v := &view{spaces: []*mapping.Space{{}}}
	b.ReportAllocs()
	for b.Loop() {
		if docs, err := v.parts(hits, n); err != nil || docs[0].objects[0].words["t_text"].length != 14 {
			b.Fatal(err)
		}
	}
}
