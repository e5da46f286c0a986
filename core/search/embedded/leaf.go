package embedded

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

const indexField = mapping.IndexField

func (v *view) term(q *search.Term, sp *space) (op, error) {
	if q.Field == indexField {
		return v.index(sp, q.Boost, func(name string) bool { return name == q.Value.Text }), nil
	}
	var ops []op
	for _, f := range v.families(sp, q.Field) {
		if q.CaseInsensitive && !f.field.Family.Numeric() {
			set := roaring.New()
			for ord := range uint32(f.dict.size()) {
				if strings.EqualFold(f.dict.term(ord), q.Value.Text) {
					f.at(ord).into(set)
				}
			}
			ops = append(ops, &constant{set, float32(q.Boost)})
			continue
		}
		ops = append(ops, v.exactly(f, q.Value, float32(q.Boost)))
	}
	return v.either(sp, ops), nil
}

// exactly matches one value in one family.
func (v *view) exactly(f *family, value search.Value, boost float32) op {
	if f.field.Family.Numeric() {
		low, high, ok := f.field.Exactly(value, v.run.now)
		if !ok {
			return none{}
		}
		return &constant{f.between(low, high), boost}
	}
	p := f.posting(value.Text)
	if p == nil {
		return none{}
	}
	if f.field.Path == mapping.IDField {
		return &constant{p.bitmap(), boost}
	}
	return &term{v: v, f: f, p: p, text: value.Text, boost: boost}
}

// between gives the objects with a number from low to high, both included.
func (f *family) between(low, high float64) *roaring.Bitmap {
	return f.where(func(n float64) bool { return n >= low && n <= high })
}

// where gives the objects with a number that holds reports.
func (f *family) where(holds func(n float64) bool) *roaring.Bitmap {
	out := roaring.New()
	var buf [512]uint32
	n := 0
	for i := range f.nums.rows {
		for _, num := range f.nums.row(i) {
			if !holds(num) {
				continue
			}
			if n == len(buf) {
				out.AddMany(buf[:])
				n = 0
			}
			buf[n] = f.nums.object(i)
			n++
			break
		}
	}
	out.AddMany(buf[:n])
	return out
}

func (v *view) terms(q *search.Terms, sp *space) (op, error) {
	if q.Field == indexField {
		return v.index(sp, q.Boost, func(name string) bool {
			return slices.ContainsFunc(q.Values, func(w search.Value) bool { return w.Text == name })
		}), nil
	}
	out := roaring.New()
	for _, f := range v.families(sp, q.Field) {
		if !f.field.Family.Numeric() {
			for _, value := range q.Values {
				if p := f.posting(value.Text); p != nil {
					p.into(out)
				}
			}
			continue
		}
		points := map[float64]bool{}
		for _, value := range q.Values {
			low, high, ok := f.field.Exactly(value, v.run.now)
			switch {
			case ok && low == high:
				points[low] = true
			case ok:
				out.Or(f.between(low, high))
			}
		}
		if len(points) > 0 {
			out.Or(f.where(func(n float64) bool { return points[n] }))
		}
	}
	return &constant{out, float32(q.Boost)}, nil
}
