package scoring

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Away makes what measures how far a number of a field is from the origin of a
// decay, in multiples of its scale. The error names the path of the function.
func Away(b *search.Decay, f *mapping.Field, path string, now time.Time) (func(n float64) float64, error) {
	bad := func(what string) (func(n float64) float64, error) {
		return nil, problem.Field(problem.Invalid, path, "%s: %q needs %s", b.Curve, b.Field, what)
	}
	var from float64
	away := func(n float64) float64 { return math.Abs(n - from) }
	scale, offset := b.Scale.Number, b.Offset.Number
	switch f.Family {
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
		if from, err = mapping.DateOf(f.Format, *b.Origin, now, time.UTC, false); err != nil {
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
	return func(n float64) float64 { return max(away(n)-offset, 0) / scale }, nil
}

// Distances are how far the numbers of one object are from the origin. The zero
// value has none.
type Distances struct {
	low, high, sum float64
	n              int
}

// Add adds a distance in multiples of the scale.
func (d *Distances) Add(v float64) {
	if d.n++; d.n == 1 {
		d.low = v
	}
	d.low, d.high, d.sum = min(d.low, v), max(d.high, v), d.sum+v
}

// Score gives what a decay makes of the distances; 1 without any.
func (d *Distances) Score(b *search.Decay) float64 {
	switch {
	case d.n == 0:
		return 1
	case b.Mode == search.SortMax:
		return curve(b, d.high)
	case b.Mode == search.SortSum:
		return curve(b, d.sum)
	case b.Mode == search.SortAvg:
		return curve(b, d.sum/float64(d.n))
	}
	return curve(b, d.low)
}

func curve(b *search.Decay, d float64) float64 {
	switch b.Curve {
	case search.Exponential:
		return math.Pow(b.By, d)
	case search.Linear:
		return max(1-d*(1-b.By), 0)
	}
	return math.Pow(b.By, d*d)
}
