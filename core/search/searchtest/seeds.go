package searchtest

import (
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// seeds checks random scores: the same seed gives the same order whatever is
// written meanwhile, another one another order.
func seeds(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{}, numbered(0, 60, `{"n":%d}`)...)
	order := func(seed string) []string {
		t.Helper()
		out := b.mustSearch(target("one"), `{"size":60,"query":{"function_score":{"query":{"range":{"n":{"lt":60}}},"random_score":{"seed":`+seed+`},"boost_mode":"replace"}}}`)
		var ids []string
		for _, h := range out.Hits {
			if *h.Score < 0 || *h.Score >= 1 {
				t.Errorf("a random score of %v", *h.Score)
			}
			ids = append(ids, h.Key.OUUID)
		}
		if len(ids) != 60 {
			t.Fatalf("%d hits", len(ids))
		}
		return ids
	}
	first := order("7")
	b.apply("one", numbered(60, 120, `{"n":%d}`)...)
	b.apply("one", numbered(0, 30, `{"n":%d,"again":true}`)...)
	if again := order("7"); !slices.Equal(again, first) {
		t.Errorf("the same seed: %v, then %v", first, again)
	}
	if other := order(`"eight"`); slices.Equal(other, first) {
		t.Errorf("another seed gives the same order: %v", other)
	}
	sorted := slices.Clone(first)
	slices.Sort(sorted)
	if slices.Equal(sorted, first) {
		t.Errorf("no random order: %v", first)
	}
	out := b.mustSearch(target("one"), `{"size":0,"query":{"function_score":{"random_score":{"seed":3},"boost_mode":"replace","min_score":0.5}}}`)
	if out.Total < 20 || out.Total > 100 {
		t.Errorf("%d of 120 scores are above a half", out.Total)
	}
}
