package typesense_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/typesense"
	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

func doc(key, raw string) search.Op {
	kind, ouuid, _ := strings.Cut(key, ":")
	k := search.Key{Type: kind, OUUID: ouuid}
	if raw == "" {
		return search.Op{Key: k}
	}
	return search.Op{Key: k, Doc: &search.Doc{Key: k, Ref: int64(len(raw)), Raw: []byte(raw)}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// keys gives the keys of the rows of an index, sorted, as "type:ouuid" for
// documents and the ids of nested rows behind.
func keys(t *testing.T, e *typesense.Engine, index string) []string {
	t.Helper()
	main, nested, err := e.Rows(t.Context(), index)
	must(t, err)
	slices.Sort(main)
	slices.Sort(nested)
	return append(main, nested...)
}

func nestedSettings() search.Settings {
	return search.Settings{Types: map[string][]search.Field{"page": {{Path: "items", Kind: search.KindNested}, {Path: "items.sub", Kind: search.KindNested}, {Path: "tag", Kind: search.KindKeyword}}}}
}

func TestTwoProcessesShareTheCatalog(t *testing.T) {
	ctx := t.Context()
	o, _ := server(t)
	a, b := open(t, o), open(t, o)
	must(t, a.Create(ctx, "one", search.Settings{}))
	if err := b.Create(ctx, "one", search.Settings{}); !problem.Is(err, problem.Conflict) {
		t.Errorf("the other process creates it again: %v", err)
	}
	must(t, a.Create(ctx, "two", search.Settings{}))
	must(t, a.SetAliases(ctx, []search.AliasAction{{Alias: "live", Index: "two"}, {Alias: "live", Index: "one"}}))
	must(t, a.Apply(ctx, "one", []search.Op{doc("page:1", `{"a":1}`)}))
	c := open(t, o) // a third one, or the first after a restart
	if list, err := c.Indices(ctx); err != nil || !slices.Equal(list, []string{"one", "two"}) {
		t.Errorf("indices %q, %v", list, err)
	}
	if m, err := c.Aliases(ctx); err != nil || !reflect.DeepEqual(m, map[string][]string{"live": {"one", "two"}}) {
		t.Errorf("aliases %v, %v", m, err)
	}
	if got := keys(t, c, "one"); !slices.Equal(got, []string{"page:1"}) {
		t.Errorf("documents %q", got)
	}
	must(t, c.Drop(ctx, "one"))
	if m, err := c.Aliases(ctx); err != nil || !reflect.DeepEqual(m, map[string][]string{"live": {"two"}}) {
		t.Errorf("aliases %v, %v", m, err)
	}
	if err := c.Apply(ctx, "one", nil); !problem.Is(err, problem.NotFound) {
		t.Errorf("apply to what was dropped: %v", err)
	}
}

func TestChangesOfManyProcessesAreAllKept(t *testing.T) {
	ctx := t.Context()
	o, _ := server(t)
	must(t, open(t, o).Create(ctx, "base", search.Settings{}))
	var all sync.WaitGroup
	for i := range 6 {
		e := open(t, o)
		all.Go(func() {
			for k := range 3 {
				err := e.SetAliases(ctx, []search.AliasAction{{Alias: fmt.Sprintf("alias-%d-%d", i, k), Index: "base"}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if m, err := open(t, o).Aliases(ctx); err != nil || len(m) != 18 {
		t.Errorf("%d aliases, %v: %v", len(m), err, m)
	}
}

func TestSwap(t *testing.T) {
	ctx := t.Context()
	o, _ := server(t)
	e := open(t, o)
	must(t, e.Create(ctx, "one", search.Settings{}))
	must(t, e.Apply(ctx, "one", []search.Op{doc("page:old", `{"a":1}`)}))
	if err := e.Swap(ctx, "one"); !problem.Is(err, problem.NotFound) {
		t.Errorf("a swap without a stage: %v", err)
	}
	if _, err := e.Stage(ctx, "nope", search.Settings{}); !problem.Is(err, problem.NotFound) {
		t.Errorf("a stage for nothing: %v", err)
	}
	for range 2 { // the second takes the place of the first
		staged, err := e.Stage(ctx, "one", nestedSettings())
		must(t, err)
		must(t, e.Apply(ctx, staged, []search.Op{doc("page:new", `{"items":[{"a":1},{"sub":{"b":2}}]}`)}))
		if name, err := open(t, o).Staged(ctx, "one"); err != nil || name != staged {
			t.Errorf("another process sees %q staged, %v", name, err)
		}
	}
	holds := func(e *typesense.Engine, s search.Settings, want typesense.Holdings) {
		t.Helper()
		if got, err := e.Holds(ctx, "one", s); err != nil || got != want {
			t.Errorf("it holds %+v, %v, want %+v", got, err, want)
		}
	}
	holds(e, nestedSettings(), typesense.Holdings{There: true})
	if got := keys(t, e, "one"); !slices.Equal(got, []string{"page:old"}) {
		t.Errorf("before the swap: %q", got)
	}
	must(t, e.Swap(ctx, "one"))
	if got := keys(t, e, "one"); len(got) != 4 || got[0] != "page:new" {
		t.Errorf("after the swap: %q", got)
	}
	other := open(t, o)
	holds(other, nestedSettings(), typesense.Holdings{There: true, Whole: true, Current: true})
	holds(other, search.Settings{}, typesense.Holdings{There: true, Whole: true})
	must(t, other.Configure(ctx, "one", search.Settings{}))
	holds(other, search.Settings{}, typesense.Holdings{There: true, Whole: true})
	must(t, other.Filled(ctx, "one", search.Settings{}))
	holds(other, search.Settings{}, typesense.Holdings{There: true, Whole: true, Current: true})
	refs := map[search.Key]int64{}
	must(t, other.Documents(ctx, "one", func(k search.Key, ref int64) error { refs[k] = ref; return nil }))
	if want := map[search.Key]int64{{Type: "page", OUUID: "new"}: 35}; !reflect.DeepEqual(refs, want) {
		t.Errorf("documents %v", refs)
	}
}

func TestReplaceAndDelete(t *testing.T) {
	ctx := t.Context()
	o, _ := server(t)
	e := open(t, o)
	must(t, e.Create(ctx, "one", nestedSettings()))
	big := `{"items":[{"a":1},{"a":2,"sub":[{"b":1},{"b":2}]},{"a":3}]}`
	must(t, e.Apply(ctx, "one", []search.Op{doc("page:1", big), doc("page:2", big), doc("note:1", `{"items":[{"a":1}]}`)}))
	if got := keys(t, e, "one"); len(got) != 3+10 {
		t.Errorf("%d rows: %q", len(got), got)
	}
	must(t, e.Apply(ctx, "one", []search.Op{doc("page:1", `{"items":{"a":1}}`), doc("page:1", big), doc("page:1", `{"items":{"a":4}}`)}))
	if got := keys(t, e, "one"); len(got) != 3+6 {
		t.Errorf("%d rows after one was replaced: %q", len(got), got)
	}
	must(t, e.Apply(ctx, "one", []search.Op{doc("page:2", ""), doc("page:3", ""), doc("note:1", "")}))
	if got := keys(t, e, "one"); len(got) != 2 || got[0] != "page:1" {
		t.Errorf("rows after deletions: %q", got)
	}
	many := make([]search.Op, 1200)
	for i := range many {
		many[i] = doc(fmt.Sprintf("page:%d", i), `{"tag":["x","y"],"items":{"a":1}}`)
	}
	must(t, e.Apply(ctx, "one", many))
	if got := keys(t, e, "one"); len(got) != 2400 {
		t.Errorf("%d rows", len(got))
	}
	for i := range many {
		many[i].Doc = nil
	}
	must(t, e.Apply(ctx, "one", many))
	if got := keys(t, e, "one"); len(got) != 0 {
		t.Errorf("rows after all were deleted: %q", got)
	}
}

func TestRefusedDocuments(t *testing.T) {
	ctx := t.Context()
	o, d := server(t)
	e := open(t, o)
	must(t, e.Create(ctx, "one", nestedSettings()))
	must(t, e.Apply(ctx, "one", []search.Op{doc("page:1", `{"a":1}`), doc("page:2", `{"a":1}`)}))
	err := e.Apply(ctx, "one", []search.Op{doc("page:8", `[1]`), doc("page:9", `{"a":9}`), doc("page:1", `{"a":`)})
	p := problem.From(err)
	if p.Kind != problem.Invalid || len(p.Fields) != 2 || p.Fields[0].Path != "page:8" || p.Fields[1].Path != "page:1" {
		t.Errorf("documents that are no objects: %v", err)
	}
	if got := keys(t, e, "one"); !slices.Equal(got, []string{"page:2", "page:9"}) {
		t.Errorf("the others: %q", got)
	}
	if d == nil {
		return
	}
	reject := func(part string) {
		d.Inject(double.Fault{Path: "/documents/import", RejectLine: func(line string) string {
			if strings.Contains(line, part) {
				return "Field `x` must be nicer."
			}
			return ""
		}})
	}
	reject(`"page:2"`)
	err = e.Apply(ctx, "one", []search.Op{doc("page:3", `{"a":1}`), doc("page:2", `{"a":2}`)})
	if p := problem.From(err); p.Kind != problem.Invalid || len(p.Fields) != 1 || p.Fields[0].Path != "page:2" || !strings.Contains(p.Fields[0].Message, "nicer") {
		t.Errorf("a row that the server refuses: %v", err)
	}
	if got := keys(t, e, "one"); !slices.Equal(got, []string{"page:3", "page:9"}) {
		t.Errorf("the others: %q", got)
	}
	d.Heal()
	reject(`x1"`)
	err = e.Apply(ctx, "one", []search.Op{doc("page:4", `{"items":[{"a":1}]}`), doc("page:5", `{"a":2}`)})
	if p := problem.From(err); p.Kind != problem.Invalid || len(p.Fields) != 1 || p.Fields[0].Path != "page:4" {
		t.Errorf("a nested row that the server refuses: %v", err)
	}
	if got := keys(t, e, "one"); !slices.Equal(got, []string{"page:3", "page:5", "page:9"}) {
		t.Errorf("the others: %q", got)
	}
}

// Hostile keys and values are stored and come back.
func TestHostileDocuments(t *testing.T) {
	ctx := t.Context()
	o, _ := server(t)
	e := open(t, o)
	must(t, e.Create(ctx, "one", nestedSettings()))
	ids := []string{"a`b", " x", "a,b", "[x]", "日本", "\x00", "A", "a", "x&&y||z", strings.Repeat("long", 200), strings.Repeat("long", 200) + "er"}
	var ops []search.Op
	for _, id := range ids {
		ops = append(ops, doc("page:"+id, `{"items":[{"a":1}],"n":1e300,"m":-0.0,"big":99999999999999999999,"s":"\u0000\ud800","":{"":"x"},"`+strings.Repeat("k", 900)+`":1,"id":"mine","_src":"mine","_n":"x","k_x":[1],"d":[1,1,2],"t":"`+strings.Repeat("word ", 5000)+`"}`))
	}
	must(t, e.Apply(ctx, "one", ops))
	want := make([]string, len(ids))
	for i, id := range ids {
		want[i] = "page:" + id
	}
	slices.Sort(want)
	if got := keys(t, e, "one"); len(got) != 2*len(ids) || !slices.Equal(got[:len(ids)], want) {
		t.Errorf("%d rows: %.300q", len(got), got)
	}
	for i := range ops {
		ops[i].Doc = nil
	}
	must(t, e.Apply(ctx, "one", ops[:len(ops)-1]))
	if got := keys(t, e, "one"); len(got) != 2 || got[0] != want[len(want)-1] && got[0] != "page:"+ids[len(ids)-1] {
		t.Errorf("after deletions: %.300q", got)
	}
}

func TestSweepDropsWhatWasReplaced(t *testing.T) {
	ctx := context.Background()
	o, d := server(t)
	if d == nil {
		t.Skip("it counts the collections of the double")
	}
	e := open(t, o)
	must(t, e.Create(ctx, "one", search.Settings{}))
	_, err := e.Stage(ctx, "one", search.Settings{})
	must(t, err)
	must(t, e.Swap(ctx, "one"))
	must(t, e.Drop(ctx, "one"))
	if list := dropped(d); len(list) != 0 {
		t.Errorf("%q are dropped while somebody may read them", list)
	}
	e.AgeRetired(ctx)
	e.Sweep(ctx)
	e.Sweep(ctx)
	list := dropped(d)
	if len(list) != 4 {
		t.Errorf("%q are dropped, want 4", list)
	}
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] != list[i+1]+"~n" {
			t.Errorf("%s is dropped before its rows", list[i+1])
		}
	}
}

// dropped gives the collections that were dropped, in order.
func dropped(d *double.Server) (list []string) {
	for _, r := range d.Requests() {
		if r.Method == "DELETE" && !strings.Contains(r.Path, "/documents") {
			list = append(list, r.Path)
		}
	}
	return list
}
