package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// optional reads a clause, or nil from something empty.
func (p *parser) optional(n *node) (search.Query, error) {
	if n.empty() {
		return nil, nil
	}
	return p.query(n)
}

// query reads an object with one clause.
func (p *parser) query(n *node) (search.Query, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, n.bad("clauses are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	if p.clauses++; p.clauses > maxClauses {
		return nil, n.bad("more than %d clauses", maxClauses)
	}
	if n.kind != jsonx.Object || len(n.keys) != 1 {
		return nil, n.bad("an object with exactly one clause is expected")
	}
	name, body := n.keys[0], n.kids[0]
	if body.kind == jsonx.Null {
		return nil, body.bad("the clause %q must not be null", name)
	}
	o, err := open(body)
	if err != nil {
		return nil, err
	}
	q, err := p.clause(name, o)
	if err != nil {
		return nil, err
	}
	info := q.Info()
	info.Name, info.Path = name, body.path()
	return q, o.done(name)
}

func (p *parser) clause(name string, o *object) (search.Query, error) {
	switch name {
	case "match_all":
		c, err := base(o)
		return &search.MatchAll{Clause: c}, err
	case "match_none":
		c, err := base(o)
		return &search.MatchNone{Clause: c}, err
	case "bool":
		return p.boolean(o)
	case "term":
		return p.term(o)
	case "terms":
		return p.terms(o)
	case "match":
		return p.match(o)
	case "multi_match":
		return p.multiMatch(o)
	case "range":
		return p.rangeOf(o)
	case "exists":
		return p.exists(o)
	case "ids":
		return p.ids(o)
	case "nested":
		return p.nested(o)
	case "prefix":
		return p.prefix(o)
	case "wildcard":
		return p.wildcard(o)
	case "constant_score":
		return p.constantScore(o)
	case "dis_max":
		return p.disMax(o)
	}
	return nil, o.bad("the clause %q is not supported", name)
}

// base reads the boost that every clause may have.
func base(o *object) (search.Clause, error) {
	boost, err := o.float("boost", 1)
	if err == nil && (boost < 0 || boost > 1e9) {
		err = o.get("boost").bad("a boost must be between 0 and 1e9")
	}
	return search.Clause{Boost: boost}, err
}

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

func (p *parser) exists(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	field, err := o.must("field", "exists")
	return &search.Exists{Clause: c, Field: field}, err
}

func (p *parser) ids(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.IDs{Clause: c}
	n := o.get("values")
	if n == nil {
		return nil, o.bad("ids needs the parameter %q", "values")
	}
	if len(n.kids) > maxValues {
		return nil, n.bad("ids: more than %d values", maxValues)
	}
	q.Values, err = n.strings()
	return q, err
}
