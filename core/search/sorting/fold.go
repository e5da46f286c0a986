package sorting

import (
	"iter"
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Fold makes one of the values that a document has for a key.
type Fold struct {
	key    *search.SortKey
	low    bool
	absent Value

	sum  float64
	n    int
	best Value
}

// NewFold makes the fold of a key over fields, which say how to read what stands
// in for a value that is missing.
func NewFold(key *search.SortKey, fields iter.Seq[*mapping.Field]) Fold {
	return Fold{key: key, low: Low(key), absent: absent(key, fields)}
}

// Reset begins with another document.
func (f *Fold) Reset() { f.sum, f.n, f.best = 0, 0, Value{} }

// Number adds a number of the document.
func (f *Fold) Number(n float64) {
	if f.key.Geo != nil {
		n = nearest(f.key.Geo, n)
	}
	f.sum += n
	f.take(Number(n))
}

// Text adds a string of the document.
func (f *Fold) Text(s string) { f.take(Text(s)) }

func (f *Fold) take(v Value) {
	f.n++
	if f.n == 1 || (v.Compare(&f.best, false) < 0) == f.low {
		f.best = v
	}
}

// Value gives what the document is sorted by.
func (f *Fold) Value() Value {
	switch {
	case f.n == 0:
		return f.absent
	case f.key.Mode == search.SortSum:
		return Number(f.sum)
	case f.key.Mode == search.SortAvg:
		return Number(f.sum / float64(f.n))
	}
	return f.best
}

// nearest gives the distance of a point from the nearest of others, in units.
func nearest(s *search.GeoSort, code float64) float64 {
	at, best := geo.Decode(code), math.Inf(1)
	for _, p := range s.Points {
		best = min(best, geo.Distance(p, at))
	}
	return best / s.Unit
}

// absent is what a document without a value is sorted by.
func absent(key *search.SortKey, fields iter.Seq[*mapping.Field]) Value {
	switch {
	case key.Geo != nil:
		return Number(math.Inf(1))
	case key.MissingFirst:
		return Value{State: AbsentFirst}
	case key.Missing == nil:
		return Value{State: AbsentLast}
	}
	numeric := false
	for f := range fields {
		numeric = numeric || f.Family.Numeric()
		if f.Family != mapping.Date || key.Missing.Kind != search.StringValue {
			continue
		}
		if ms, ok := f.Format.Millis(key.Missing.Text, time.UTC, false); ok {
			return Number(float64(ms))
		}
	}
	if n, ok := key.Missing.Number(); ok && (numeric || key.Missing.Kind == search.NumberValue) {
		return Number(n)
	}
	return Text(key.Missing.Text)
}
