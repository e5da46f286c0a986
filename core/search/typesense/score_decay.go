package typesense

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// falling measures in one column how far values are from the origin, in
// multiples of the scale.
type falling struct {
	c    column
	away func(n float64) float64
}

// decay reads how a function falls in each column of its field.
func (v *view) decay(b *search.Decay, sp *mapping.Space, path string) (func(*object) float64, error) {
	columns, _ := v.numbersOf(b.Field, sp, true)
	var list []falling
	for _, c := range columns {
		f, err := v.fallIn(b, c, path)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return func(o *object) float64 {
		low, high, sum, n := math.Inf(1), 0.0, 0.0, 0
		for _, f := range list {
			for _, w := range o.values(f.c.Name) {
				d := f.away(w.num)
				low, high, sum = math.Min(low, d), math.Max(high, d), sum+d
				n++
			}
		}
		switch {
		case n == 0:
			return 1
		case b.Mode == search.SortMax:
			return curve(b, high)
		case b.Mode == search.SortSum:
			return curve(b, sum)
		case b.Mode == search.SortAvg:
			return curve(b, sum/float64(n))
		}
		return curve(b, low)
	}, nil
}

func (v *view) fallIn(b *search.Decay, c column, path string) (falling, error) {
	bad := func(what string) (falling, error) {
		return falling{}, problem.Field(problem.Invalid, path, "%s: %q needs %s", b.Curve, b.Field, what)
	}
	var from float64
	away := func(n float64) float64 { return math.Abs(n - from) }
	scale, offset := b.Scale.Number, b.Offset.Number
	switch c.Field.Family {
	case mapping.Geo:
		if b.Point == nil {
			return bad("a point as origin")
		}
		away = func(n float64) float64 { return geo.Distance(*b.Point, geo.Decode(n)) }
		scale, offset = b.Scale.Meters, b.Offset.Meters
	case mapping.Date:
		if b.Origin == nil {
			return bad("a date as origin")
		}
		var err error
		if from, err = v.run.date(c.Field.Format, *b.Origin, time.UTC, false); err != nil {
			return bad("a date as origin: " + err.Error())
		}
		scale, offset = b.Scale.Millis, b.Offset.Millis
	default:
		ok := b.Origin != nil
		if ok {
			from, ok = b.Origin.Number()
		}
		if !ok {
			return bad("a number as origin")
		}
	}
	if scale <= 0 || offset < 0 {
		return bad("a scale above 0 and an offset in its unit")
	}
	return falling{c, func(n float64) float64 { return math.Max(away(n)-offset, 0) / scale }}, nil
}

// curve gives what a distance in multiples of the scale comes to.
func curve(b *search.Decay, d float64) float64 {
	switch b.Curve {
	case search.Exponential:
		return math.Pow(b.By, d)
	case search.Linear:
		return math.Max(1-d*(1-b.By), 0)
	}
	return math.Pow(b.By, d*d)
}
