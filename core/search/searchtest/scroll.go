package searchtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// scrolls is about pages of one moment, while the index changes in every way it
// can.
func scrolls(t *testing.T, factory subject) {
	t.Run("Pages", func(t *testing.T) { scrollPages(t, factory) })
	if factory.LiveScrolls {
		t.Run("Live", func(t *testing.T) { scrollLive(t, factory) })
	} else {
		t.Run("OneMoment", func(t *testing.T) { scrollMoment(t, factory) })
	}
	t.Run("Resumed", func(t *testing.T) { scrollResumed(t, factory) })
	t.Run("Rights", func(t *testing.T) { scrollRights(t, factory) })
	t.Run("Refused", func(t *testing.T) { scrollRefused(t, factory) })
}

func (b *bench) scroll(t search.Target, object string) search.Cursor {
	b.t.Helper()
	r, err := dsl.Parse([]byte(object))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Now = now
	c, err := b.e.Scroll(b.t.Context(), t, r)
	if err != nil {
		b.t.Fatalf("%s: %v", object, err)
	}
	return c
}

// page gives the total and the ids of the next page: "5: a b".
func (b *bench) page(c search.Cursor, types ...string) string {
	b.t.Helper()
	out, err := c.Next(b.t.Context(), types)
	if err != nil {
		b.t.Fatal(err)
	}
	ids := make([]string, len(out.Hits))
	for i, h := range out.Hits {
		ids[i] = h.Key.OUUID
	}
	return strings.TrimSpace(fmt.Sprintf("%d: %s", out.Total, strings.Join(ids, " ")))
}

// rest gives the sources of all pages that are left, sorted.
func (b *bench) rest(c search.Cursor) []string {
	b.t.Helper()
	var all []string
	for {
		out, err := c.Next(b.t.Context(), nil)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(out.Hits) == 0 {
			slices.Sort(all)
			return all
		}
		for _, h := range out.Hits {
			all = append(all, string(h.Source))
		}
	}
}

func numbered(from, to int, format string) (docs [][2]string) {
	for i := from; i < to; i++ {
		raw := ""
		if format != "" {
			raw = fmt.Sprintf(format, i)
		}
		docs = append(docs, [2]string{fmt.Sprintf("page:%d", i), raw})
	}
	return docs
}

func scrollPages(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{}, numbered(0, 5, `{"n":%d}`)...)
	b.index("two", search.Settings{}, numbered(5, 7, `{"n":%d}`)...)
	b.index("none", search.Settings{})
	for _, c := range []struct {
		indices []string
		object  string
		want    []string
	}{
		{[]string{"one"}, `{"size":2}`, []string{"5: 0 1", "5: 2 3", "5: 4", "5:", "5:"}},
		{[]string{"one"}, `{"size":5}`, []string{"5: 0 1 2 3 4", "5:"}},
		{[]string{"one"}, `{"size":50000}`, []string{"5: 0 1 2 3 4", "5:"}},
		{[]string{"one", "two"}, `{"size":4}`, []string{"7: 0 1 2 3", "7: 4 5 6", "7:"}},
		{[]string{"two", "none", "one"}, `{"size":3,"query":{"range":{"n":{"gte":4}}}}`, []string{"3: 4 5 6", "3:"}},
		{[]string{"one"}, `{"size":2,"post_filter":{"terms":{"n":[1,2,3]}}}`, []string{"3: 1 2", "3: 3", "3:"}},
		{[]string{"one"}, `{"size":2,"contentTypes":["other"]}`, []string{"0:", "0:"}},
		{[]string{"none"}, `{}`, []string{"0:"}},
		{nil, `{}`, []string{"0:"}},
	} {
		cursor := b.scroll(search.Target{Indices: c.indices}, c.object)
		got := make([]string, len(c.want))
		for i := range got {
			got[i] = b.page(cursor)
		}
		if want := b.ordered(c.want); !slices.Equal(b.ordered(got), want) {
			t.Errorf("%s: %q, want %q", c.object, got, want)
		}
		if !cursor.Done() {
			t.Errorf("%s: not done at the end", c.object)
		}
	}
	b.index("texts", search.Settings{}, [2]string{"page:a", `{"t":"red stone"}`}, [2]string{"page:b", `{"t":"grey stone"}`})
	marked := b.scroll(target("texts"), `{"size":1,"query":{"match":{"t":"stone"}},"highlight":{"fields":{"t":[]}}}`)
	both := ""
	for range 2 {
		out, err := marked.Next(t.Context(), nil)
		if err != nil || len(out.Hits) != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
		both += string(out.AppendJSON(nil))
	}
	for _, want := range []string{"red <em>stone</em>", "grey <em>stone</em>"} {
		if !strings.Contains(both, want) {
			t.Errorf("%s is not in %s", want, both)
		}
	}
	cursor := b.scroll(target("one"), `{"size":1,"sources":["m"],"aggs":{"a":{"max":{"field":"n"}}}}`)
	for i, want := range []int{1, 0} {
		out, err := cursor.Next(t.Context(), nil)
		if err != nil || len(out.Aggs) != want || out.Hits[0].Score != nil || string(out.Hits[0].Source) != `{"_contenttype":"page"}` {
			t.Errorf("page %d: %+v, %v", i, out, err)
		}
	}
}

// ordered gives pages as they are compared. If the order is the engine's own,
// how many hits each has and all ids together count.
func (b *bench) ordered(pages []string) []string {
	if !b.OwnOrder {
		return pages
	}
	var out, ids []string
	for _, p := range pages {
		total, list, _ := strings.Cut(p, ":")
		found := strings.Fields(list)
		ids = append(ids, found...)
		out = append(out, fmt.Sprintf("%s: %d", total, len(found)))
	}
	slices.Sort(ids)
	return append(out, ids...)
}

// scrollLive writes between the pages of a scroll: what stays is given once,
// what is new or other may be given once, what is gone is not.
func scrollLive(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{}, numbered(0, 100, `{"n":%d}`)...)
	cursor := b.scroll(target("one"), `{"size":7}`)
	first := b.page(cursor)
	b.apply("one", numbered(0, 30, `{"n":%d,"new":true}`)...)
	b.apply("one", numbered(90, 100, "")...)
	b.apply("one", numbered(100, 150, `{"n":%d}`)...)
	times := map[string]int{}
	given := strings.Fields(strings.TrimPrefix(first, "100:"))
	for !cursor.Done() {
		page := b.page(cursor)
		given = append(given, strings.Fields(strings.TrimPrefix(page, "100:"))...)
	}
	for _, id := range given {
		times[id]++
	}
	for i := range 150 {
		id := fmt.Sprint(i)
		switch n := times[id]; {
		case n > 1, i < 90 && n != 1:
			t.Errorf("document %d was given %d times", i, n)
		case i >= 90 && i < 100 && n > 0 && !strings.Contains(" "+first+" ", " "+id+" "):
			t.Errorf("document %d was given after it was deleted", i)
		}
	}
}

// scrollResumed continues each page from nothing but the place of the one
// before, if the engine can.
func scrollResumed(t *testing.T, factory subject) {
	b := newBench(t, factory)
	engine, ok := b.e.(search.Resumer)
	if !ok {
		return
	}
	docs := numbered(0, 40, `{"n":%d,"t":"red stone","k":[{"a":1},{"a":2}]}`)
	settings := search.Settings{Types: map[string][]search.Field{"page": {{Path: "k", Kind: "nested"}}}}
	b.index("one", settings, docs[:25]...)
	b.index("two", settings, docs[25:]...)
	b.index("none", search.Settings{})
	for _, object := range []string{
		`{"size":4}`, `{"size":100}`, `{"size":3,"query":{"range":{"n":{"gte":10}}},"post_filter":{"match_phrase":{"t":"red stone"}}}`,
		`{"size":4,"query":{"nested":{"path":"k","query":{"bool":{"must_not":[{"term":{"k.a":3}}]}}}}}`,
		`{"size":4,"query":{"range":{"d":{"lte":"now"}}}}`, `{"size":4,"query":{"prefix":{"t":"st"}}}`,
	} {
		r, err := dsl.Parse([]byte(object))
		if err != nil {
			t.Fatal(err)
		}
		r.Now = now
		names := []string{"one", "two", "none"}
		want := b.rest(b.scroll(target(names...), object))
		cursor, err := b.e.Scroll(t.Context(), target(names...), r)
		if err != nil {
			t.Fatalf("%s: %v", object, err)
		}
		var got []string
		for {
			out, err := cursor.Next(t.Context(), nil)
			if err != nil {
				t.Fatalf("%s: %v", object, err)
			}
			if len(out.Hits) == 0 {
				break
			}
			if out.Total != int64(len(want)) || out.Shards != 3 {
				t.Errorf("%s: a total of %d from %d indices", object, out.Total, out.Shards)
			}
			for _, h := range out.Hits {
				got = append(got, string(h.Source))
			}
			place, err := cursor.(search.Portable).Place()
			if err != nil {
				t.Fatal(err)
			}
			if cursor, err = engine.Resume(r, place); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %d documents, want %d", object, len(got), len(want))
		}
	}
	for _, place := range []string{"", "[]", "nonsense", `{"p":5}`} {
		if _, err := engine.Resume(&search.Request{Size: 1, Now: now}, []byte(place)); !problem.Is(err, problem.Invalid) {
			t.Errorf("the place %q: %v", place, err)
		}
	}
}

// scrollMoment changes everything after a scroll was opened.
func scrollMoment(t *testing.T, factory subject) {
	for _, tidy := range []bool{false, true} {
		b := newBench(t, factory)
		b.index("one", search.Settings{}, numbered(0, 100, `{"n":%d}`)...)
		var want []string
		for _, d := range numbered(0, 100, `{"n":%d}`) {
			want = append(want, d[1])
		}
		slices.Sort(want)
		early, later := b.scroll(target("one"), `{"size":7}`), b.scroll(target("one"), `{"size":30}`)
		first, err := early.Next(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b.apply("one", numbered(0, 60, `{"n":%d,"new":true}`)...) // other sources
		b.apply("one", numbered(50, 100, "")...)                  // gone
		b.apply("one", numbered(100, 200, `{"n":%d}`)...)         // more
		changed := b.scroll(target("one"), `{"size":1000}`)
		if tidy {
			early.Tidy()
			later.Tidy()
		}
		if got := b.rest(later); !slices.Equal(got, want) {
			t.Errorf("tidy %v: what was there when the scroll was opened is not what it gives: %q", tidy, got)
		}
		b.must(b.e.Drop(t.Context(), "one"))
		if tidy {
			early.Tidy()
			early.Tidy()
		}
		got := b.rest(early)
		for _, h := range first.Hits {
			got = append(got, string(h.Source))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("tidy %v: after the index is gone: %q", tidy, got)
		}
		if got := b.page(changed); !strings.HasPrefix(got, "150: ") {
			t.Errorf("a later scroll: %q", got)
		}
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func scrollRights(t *testing.T, factory subject) {
	for _, tidy := range []bool{false, true} {
		b := newBench(t, factory)
		b.index("one", search.Settings{}, [2]string{"page:a", `{}`}, [2]string{"memo:b", `{}`}, [2]string{"page:c", `{}`}, [2]string{"memo:d", `{}`}, [2]string{"page:e", `{}`})
		all := b.scroll(search.Target{Indices: []string{"one"}, Types: []string{"page", "memo"}}, `{"size":2}`)
		few := b.scroll(search.Target{Indices: []string{"one"}, Types: []string{"page"}}, `{"size":2}`)
		if tidy {
			b.must(b.e.Drop(t.Context(), "one"))
			all.Tidy()
			few.Tidy()
		}
		for _, c := range []struct {
			cursor search.Cursor
			types  []string
			want   string
		}{
			{all, []string{"page", "memo"}, "5: a b"},
			{all, []string{"page"}, "3: c e"}, // memo is not to be seen any more
			{all, []string{"page", "memo"}, "5:"},
			{few, []string{"page", "memo"}, "3: a c"}, // more rights do not open what was closed
			{few, []string{}, "0:"},
			{few, []string{"page"}, "3:"},
		} {
			if c.types == nil {
				t.Fatal("nil would mean all")
			}
			out, err := c.cursor.Next(t.Context(), c.types)
			b.must(err)
			got := fmt.Sprintf("%d:", out.Total)
			for _, h := range out.Hits {
				if c.types != nil && !slices.Contains(c.types, h.Key.Type) {
					t.Errorf("as %v: a hit of the type %s", c.types, h.Key.Type)
				}
				got += " " + h.Key.OUUID
			}
			if b.OwnOrder { // then another number of notes may be left
				got, c.want = got[:2], c.want[:2]
			}
			if got != c.want {
				t.Errorf("tidy %v, as %v: %q, want %q", tidy, c.types, got, c.want)
			}
		}
	}
}

func scrollRefused(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{}, [2]string{"page:a", `{"n":1}`})
	for _, c := range []struct {
		index string
		r     search.Request
		kind  problem.Kind
	}{
		{"one", search.Request{}, problem.Invalid},
		{"one", search.Request{Size: -1}, problem.Invalid},
		{"one", search.Request{Size: search.MaxWindow + 1}, problem.Invalid},
		{"one", search.Request{Size: 1, After: []search.Value{{}}}, problem.Invalid},
		{"nowhere", search.Request{Size: 1}, problem.NotFound},
	} {
		_, err := b.e.Scroll(t.Context(), target(c.index), &c.r)
		var p *problem.Problem
		if !errors.As(err, &p) || p.Kind != c.kind {
			t.Errorf("%+v: %v", c.r, err)
		}
	}
}
