package searchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// randomInner compares inner hits of random nested clauses with the oracle.
func randomInner(t *testing.T, factory subject) {
	c := &comparison{bench: newBench(t, factory), gen: gen{rand.New(rand.NewPCG(5, 7))}, docs: map[string]map[search.Key][]byte{"ix1": {}}}
	c.index("ix1", randomSettings())
	compared := 0
	for range 3 {
		c.write("ix1", 60)
		for range 60 {
			if compared += c.inner(); t.Failed() {
				return
			}
		}
	}
	if compared < 100 && c.Refuses == nil {
		t.Errorf("only %d inner hits were compared", compared)
	}
}

// inner makes a nested clause with inner hits, of which there may be more
// inside, and compares what is given for each hit. It gives how many there are.
func (c *comparison) inner() (compared int) {
	deep := c.query("items.marks", 1)
	nested := jm{"path": "items", "inner_hits": jm{"size": 100.0}, "query": c.query("items", 1)}
	switch c.IntN(3) {
	case 0:
		nested["query"] = jm{"nested": jm{"path": "items.marks", "query": deep, "inner_hits": jm{"size": 100.0}}}
	case 1:
		nested = jm{"path": "items.marks", "inner_hits": jm{"size": 100.0}, "query": deep}
	}
	raw, err := json.Marshal(jm{"query": jm{"nested": nested}, "size": 500, "sources": false})
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := c.search(target("ix1"), string(raw))
	if errors.Is(err, errRefused) {
		return 0
	}
	if err != nil {
		c.t.Errorf("%s: %v", raw, err)
		return 0
	}
	w := c.world(target("ix1"))
	for _, o := range w.all {
		want := map[string]float64{}
		w.insideOf(want, nested, o)
		compared += len(want)
		i := slices.IndexFunc(out.Hits, func(h search.Hit) bool { return h.Key.Type == o.typ && h.Key.OUUID == o.id })
		if i < 0 {
			if len(want) > 0 {
				c.t.Errorf("%s: %s is not among the hits", raw, o.id)
			}
			continue
		}
		got := map[string]float64{}
		collectInner(got, out.Hits[i].Inner)
		c.compareInner(fmt.Sprintf("%s, hit %s", raw, o.id), got, want)
	}
	return compared
}

func (c *comparison) compareInner(what string, got, want map[string]float64) {
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		c.t.Errorf("%s: got %v, want %v", what, got, want)
		return
	}
	for at, score := range want {
		if !c.OwnScores && !near(got[at], score) {
			c.t.Errorf("%s: %s scores %v, want %v", what, at, got[at], score)
		}
	}
}

// insideOf gives the scores of the nested objects that match, by their places,
// and of those inside them that were asked for.
func (w *world) insideOf(out map[string]float64, nested jm, o *obj) {
	query := nested["query"].(jm)
	for _, k := range o.below(nested["path"].(string)) {
		ok, score := w.eval(query, k)
		if !ok {
			continue
		}
		out[k.place()] = score
		if deeper, found := query["nested"].(jm); found && deeper["inner_hits"] != nil {
			w.insideOf(out, deeper, k)
		}
	}
}

// place tells where a nested object is: "items 1 items.marks 0".
func (o *obj) place() string {
	if o.parent == nil {
		return ""
	}
	n := 0
	for _, k := range o.parent.kids {
		if k == o {
			break
		}
		if k.path == o.path {
			n++
		}
	}
	return fmt.Sprintf("%s %s %d", o.parent.place(), o.path, n)
}

// collectInner gives the scores of inner hits by their places.
func collectInner(out map[string]float64, results []search.InnerResult) {
	for _, r := range results {
		if int(r.Total) != len(r.Hits) {
			out["a wrong total"] = float64(r.Total)
		}
		for _, h := range r.Hits {
			at, path := "", ""
			for _, step := range h.Path {
				if path != "" {
					path += "."
				}
				path += step.Field
				at = fmt.Sprintf("%s %s %d", at, path, step.Offset)
			}
			out[at] = math.NaN()
			if h.Score != nil {
				out[at] = *h.Score
			}
			collectInner(out, h.Inner)
		}
	}
}
