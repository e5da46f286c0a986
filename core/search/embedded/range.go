package embedded

import (
	"errors"
	"sort"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (v *view) rangeClause(q *search.Range, sp *space) (op, error) {
	out := roaring.New()
	var failed error
	strings := false
	for _, f := range v.families(sp, q.Field) {
		if f.field.Family == mapping.Geo {
			failed = errors.New("the field has points; use geo_distance or geo_bounding_box")
			continue
		}
		if !f.field.Family.Numeric() {
			strings = true
			if err := v.spanned(f, q, out); err != nil {
				return nil, err
			}
			continue
		}
		b, err := v.bounds(f, q)
		if err != nil {
			failed = err
			continue
		}
		out.Or(f.where(b.holds))
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

// bounds are those of a range in numbers.
type bounds struct {
	low, high         float64
	hasLow, hasHigh   bool
	openLow, openHigh bool
}

func (b *bounds) holds(n float64) bool {
	if b.hasLow && (n < b.low || b.openLow && n == b.low) {
		return false
	}
	return !b.hasHigh || n < b.high || !b.openHigh && n == b.high
}

// bounds reads the bounds of a range for a numeric family. Of gt and gte, if
// both are given, the narrower one counts; so of lt and lte.
func (v *view) bounds(f *family, q *search.Range) (*bounds, error) {
	read, err := v.reader(f, q)
	if err != nil {
		return nil, err
	}
	b := &bounds{}
	for _, in := range []struct {
		value    *search.Value
		up, open bool
	}{{q.GT, true, true}, {q.GTE, false, false}} {
		if in.value == nil {
			continue
		}
		n, err := read(*in.value, in.up)
		if err != nil {
			return nil, err
		}
		if !b.hasLow || n > b.low {
			b.low, b.hasLow, b.openLow = n, true, in.open
		}
	}
	for _, in := range []struct {
		value    *search.Value
		up, open bool
	}{{q.LT, false, true}, {q.LTE, true, false}} {
		if in.value == nil {
			continue
		}
		n, err := read(*in.value, in.up)
		if err != nil {
			return nil, err
		}
		if !b.hasHigh || n < b.high {
			b.high, b.hasHigh, b.openHigh = n, true, in.open
		}
	}
	return b, nil
}

// reader gives how the bounds of a range are read for a family. up is for
// dates: parts that are not given take their last value.
func (v *view) reader(f *family, q *search.Range) (func(value search.Value, up bool) (float64, error), error) {
	if f.field.Family != mapping.Date {
		return func(value search.Value, _ bool) (float64, error) {
			if n, _, ok := v.point(f, value); ok {
				return n, nil
			}
			return 0, problem.New(problem.Invalid, "%q is no number", value.Text)
		}, nil
	}
	format, loc := f.field.Format, time.UTC
	var err error
	if q.Format != "" {
		if format, err = dates.Parse(q.Format); err != nil {
			return nil, err
		}
	}
	if q.TimeZone != "" {
		if loc, err = dates.ParseZone(q.TimeZone); err != nil {
			return nil, err
		}
	}
	return func(value search.Value, up bool) (float64, error) { return v.date(format, value, loc, up) }, nil
}
