package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// compile binds a query to a space of an index; nil means everything.
func (v *view) compile(q search.Query, sp *mapping.Space) (op, error) {
	if q == nil {
		return &constantOp{all{}, 1}, nil
	}
	boost := q.Info().Boost
	switch q := q.(type) {
	case *search.MatchAll:
		return &constantOp{all{}, boost}, nil
	case *search.MatchNone:
		return none(), nil
	case *search.Bool:
		return v.compileBool(q, sp)
	case *search.Term:
		return v.term(q, sp)
	case *search.Terms:
		return v.terms(q, sp)
	case *search.Match:
		return v.match(q, sp)
	case *search.MatchPhrase:
		return v.matchPhrase(q, sp)
	case *search.MultiMatch:
		return v.multiMatch(q, sp)
	case *search.Range:
		return v.rangeClause(q, sp)
	case *search.Exists:
		return v.exists(q, sp), nil
	case *search.IDs:
		return v.ids(q, sp), nil
	case *search.Nested:
		return v.nested(q, sp)
	case *search.Prefix:
		return v.prefix(q, sp)
	case *search.Wildcard:
		return v.wildcard(q, sp)
	case *search.Each:
		return v.eachField(q, sp)
	case *search.Fuzzy:
		return v.fuzzy(q, sp)
	case *search.Regexp:
		return v.regexp(q, sp)
	case *search.GeoDistance:
		return v.geoDistance(q, sp)
	case *search.GeoBox:
		return v.geoBox(q, sp)
	case *search.FunctionScore:
		return v.functionScore(q, sp)
	case *search.Boosting:
		inner, err := v.compileAll([]search.Query{q.Positive, q.Negative}, sp)
		if err != nil {
			return nil, err
		}
		return &lessOp{inner[0], inner[1], q.NegativeBoost, boost}, nil
	case *search.ConstantScore:
		inner, err := v.compile(q.Filter, sp)
		if err != nil {
			return nil, err
		}
		return &constantOp{inner.cond(), boost}, nil
	case *search.DisMax:
		inner, err := v.compileAll(q.Queries, sp)
		return best(inner, q.TieBreaker, boost), err
	}
	return nil, refuseClause(q)
}

// compileAll compiles side by side, because a clause may have to ask the
// server for the terms that it stands for.
func (v *view) compileAll(list []search.Query, sp *mapping.Space) ([]op, error) {
	out := make([]op, len(list))
	err := v.run.each(len(list), func(i int) (err error) {
		out[i], err = v.compile(list[i], sp)
		return err
	})
	return out, err
}

func (v *view) compileBool(q *search.Bool, sp *mapping.Space) (op, error) {
	if len(q.Must)+len(q.Should)+len(q.MustNot)+len(q.Filter) == 0 {
		return &constantOp{all{}, q.Boost}, nil
	}
	var parts [4][]op
	lists := [4][]search.Query{q.Must, q.Should, q.MustNot, q.Filter}
	err := v.run.each(len(lists), func(i int) (err error) {
		parts[i], err = v.compileAll(lists[i], sp)
		return err
	})
	if err != nil {
		return nil, err
	}
	if q.SkipWordless {
		left := 0
		for i := range parts {
			parts[i] = slices.DeleteFunc(parts[i], func(p op) bool { return !hasWords(p) })
			left += len(parts[i])
		}
		if left == 0 {
			return wordless, nil
		}
	}
	conds := append(condsOf(parts[0]), condsOf(parts[3])...)
	conds = append(conds, need(minimum(q.MinShould, len(parts[0])+len(parts[3]), len(parts[1])), condsOf(parts[1])))
	if len(parts[2]) > 0 {
		conds = append(conds, negated(either(condsOf(parts[2])...)))
	}
	return &sumOp{c: both(conds...), must: parts[0], should: parts[1], boost: q.Boost}, nil
}

func condsOf(list []op) []cond {
	out := make([]cond, len(list))
	for i, p := range list {
		out[i] = p.cond()
	}
	return out
}

func none() op { return &constantOp{nothing{}, 0} }

// wordless is none for a text of which an analyzer left no word.
var wordless op = &constantOp{nothing{}, 0}

func hasWords(p op) bool { return p != wordless }

// best is bestOp over ops, which may be none.
func best(ops []op, tie, boost float64) op {
	if len(ops) == 0 {
		return none()
	}
	return &bestOp{c: either(condsOf(ops)...), ops: ops, tie: tie, boost: boost}
}

// anyOf matches what any of the ops matches and adds their scores.
func anyOf(ops []op) op {
	switch len(ops) {
	case 0:
		return none()
	case 1:
		return ops[0]
	}
	if !slices.ContainsFunc(ops, hasWords) {
		return ops[0]
	}
	return &sumOp{c: either(condsOf(ops)...), should: ops, boost: 1}
}

// nested looks at the objects of a path inside those of the space.
func (v *view) nested(q *search.Nested, sp *mapping.Space) (op, error) {
	spaces := v.inner(sp, q.Objects)
	ops := make([]innerOp, len(spaces))
	err := v.run.each(len(spaces), func(i int) error {
		p, err := v.compile(q.Query, spaces[i])
		ops[i] = innerOp{spaces[i], p}
		return err
	})
	if err != nil {
		return nil, err
	}
	conds := make([]cond, len(ops))
	for i, in := range ops {
		conds[i] = &having{sp, in.sp, in.op.cond()}
	}
	return &withinOp{c: either(conds...), inner: ops, mode: q.ScoreMode, boost: q.Boost}, nil
}

// inner gives the spaces of a path inside a space.
func (v *view) inner(sp *mapping.Space, path string) []*mapping.Space {
	var out []*mapping.Space
	for _, s := range v.spaces {
		if s.Path == path && lies(s, sp) {
			out = append(out, s)
		}
	}
	return out
}

// lies tells whether a space is inside another, at any depth.
func lies(inner, outer *mapping.Space) bool {
	for s := inner.Parent; s != nil; s = s.Parent {
		if s == outer {
			return true
		}
	}
	return false
}

func (v *view) exists(q *search.Exists, sp *mapping.Space) op {
	switch q.Field {
	case indexField, mapping.IDField, mapping.TypeField:
		if sp == v.root() {
			return &constantOp{all{}, q.Boost}
		}
	}
	return &constantOp{&exists{q.Field}, q.Boost}
}

func (v *view) ids(q *search.IDs, sp *mapping.Space) op {
	var list []op
	for _, c := range v.columns(sp, mapping.IDField) {
		list = append(list, &constantOp{&test{f: c.Field, column: c.Name, terms: q.Values}, q.Boost})
	}
	return best(list, 0, 1)
}

// named compiles a clause on the name of the index, which all documents of a
// view share.
func (v *view) named(sp *mapping.Space, boost float64, matches func(name string) bool) op {
	if sp == v.root() {
		for _, name := range v.names {
			if matches(name) {
				return &constantOp{all{}, boost}
			}
		}
	}
	return none()
}
