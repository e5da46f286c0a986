package embedded_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// The first page of a scroll has the aggregations, and their hits have sources.
func TestTopHitsOfScroll(t *testing.T) {
	e, _ := loaded(t)
	r, err := dsl.Parse([]byte(`{"size":2,"aggs":{"s":{"terms":{"field":"status","size":2},"aggs":{"h":{"top_hits":{"size":1,"_source":["status"]}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Scroll(context.Background(), one, r)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Next(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := out.AppendJSON(nil)
	if n := strings.Count(string(text), `"_source":{"_contenttype"`); !json.Valid(text) || n < 2 {
		t.Errorf("%d sources in %s", n, text)
	}
}

// The sources of nested hits are found at any depth, through plain objects and
// lists of them.
func TestNestedTopHits(t *testing.T) {
	raw := []byte(`{"_contenttype":"p","x":[{"a":1},{"c":[{"m":[{"k":"q"}]},{"m":{"k":"r"}}]},{"c":{"n":2,"m":[null,{"k":"s"},{"k":"t","deep":{"v":[1]}}]}}]}`)
	settings := search.Settings{Types: map[string][]search.Field{"p": {
		{Path: "x.c", Kind: search.KindNested}, {Path: "x.c.m", Kind: search.KindNested}, {Path: "x.c.m.k", Kind: search.KindKeyword},
	}}}
	e := single(t, map[int64][]byte{7: raw}, settings)
	key := search.Key{Type: "p", OUUID: "1"}
	if err := e.Apply(context.Background(), "one", []search.Op{{Key: key, Doc: &search.Doc{Key: key, Ref: 7, Raw: raw}}}); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{
		"q": `"_nested":{"field":"x.c","offset":0,"_nested":{"field":"m","offset":0}},"_index":"one","_id":"1","_score":1.0,"_source":{"k":"q"}}`,
		"r": `"_nested":{"field":"x.c","offset":1,"_nested":{"field":"m","offset":0}},"_index":"one","_id":"1","_score":1.0,"_source":{"k":"r"}}`,
		"t": `"_nested":{"field":"x.c","offset":2,"_nested":{"field":"m","offset":1}},"_index":"one","_id":"1","_score":1.0,"_source":{"k":"t","deep":{"v":[1]}}}`,
	} {
		r, err := dsl.Parse([]byte(`{"size":0,"aggs":{"n":{"nested":{"path":"x.c.m"},"aggs":{"f":{"filter":{"term":{"x.c.m.k":"` + k + `"}},"aggs":{"h":{"top_hits":{}}}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Search(context.Background(), one, r)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(out.AppendJSON(nil)); !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", k, text, want)
		}
	}
}
