package embedded_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/search/dsl"
)

// patience is a context whose time is over when it was asked often enough.
type patience struct {
	context.Context
	left  int64
	asked atomic.Int64
}

func (p *patience) Err() error {
	if p.asked.Add(1) > p.left {
		return context.DeadlineExceeded
	}
	return nil
}

// A search whose time is over says so wherever it is, and never gives what it
// has found so far. Long loops ask often enough.
func TestDeadline(t *testing.T) {
	e, _ := loaded(t)
	for _, c := range []struct {
		object string
		least  int64 // how often it has to ask
	}{
		{`{"query":{"wildcard":{"body":"*9*"}}}`, 10},
		{`{"query":{"regexp":{"body":".*9.*"}}}`, 50},
		{`{"query":{"range":{"body":{"gte":"word"}}}}`, 10},
		{`{"query":{"fuzzy":{"body":"word11"}}}`, 3},
		{`{"query":{"match_phrase":{"body":"word0 word1"}}}`, 3},
		{`{"query":{"match_phrase":{"body":{"query":"word0 word1 word2","slop":10}}},"size":0}`, 3},
		{`{"size":0,"aggs":{"s":{"terms":{"field":"section"},"aggs":{"a":{"avg":{"field":"price"}}}}}}`, 10},
		{`{"size":0,"aggs":{"d":{"date_histogram":{"field":"date","calendar_interval":"day"},"aggs":{"a":{"avg":{"field":"price"}}}}}}`, 100},
		{`{"size":0,"aggs":{"c":{"composite":{"size":50,"sources":[{"s":{"terms":{"field":"section"}}},{"t":{"terms":{"field":"status"}}}]}}}}`, 10},
		{`{"size":0,"aggs":{"h":{"top_hits":{}}}}`, 3},
		{`{"size":0,"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"t":{"terms":{"field":"parts.name"},"aggs":{"r":{"reverse_nested":{}}}}}}}}`, 10},
		{`{"from":5000,"sort":[{"section":"asc"},{"date":"desc"}]}`, 3},
	} {
		r, err := dsl.Parse([]byte(c.object))
		if err != nil {
			t.Fatal(err)
		}
		whole := &patience{Context: context.Background(), left: 1 << 40}
		if _, err := e.Search(whole, one, r); err != nil {
			t.Fatalf("%s: %v", c.object, err)
		}
		n := whole.asked.Load()
		if n < c.least {
			t.Errorf("%s: asked %d times whether there is time left, want %d or more", c.object, n, c.least)
		}
		for left := int64(0); left < n; left += 1 + n/40 {
			p := &patience{Context: context.Background(), left: left}
			out, err := e.Search(p, one, r)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: after %d of %d questions: %v, %v", c.object, left, n, out, err)
				break
			}
			if more := p.asked.Load() - left; more > 64 {
				t.Errorf("%s: went on for %d questions after the end", c.object, more)
				break
			}
		}
	}
}
