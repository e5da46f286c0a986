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
	case "match_phrase", "match_phrase_prefix":
		return p.matchPhrase(name, o)
	case "match_bool_prefix":
		return p.matchBoolPrefix(o)
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
	case "query_string", "simple_query_string":
		return p.queryString(name, o)
	case "fuzzy":
		return p.fuzzy(o)
	case "regexp":
		return p.regexpOf(o)
	case "boosting":
		return p.boosting(o)
	case "constant_score":
		return p.constantScore(o)
	case "dis_max":
		return p.disMax(o)
	case "function_score":
		return p.functionScore(o)
	case "geo_distance":
		return p.geoDistance(o)
	case "geo_bounding_box":
		return p.geoBox(o)
	}
	return nil, o.bad("the clause %q is not supported%s", name, meant(name, clauseNames...))
}

// clauseNames are the clauses that there are.
var clauseNames = []string{"match_all", "match_none", "bool", "term", "terms", "match", "match_phrase", "match_phrase_prefix",
	"match_bool_prefix", "multi_match", "range", "exists", "ids", "nested", "prefix", "wildcard", "query_string",
	"simple_query_string", "fuzzy", "regexp", "boosting", "constant_score", "dis_max", "function_score", "geo_distance",
	"geo_bounding_box"}

// base reads the boost that every clause may have.
func base(o *object) (search.Clause, error) {
	boost, err := o.float("boost", 1)
	if err == nil && (boost < 0 || boost > 1e9) {
		err = o.get("boost").bad("a boost must be between 0 and 1e9")
	}
	return search.Clause{Boost: boost}, err
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
