package embedded_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

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
