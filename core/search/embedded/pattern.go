package embedded

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/words"
)

func (v *view) prefix(q *search.Prefix, sp *space) (op, error) {
	if q.Field == indexField {
		return v.index(sp, q.Boost, func(name string) bool { return strings.HasPrefix(name, q.Value) }), nil
	}
	p := words.Prefix(q.Value)
	p.Fold = q.CaseInsensitive
	return v.expand(p, q.Field, sp, q.Boost, q.Analysis)
}

func (v *view) wildcard(q *search.Wildcard, sp *space) (op, error) {
	p := words.ParsePattern(q.Pattern)
	p.Fold = q.CaseInsensitive
	if q.Field == indexField {
		return v.index(sp, q.Boost, p.Matches), nil
	}
	return v.expand(p, q.Field, sp, q.Boost, q.Analysis)
}

// expand matches the terms of a field that a pattern matches.
func (v *view) expand(whole words.Pattern, field string, sp *space, boost float64, how search.PartAnalysis) (op, error) {
	out := roaring.New()
	whole = whole.Folded()
	for _, f := range v.families(sp, field) {
		if f.field.Family.Numeric() {
			continue
		}
		p := whole.In(f.field, how)
		literal := ""
		if !p.Fold {
			literal = p.Literal()
		}
		ords := f.dict.prefixed(literal)
		for i, ord := range ords {
			if i&1023 == 1023 && v.run.ctx.Err() != nil {
				return nil, v.run.ctx.Err()
			}
			if p.Matches(f.dict.term(ord)) {
				f.at(ord).into(out)
			}
		}
	}
	return &constant{out, float32(boost)}, nil
}
