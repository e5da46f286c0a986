package embedded_test

import (
	"context"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

// TestStageSwap builds an index beside another and puts it in its place.
func TestStageSwap(t *testing.T) {
	ctx := context.Background()
	load := func(_ context.Context, index string, refs []int64) ([][]byte, error) {
		if index != "a" {
			t.Errorf("sources of index %q were asked for", index)
		}
		out := make([][]byte, len(refs))
		for i := range out {
			out[i] = []byte(`{"title":"x"}`)
		}
		return out, nil
	}
	e := embedded.New(load)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	doc := func(id string) []search.Op {
		k := search.Key{Type: "page", OUUID: id}
		return []search.Op{{Key: k, Doc: &search.Doc{Key: k, Ref: 1, Raw: []byte(`{"title":"x"}`)}}}
	}
	count := func() int64 {
		t.Helper()
		n, err := e.Count(ctx, search.Target{Indices: []string{"a"}}, &search.Request{})
		must(err)
		return n
	}
	if _, err := e.Stage(ctx, "a", search.Settings{}); !problem.Is(err, problem.NotFound) {
		t.Fatalf("staging for an index that is not there: %v", err)
	}
	if err := e.Swap(ctx, "a"); !problem.Is(err, problem.NotFound) {
		t.Fatalf("swapping what is not staged: %v", err)
	}
	must(e.Create(ctx, "a", search.Settings{}))
	must(e.SetAliases(ctx, []search.AliasAction{{Alias: "live", Index: "a"}}))
	must(e.Apply(ctx, "a", doc("1")))
	name, err := e.Stage(ctx, "a", search.Settings{})
	must(err)
	must(e.Apply(ctx, name, append(doc("2"), doc("3")...)))
	if n := count(); n != 1 {
		t.Fatalf("%d documents before the swap, want 1", n)
	}
	must(e.Swap(ctx, "a"))
	if n := count(); n != 2 {
		t.Fatalf("%d documents after the swap, want 2", n)
	}
	out, err := e.Search(ctx, search.Target{Indices: []string{"a"}}, &search.Request{Size: 10})
	must(err)
	for _, h := range out.Hits {
		if h.Index != "a" {
			t.Errorf("a hit says it is in index %q", h.Index)
		}
	}
	indices, err := e.Indices(ctx)
	must(err)
	aliases, err := e.Aliases(ctx)
	must(err)
	if len(indices) != 1 || len(aliases["live"]) != 1 {
		t.Errorf("indices %v, aliases %v", indices, aliases)
	}
}
