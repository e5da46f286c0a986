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

// random compares the engine with the oracle. Documents are written, replaced
// and deleted in two indices between the requests.
func random(t *testing.T, factory subject) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := &comparison{bench: newBench(t, factory), gen: gen{rand.New(rand.NewPCG(seed, 7))}, docs: map[string]map[search.Key][]byte{}}
			for _, name := range []string{"ix1", "ix2"} {
				c.index(name, randomSettings())
				c.docs[name] = map[search.Key][]byte{}
			}
			for round := range 5 {
				c.write("ix1", 50)
				c.write("ix2", 20+round)
				for range 60 {
					if c.one(); t.Failed() {
						return
					}
				}
			}
		})
	}
}

type comparison struct {
	*bench
	gen
	docs map[string]map[search.Key][]byte
}

func (c *comparison) write(index string, n int) {
	var ops []search.Op
	for range n {
		key := search.Key{Type: []string{"page", "page", "note"}[c.IntN(3)], OUUID: fmt.Sprint(c.IntN(70))}
		name := key.Type + ":" + key.OUUID
		if c.IntN(4) == 0 {
			delete(c.docs[index], key)
			ops = append(ops, c.op(name, ""))
			continue
		}
		raw := c.doc(key.Type)
		c.docs[index][key] = raw
		ops = append(ops, c.op(name, string(raw)))
	}
	if err := c.e.Apply(c.t.Context(), index, ops); err != nil {
		c.t.Fatal(err)
	}
	if err := c.e.Refresh(c.t.Context(), index); err != nil {
		c.t.Fatal(err)
	}
}

// world builds the oracle's side of a target.
func (c *comparison) world(t search.Target) *world {
	w := &world{}
	for _, index := range t.Indices {
		for key, raw := range c.docs[index] {
			o := oracleDoc(index, key, raw)
			w.all = append(w.all, o)
			if t.Types == nil || slices.Contains(t.Types, key.Type) {
				w.visible = append(w.visible, o)
			}
		}
	}
	return w
}

// one makes a random request and compares the answers.
func (c *comparison) one() {
	tgt := search.Target{Indices: [][]string{{"ix1"}, {"ix2"}, {"ix1", "ix2"}}[c.IntN(3)], Types: [][]string{nil, nil, {"page"}, {"note"}, {}}[c.IntN(5)]}
	q, aggs := c.query("", 3), c.aggs("", []int{2, 3, 3, 5}[c.IntN(4)])
	post := jm{}
	if c.IntN(4) == 0 {
		post = c.query("", 1)
	}
	request := jm{"queryArray": q, "aggs": aggs, "size": 500, "postFilter": post}
	sort := c.sort()
	if sort != nil {
		request["sort"] = sort
	}
	raw, err := json.Marshal(request)
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := c.search(tgt, string(raw))
	if errors.Is(err, errRefused) {
		return
	}
	if err != nil {
		c.t.Errorf("%v %s: %v", tgt, raw, err)
		return
	}
	w := c.world(tgt)
	var hits, shown []*obj
	scores := map[string]float64{}
	for _, o := range w.visible {
		if ok, s := w.eval(q, o); ok {
			hits = append(hits, o)
			if ok, _ := w.eval(post, o); ok {
				shown = append(shown, o)
				scores[o.index+"/"+o.typ+":"+o.id] = s
			}
		}
	}
	c.compareHits(string(raw), out, scores, sort)
	if sort != nil && !c.t.Failed() {
		c.compareOrder(string(raw), out, shown, sort)
	}
	want := w.aggs(aggs, hits)
	got, _ := answer(out)["aggregations"].(map[string]any)
	if diff := differ("aggs", plainTops(any(got)), any(want)); diff != "" {
		c.t.Errorf("%v %s: %s", tgt, raw, diff)
	}
}

func (c *comparison) compareHits(request string, out *search.Response, scores map[string]float64, sort []any) {
	got := map[string]float64{}
	last := math.Inf(1)
	for _, h := range out.Hits {
		s := math.NaN()
		if h.Score != nil {
			s = *h.Score
		}
		got[h.Index+"/"+h.Key.Type+":"+h.Key.OUUID] = s
		if sort == nil && s > last {
			c.t.Errorf("%s: scores are not in order", request)
		}
		last = s
	}
	if int(out.Total) != len(scores) || len(out.Hits) != len(scores) {
		c.t.Errorf("%s:\n got %d (total %d) %v\nwant %d %v", request, len(got), out.Total, slices.Sorted(maps.Keys(got)), len(scores), slices.Sorted(maps.Keys(scores)))
		return
	}
	for id, want := range scores {
		s, ok := got[id]
		if !ok || sort == nil && !c.OwnScores && !near(s, want) {
			c.t.Errorf("%s: %s scores %v, want %v (there: %v)", request, id, s, want, ok)
			return
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Max(1, math.Abs(b)) }

// differ gives the first difference of two answers.
func differ(path string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			break
		}
		for k := range w {
			if d := differ(path+"."+k, g[k], w[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), g[i], w[i]); d != "" {
				return d
			}
		}
		return ""
	case float64:
		if g, ok := got.(float64); ok && (near(g, w) || math.Abs(g-w) < 1e-9*math.Abs(w)) {
			return ""
		}
	default:
		if got == want {
			return ""
		}
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	return fmt.Sprintf("%s:\n got %s\nwant %s", path, a, b)
}
