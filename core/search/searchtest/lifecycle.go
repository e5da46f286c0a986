package searchtest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func lifecycle(t *testing.T, factory subject) {
	b := newBench(t, factory)
	ctx := t.Context()
	b.index("one", search.Settings{}, [2]string{"page:1", `{"a":1}`})
	b.index("two", search.Settings{})

	if err := b.e.Create(ctx, "one", search.Settings{}); !problem.Is(err, problem.Conflict) {
		t.Errorf("a second Create: %v", err)
	}
	for name, err := range map[string]error{
		"Apply":     b.e.Apply(ctx, "nope", nil),
		"Drop":      b.e.Drop(ctx, "nope"),
		"Refresh":   b.e.Refresh(ctx, "nope"),
		"Configure": b.e.Configure(ctx, "nope", search.Settings{}),
		"SetAlias":  b.e.SetAliases(ctx, []search.AliasAction{{Alias: "x", Index: "nope"}}),
	} {
		if !problem.Is(err, problem.NotFound) {
			t.Errorf("%s of an unknown index: %v", name, err)
		}
	}
	if _, err := b.search(target("nope"), `{}`); !problem.Is(err, problem.NotFound) {
		t.Errorf("a search of an unknown index: %v", err)
	}
	if err := b.e.Create(ctx, "three", search.Settings{Types: map[string][]search.Field{"page": {{Path: "x", Kind: "nope"}}}}); !problem.Is(err, problem.Invalid) {
		t.Errorf("an unknown kind: %v", err)
	}
	aliases(t, b)
	if got := b.e.Health(ctx); got != "green" {
		t.Errorf("health is %q", got)
	}
	if major, _, _ := strings.Cut(b.e.Version(), "."); major < "7" && len(major) == 1 {
		t.Errorf("version is %q, and clients want 7 or later", b.e.Version())
	}
	tokens, err := b.e.Analyze(ctx, "one", "english", "the running dogs")
	if err != nil || len(tokens) != 2 || tokens[1].Term != "dog" || tokens[1].Start != 12 || tokens[1].Position != 2 {
		t.Errorf("analyze: %+v, %v", tokens, err)
	}
	if err := b.e.Drop(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if list, _ := b.e.Indices(ctx); !slices.Equal(list, []string{"two"}) {
		t.Errorf("after Drop: %q", list)
	}
	if m, _ := b.e.Aliases(ctx); len(m) != 0 {
		t.Errorf("after Drop: %v", m)
	}
}

func aliases(t *testing.T, b *bench) {
	ctx := t.Context()
	set := func(actions ...search.AliasAction) error { return b.e.SetAliases(ctx, actions) }
	if err := set(search.AliasAction{Alias: "live", Index: "two"}, search.AliasAction{Alias: "live", Index: "one"}); err != nil {
		t.Fatal(err)
	}
	check := func(want map[string][]string) {
		t.Helper()
		if got, err := b.e.Aliases(ctx); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("aliases are %v, %v, want %v", got, err, want)
		}
	}
	check(map[string][]string{"live": {"one", "two"}})
	// One action that fails undoes those before it.
	if err := set(search.AliasAction{Alias: "x", Index: "one"}, search.AliasAction{Alias: "x", Index: "nope"}); !problem.Is(err, problem.NotFound) {
		t.Errorf("got %v", err)
	}
	check(map[string][]string{"live": {"one", "two"}})
	if err := set(search.AliasAction{Alias: "live", Index: "two", Remove: true}); err != nil {
		t.Fatal(err)
	}
	check(map[string][]string{"live": {"one"}})
	if err := set(search.AliasAction{Alias: "two", Index: "one"}); !problem.Is(err, problem.Conflict) {
		t.Errorf("an alias with the name of an index: %v", err)
	}
	if out := b.mustSearch(target("one", "two"), `{"query":{"term":{"_index":"live"}}}`); out.Total != 1 {
		t.Errorf("a term on _index with an alias: %d", out.Total)
	}
}

func sources(t *testing.T, factory subject) {
	b := newBench(t, factory)
	ctx := t.Context()
	raw := `{"z":1.50,"_contenttype":"page","a":{"b":[{"c":1e2,"d":"x"},{"d":"y"}],"e":{}},"t":"é\u00e9"}`
	b.index("one", search.Settings{}, [2]string{"page:1", raw}, [2]string{"page:2", `{"a":2}`}, [2]string{"note:2", `{"a":3}`})
	for _, c := range []struct{ sources, want string }{
		{`[]`, raw},
		{`["a.b.c"]`, `{"_contenttype":"page","a":{"b":[{"c":1e2}]}}`},
		{`["z","t"]`, `{"z":1.50,"_contenttype":"page","t":"é\u00e9"}`},
		{`["a.*"]`, `{"_contenttype":"page","a":{"b":[{"c":1e2,"d":"x"},{"d":"y"}],"e":{}}}`},
		{`{"excludes":["a.b"]}`, `{"z":1.50,"_contenttype":"page","a":{"e":{}},"t":"é\u00e9"}`},
		{`{"includes":["a"],"excludes":["*.d","_contenttype"]}`, `{"_contenttype":"page","a":{"b":[{"c":1e2},{}],"e":{}}}`},
		{`false`, `{"_contenttype":"page"}`},
	} {
		out := b.mustSearch(target("one"), `{"query":{"ids":{"values":["1"]}},"sources":`+c.sources+`}`)
		if len(out.Hits) != 1 || string(out.Hits[0].Source) != c.want {
			t.Errorf("sources %s: %s, want %s", c.sources, out.Hits[0].Source, c.want)
		}
	}
	h, err := b.e.Get(ctx, target("one"), "1")
	if err != nil || string(h.Source) != raw || h.Index != "one" || h.Key != (search.Key{Type: "page", OUUID: "1"}) {
		t.Errorf("get: %+v, %v", h, err)
	}
	if _, err := b.e.Get(ctx, target("one"), "3"); !problem.Is(err, problem.NotFound) {
		t.Errorf("get of nothing: %v", err)
	}
	if _, err := b.e.Get(ctx, target("one"), "2"); !problem.Is(err, problem.Conflict) {
		t.Errorf("get of two documents: %v", err)
	}
	if h, err := b.e.Get(ctx, search.Target{Indices: []string{"one"}, Types: []string{"note"}}, "2"); err != nil || h.Key.Type != "note" {
		t.Errorf("get of one of two: %+v, %v", h, err)
	}
	err = b.e.Apply(ctx, "one", []search.Op{b.op("page:8", `[1]`), b.op("page:9", `{"a":9}`), b.op("page:1", `{"a":`)})
	p := problem.From(err)
	if p.Kind != problem.Invalid || len(p.Fields) != 2 || p.Fields[0].Path != "page:8" {
		t.Errorf("documents that are no objects: %v", err)
	}
	if out := b.mustSearch(target("one"), `{}`); out.Total != 3 {
		t.Errorf("the good ones of a batch: %d", out.Total)
	}
}
