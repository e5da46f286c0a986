package typesense

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// maxClauses is how many clauses are weighed where there are too many documents
// to score each: the server is given every combination of them.
const maxClauses = 6

// weighed is a clause and what it adds to the score of what it matches.
type weighed struct {
	c      cond
	weight float64
}

// approximate gives the first documents of one index by a score that the server
// can sort by: each clause adds the same to all that it matches. It is for
// more documents than can be scored here.
func (v *view) approximate(keys []search.SortKey, e entry, total int64, position []sorting.Value) ([]candidate, error) {
	if keys[0].Field != "_score" || !keys[0].Desc || position != nil {
		return nil, refuseAt(keys[0].Path, "to sort more than %d documents like this; a sort by one or two keywords, numbers or dates has no limit", maxSources)
	}
	rest, native := v.sortBy(keys[1:])
	if parts := strings.Split(rest, ","); !native || len(parts) > 2 {
		return nil, refuseAt(keys[0].Path, "to sort more than %d documents by score and these keys", maxSources)
	}
	clauses := weigh(nil, v.query, 1)
	slices.SortStableFunc(clauses, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	clauses = clauses[:min(len(clauses), maxClauses)]
	filters := make([]string, len(clauses))
	err := v.run.each(len(clauses), func(i int) error {
		c, err := v.prepare(v.root(), clauses[i].c, nil)
		if err != nil {
			return err
		}
		expr, err := v.shrink(v.root(), express(c, false))
		if err == nil {
			filters[i] = expr.String()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	e.SortBy = rest
	if eval := evalOf(clauses, filters); eval != "" {
		e.SortBy = eval + "," + rest
	}
	wanted := min(total, int64(v.run.req.From+v.run.req.Size))
	e.PerPage = int(min(maxPage, wanted))
	first, err := v.run.one(e)
	if err != nil {
		return nil, err
	}
	hits, err := v.rest(e, first.Hits, wanted)
	if err != nil {
		return nil, err
	}
	docs, err := v.documents(hits)
	if err != nil {
		return nil, err
	}
	list, err := v.candidates(keys, docs, nil)
	for i := range list {
		c := &list[i]
		c.score = 0
		for _, w := range clauses {
			if w.c.holds(c.doc.objects[0]) {
				c.score += w.weight
			}
		}
		c.vals[0] = sorting.Number(math.Round(c.score * 1000))
	}
	return list, err
}

// weigh gives the clauses that score.
func weigh(out []weighed, p op, factor float64) []weighed {
	switch p := p.(type) {
	case *sumOp:
		for _, list := range [][]op{p.must, p.should} {
			for _, k := range list {
				out = weigh(out, k, factor*p.boost)
			}
		}
		return out
	case *bestOp:
		for _, k := range p.ops {
			out = weigh(out, k, factor*p.boost)
		}
		return out
	case *lessOp:
		return weigh(out, p.positive, factor*p.boost)
	case *termOp:
		s := p.v.run.statsOf(p.sp, p.col.Field)
		return append(out, weighed{p.c, factor * p.boost * idf(s.objects, p.v.run.frequency(p.sp, p.col.Field, p.text))})
	case *phraseOp:
		return append(out, weighed{p.c, factor * p.boost * float64(len(p.words))})
	case *withinOp:
		return append(out, weighed{p.c, factor * p.boost})
	case *constantOp:
		if _, same := p.c.(all); same {
			return out
		}
		return append(out, weighed{p.c, factor * p.boost})
	}
	return out
}

// evalOf writes the sum of the clauses as a sort: the first combination that
// matches counts, so they stand with the largest sum first.
func evalOf(clauses []weighed, filters []string) string {
	type combination struct {
		text  string
		score int64
	}
	var list []combination
	for set := 1; set < 1<<len(clauses); set++ {
		var parts []string
		score := 0.0
		for i, c := range clauses {
			if set&(1<<i) != 0 {
				parts = append(parts, "("+filters[i]+")")
				score += c.weight
			}
		}
		list = append(list, combination{strings.Join(parts, " && "), int64(math.Round(math.Min(score, 1e9) * 1000))})
	}
	slices.SortStableFunc(list, func(a, b combination) int { return cmp.Compare(b.score, a.score) })
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = fmt.Sprintf("(%s):%d", c.text, max(c.score, 0))
	}
	if len(texts) == 0 {
		return ""
	}
	return "_eval([" + strings.Join(texts, ",") + "]):desc"
}
