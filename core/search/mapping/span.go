package mapping

import (
	"errors"
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// Span is the numbers from Low to High. An open end is not part of it.
type Span struct {
	Low, High         float64
	OpenLow, OpenHigh bool
}

// Holds tells whether a number is part of the span.
func (s *Span) Holds(n float64) bool {
	return (n > s.Low || !s.OpenLow && n == s.Low) && (n < s.High || !s.OpenHigh && n == s.High)
}

// Span reads the bounds of a range for a numeric field. Of gt and gte, if both
// are given, the narrower one counts; so of lt and lte.
func (f *Field) Span(q *search.Range, now time.Time) (Span, error) {
	out := Span{Low: math.Inf(-1), High: math.Inf(1)}
	read, err := f.bounds(q, now)
	if err != nil {
		return out, err
	}
	for _, in := range []struct {
		value           *search.Value
		up, open, upper bool
	}{{q.GT, true, true, false}, {q.GTE, false, false, false}, {q.LT, false, true, true}, {q.LTE, true, false, true}} {
		if in.value == nil {
			continue
		}
		n, err := read(*in.value, in.up)
		switch {
		case err != nil:
			return out, err
		case in.upper && n < out.High:
			out.High, out.OpenHigh = n, in.open
		case !in.upper && n > out.Low:
			out.Low, out.OpenLow = n, in.open
		}
	}
	return out, nil
}

// bounds gives how the bounds of a range are read. up is for dates: parts that
// are not given take their last value.
func (f *Field) bounds(q *search.Range, now time.Time) (func(v search.Value, up bool) (float64, error), error) {
	switch f.Family {
	case Geo:
		return nil, errors.New("the field has points; use geo_distance or geo_bounding_box")
	case Date:
	default:
		return func(v search.Value, _ bool) (float64, error) {
			if n, _, ok := f.Exactly(v, now); ok {
				return n, nil
			}
			return 0, problem.New(problem.Invalid, "%q is no number", v.Text)
		}, nil
	}
	format, zone := f.Format, time.UTC
	var err error
	if q.Format != "" {
		if format, err = dates.Parse(q.Format); err != nil {
			return nil, err
		}
	}
	if q.TimeZone != "" {
		if zone, err = dates.ParseZone(q.TimeZone); err != nil {
			return nil, err
		}
	}
	return func(v search.Value, up bool) (float64, error) { return DateOf(format, v, now, zone, up) }, nil
}
