package embedded

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// compile binds a query to a space; nil means everything.
func (v *view) compile(q search.Query, sp *space) (op, error) {
	if q == nil {
		return &every{sp, 1}, nil
	}
	boost := float32(q.Info().Boost)
	switch q := q.(type) {
	case *search.MatchAll:
		return &every{sp, boost}, nil
	case *search.MatchNone:
		return none{}, nil
	case *search.Bool:
		return v.compileBool(q, sp)
	case *search.Term:
		return v.term(q, sp)
	case *search.Terms:
		return v.terms(q, sp)
	case *search.Match:
		return v.matchClause(q, sp)
	case *search.MatchPhrase:
		return v.matchPhrase(q, sp)
	case *search.MultiMatch:
		return v.multiMatch(q, sp)
	case *search.Range:
		return v.rangeClause(q, sp)
	case *search.Exists:
		return v.exists(q, sp)
	case *search.IDs:
		return v.ids(q, sp)
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
		return v.regexpClause(q, sp)
	case *search.Boosting:
		return v.boosting(q, sp)
	case *search.FunctionScore:
		return v.functionScore(q, sp)
	case *search.GeoDistance:
		return v.geoDistance(q, sp), nil
	case *search.GeoBox:
		return v.places(q.Field, q.Boost, sp, q.Box.Contains), nil
	case *search.ConstantScore:
		inner, err := v.compile(q.Filter, sp)
		if err != nil {
			return nil, err
		}
		return &constant{inner.match(), boost}, nil
	case *search.DisMax:
		inner, err := v.compileAll(q.Queries, sp)
		return &best{run: v.run, sp: sp, ops: inner, tie: float32(q.TieBreaker), boost: boost}, err
	}
	return nil, problem.Field(problem.Invalid, q.Info().Path, "the clause %q is not supported by this engine", q.Info().Name)
}

func (v *view) compileAll(list []search.Query, sp *space) ([]op, error) {
	out := make([]op, 0, len(list))
	for _, q := range list {
		o, err := v.compile(q, sp)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

func (v *view) compileBool(q *search.Bool, sp *space) (op, error) {
	o := &boolean{run: v.run, sp: sp, boost: float32(q.Boost)}
	for _, part := range []struct {
		to   *[]op
		from []search.Query
	}{{&o.must, q.Must}, {&o.should, q.Should}, {&o.mustNot, q.MustNot}, {&o.filter, q.Filter}} {
		var err error
		if *part.to, err = v.compileAll(part.from, sp); err != nil {
			return nil, err
		}
	}
	if len(o.must)+len(o.should)+len(o.mustNot)+len(o.filter) == 0 {
		return &every{sp, o.boost}, nil
	}
	if q.SkipWordless && o.skipWordless() == 0 {
		return wordless{}, nil
	}
	if q.MinShould != nil {
		o.need = q.MinShould.Of(len(o.should))
	}
	if o.need == 0 && len(o.must)+len(o.filter) == 0 && len(o.should) > 0 {
		o.need = 1
	}
	return o, nil
}

func (v *view) nested(q *search.Nested, sp *space) (op, error) {
	o := &within{run: v.run, sp: sp, mode: q.ScoreMode, boost: float32(q.Boost)}
	for _, inner := range v.seg.inside(sp, q.Objects) {
		c, err := v.compile(q.Query, inner)
		if err != nil {
			return nil, err
		}
		o.inner = append(o.inner, innerOp{inner, c})
	}
	return o, nil
}

// families gives the fields of a path in a space.
func (v *view) families(sp *space, path string) []*family {
	return v.seg.byPath[pathKey{sp.of.ID, path}]
}

func (v *view) exists(q *search.Exists, sp *space) (op, error) {
	switch q.Field {
	case "_index", mapping.IDField, mapping.TypeField:
		if sp == v.seg.root() {
			return &constant{sp.live, float32(q.Boost)}, nil
		}
	}
	var sets []*roaring.Bitmap
	for key, list := range v.seg.byPath {
		if key.space != sp.of.ID || !covers(q.Field, key.path) {
			continue
		}
		for _, f := range list {
			sets = append(sets, f.has)
		}
	}
	return &constant{roaring.FastOr(sets...), float32(q.Boost)}, nil
}

// covers tells whether path is the field or below it.
func covers(field, path string) bool {
	return len(path) >= len(field) && path[:len(field)] == field && (len(path) == len(field) || path[len(field)] == '.')
}

func (v *view) ids(q *search.IDs, sp *space) (op, error) {
	out := roaring.New()
	for _, f := range v.families(sp, mapping.IDField) {
		for _, id := range q.Values {
			if p := f.posting(id); p != nil {
				p.into(out)
			}
		}
	}
	return &constant{out, float32(q.Boost)}, nil
}

// index compiles a clause on the name of the index, which all documents of a
// view share.
func (v *view) index(sp *space, boost float64, matches func(name string) bool) op {
	if sp != v.seg.root() {
		return none{}
	}
	names := []string{v.x.name}
	for alias, members := range v.run.aliases {
		for _, m := range members {
			if m == v.x.name {
				names = append(names, alias)
			}
		}
	}
	for _, name := range names {
		if matches(name) {
			return &constant{sp.live, float32(boost)}
		}
	}
	return none{}
}

// either matches what any of the ops matches and adds their scores.
func (v *view) either(sp *space, ops []op) op {
	switch len(ops) {
	case 0:
		return none{}
	case 1:
		return ops[0]
	}
	if !slices.ContainsFunc(ops, func(p op) bool { return !isWordless(p) }) {
		return ops[0]
	}
	return &boolean{run: v.run, sp: sp, should: ops, need: 1, boost: 1}
}
