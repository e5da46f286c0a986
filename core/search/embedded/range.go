package embedded

import (
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func (v *view) rangeClause(q *search.Range, sp *space) (op, error) {
	out := roaring.New()
	var failed error
	strings := false
	for _, f := range v.families(sp, q.Field) {
		if !f.field.Family.Numeric() {
			strings = true
			if err := v.spanned(f, q, out); err != nil {
				return nil, err
			}
			continue
		}
		b, err := f.field.Span(q, v.run.now)
		if err != nil {
			failed = err
			continue
		}
		out.Or(f.where(b.Holds))
	}
	if failed != nil && !strings {
		return nil, problem.Field(problem.Invalid, q.Path, "range on %s: %s", q.Field, failed)
	}
	return &constant{out, float32(q.Boost)}, nil
}

// spanned adds the objects with a term between the bounds, in byte order.
func (v *view) spanned(f *family, q *search.Range, out *roaring.Bitmap) error {
	all := f.dict.order()
	from := sort.Search(len(all), func(i int) bool {
		t := f.dict.term(all[i])
		return (q.GT == nil || t > q.GT.Text) && (q.GTE == nil || t >= q.GTE.Text)
	})
	for i, ord := range all[from:] {
		if i&1023 == 1023 && v.run.ctx.Err() != nil {
			return v.run.ctx.Err()
		}
		t := f.dict.term(ord)
		if q.LT != nil && t >= q.LT.Text || q.LTE != nil && t > q.LTE.Text {
			break
		}
		f.at(ord).into(out)
	}
	return nil
}
