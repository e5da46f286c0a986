package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

func (p *parser) boolean(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.Bool{Clause: c}
	for _, part := range []struct {
		to    *[]search.Query
		names []string
	}{
		{&q.Must, []string{"must"}}, {&q.Should, []string{"should"}},
		{&q.MustNot, []string{"must_not"}}, {&q.Filter, []string{"filter"}},
	} {
		if *part.to, err = p.clauseList(o.get(part.names...)); err != nil {
			return nil, err
		}
	}
	if q.MinShould, err = minimum(o); err != nil {
		return nil, err
	}
	if n := o.get("adjust_pure_negative"); n != nil && n.text != "true" {
		return nil, n.bad("bool supports adjust_pure_negative only as true")
	}
	return q, nil
}

// clauseList reads one clause or an array of them.
func (p *parser) clauseList(n *node) ([]search.Query, error) {
	if n.empty() {
		return nil, nil
	}
	if n.kind == jsonx.Object {
		q, err := p.query(n)
		return []search.Query{q}, err
	}
	if n.kind != jsonx.Array {
		return nil, n.bad("a clause or an array of clauses is expected")
	}
	out := make([]search.Query, 0, len(n.kids))
	for _, kid := range n.kids {
		q, err := p.query(kid)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

func minimum(o *object) (*search.Minimum, error) {
	n := o.get("minimum_should_match")
	if n == nil {
		return nil, nil
	}
	v, err := n.value()
	if err != nil {
		return nil, err
	}
	m, err := search.ParseMinimum(v.Text)
	if err != nil {
		return nil, n.bad("%s", err)
	}
	return m, nil
}

func (p *parser) nested(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.Nested{Clause: c}
	if q.Objects, err = o.must("path", "nested"); err != nil {
		return nil, err
	}
	inner := o.get("query")
	if inner == nil {
		return nil, o.bad("nested needs the parameter %q", "query")
	}
	if q.Query, err = p.optional(inner); err != nil {
		return nil, err
	}
	if _, err = o.flag("ignore_unmapped"); err != nil {
		return nil, err
	}
	if q.Inner, err = p.innerHits(o.get("inner_hits"), q.Objects); err != nil {
		return nil, err
	}
	mode, err := o.text("score_mode", "avg")
	q.ScoreMode = search.ScoreMode(mode)
	switch q.ScoreMode {
	case search.ScoreAvg, search.ScoreSum, search.ScoreMax, search.ScoreMin, search.ScoreNone:
		return q, err
	}
	return nil, o.get("score_mode").bad("score_mode must be avg, sum, max, min or none")
}

func (p *parser) constantScore(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	n := o.get("filter")
	if n.empty() {
		return nil, o.bad("constant_score needs the parameter %q", "filter")
	}
	inner, err := p.query(n)
	return &search.ConstantScore{Clause: c, Filter: inner}, err
}

func (p *parser) disMax(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.DisMax{Clause: c}
	if q.Queries, err = p.clauseList(o.get("queries")); err != nil {
		return nil, err
	}
	if len(q.Queries) == 0 {
		return nil, o.bad("dis_max needs the parameter %q", "queries")
	}
	q.TieBreaker, err = o.float("tie_breaker", 0)
	return q, err
}
