package mapping

import (
	"iter"
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// Column is where an engine keeps the values of a field.
type Column interface {
	// Of gives the field.
	Of() *Field
}

// FieldsOf gives the fields of columns, in their order.
func FieldsOf[C Column](lists ...[]C) iter.Seq[*Field] {
	return func(yield func(*Field) bool) {
		for _, list := range lists {
			for _, c := range list {
				if !yield(c.Of()) {
					return
				}
			}
		}
	}
}

// Listable tells whether the values of each object can be listed, for sorts
// and aggregations.
func (f *Field) Listable() bool { return f.Family != Text || f.Listed }

// Exactly gives the numbers, both included, that a value of a request stands
// for in a numeric field: a date may leave out what follows its day. ok is
// false if the field has no such values.
func (f *Field) Exactly(v search.Value, now time.Time) (low, high float64, ok bool) {
	switch f.Family {
	case Boolean:
		b, ok := v.Bool()
		return Flag(b), Flag(b), ok
	case Date:
		from, err := DateOf(f.Format, v, now, time.UTC, false)
		if err != nil {
			return 0, 0, false
		}
		to, err := DateOf(f.Format, v, now, time.UTC, true)
		return from, to, err == nil
	}
	n, ok := v.Number()
	return n, n, ok && f.Family != Geo
}

// DateOf reads a value of a request as a date with date math, in milliseconds.
// What a date leaves out is the first in the zone, with up the last. Numbers
// beyond all dates are the first or the last of them.
func DateOf(f *dates.Format, v search.Value, now time.Time, zone *time.Location, up bool) (float64, error) {
	if v.Kind == search.NumberValue {
		if unit, ok := f.Epoch(); ok {
			ms := math.Trunc(v.Num) * float64(unit)
			return min(max(ms, dates.MinMillis), dates.MaxMillis), nil
		}
	}
	ms, err := f.Math(v.Text, now, zone, up)
	return float64(ms), err
}
