package embedded

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// falling measures in one family how far values are from the origin, in
// multiples of the scale.
type falling struct {
	f    *family
	away func(n float64) float64
}

// decay reads how a function falls in each family of its field.
func (v *view) decay(b *search.Decay, sp *space, path string) (func() func(uint32) float64, error) {
	var list []falling
	for _, f := range v.numbers(b.Field, sp, true) {
		var away func(n float64) float64
		bad := func(what string) error {
			return problem.Field(problem.Invalid, path, "%s: %q needs %s", b.Curve, b.Field, what)
		}
		scale, offset := b.Scale.Number, b.Offset.Number
		switch f.field.Family {
		case mapping.Geo:
			if b.Point == nil {
				return nil, bad("a point as origin")
			}
			away = func(n float64) float64 { return geo.Distance(*b.Point, geo.Decode(n)) }
			scale, offset = b.Scale.Meters, b.Offset.Meters
		case mapping.Date:
			if b.Origin == nil {
				return nil, bad("a date as origin")
			}
			from, err := v.date(f.field.Format, *b.Origin, time.UTC, false)
			if err != nil {
				return nil, bad("a date as origin: " + err.Error())
			}
			away = func(n float64) float64 { return math.Abs(n - from) }
			scale, offset = b.Scale.Millis, b.Offset.Millis
		default:
			from, ok := 0.0, b.Origin != nil
			if ok {
				from, ok = b.Origin.Number()
			}
			if !ok {
				return nil, bad("a number as origin")
			}
			away = func(n float64) float64 { return math.Abs(n - from) }
		}
		if scale <= 0 || offset < 0 {
			return nil, bad("a scale above 0 and an offset in its unit")
		}
		list = append(list, falling{f, func(n float64) float64 { return max(away(n)-offset, 0) / scale }})
	}
	return func() func(uint32) float64 { return openDecay(list, b) }, nil
}

func openDecay(list []falling, b *search.Decay) func(uint32) float64 {
	cursors := make([]cursor[float64], len(list))
	for i := range list {
		cursors[i] = cursor[float64]{c: &list[i].f.nums}
	}
	return func(object uint32) float64 {
		low, high, sum, n := math.Inf(1), 0.0, 0.0, 0
		for i := range list {
			for _, v := range cursors[i].seek(object) {
				d := list[i].away(v)
				low, high, sum = min(low, d), max(high, d), sum+d
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
	}
}

// curve gives what a distance in multiples of the scale comes to.
func curve(b *search.Decay, d float64) float64 {
	switch b.Curve {
	case search.Exponential:
		return math.Pow(b.By, d)
	case search.Linear:
		return max(1-d*(1-b.By), 0)
	}
	return math.Pow(b.By, d*d)
}
