package embedded

import (
	"regexp"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
)

func (v *view) regexpClause(q *search.Regexp, sp *space) (op, error) {
	pattern, err := lucene.RE2(q.Pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	flags := "s"
	if q.CaseInsensitive {
		flags = "si"
	}
	pattern = "(?" + flags + ":" + pattern + ")"
	free, err := regexp.Compile(pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	whole, err := newAutomaton(pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	if q.Field == indexField {
		return v.index(sp, q.Boost, whole.matches), nil
	}
	literal, _ := free.LiteralPrefix()
	out := roaring.New()
	for _, f := range v.families(sp, q.Field) {
		if f.field.Family.Numeric() {
			continue
		}
		for i, ord := range f.dict.prefixed(literal) {
			if i&127 == 127 && v.run.ctx.Err() != nil {
				return nil, v.run.ctx.Err()
			}
			if whole.matches(f.dict.term(ord)) {
				f.at(ord).into(out)
			}
		}
	}
	return &constant{out, float32(q.Boost)}, nil
}
