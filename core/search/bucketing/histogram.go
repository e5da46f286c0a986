package bucketing

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Histogram says which buckets a histogram has, and which of them holds a value.
type Histogram struct {
	*search.HistogramAgg
	a     *search.Agg
	now   time.Time
	print Printer
	ends  []float64 // the keys up to which empty buckets are given
	// hardLow and hardHigh say which keys have buckets.
	hardLow, hardHigh float64
}

// NewHistogram reads what a histogram over fields asks for. Orders by what is
// not there are errors.
func NewHistogram(a *search.Agg, body *search.HistogramAgg, fields iter.Seq[*mapping.Field], now time.Time) (*Histogram, error) {
	if err := Check(a, body.Order); err != nil {
		return nil, err
	}
	h := &Histogram{HistogramAgg: body, a: a, now: now, hardLow: math.Inf(-1), hardHigh: math.Inf(1)}
	if err := h.setPrinter(fields); err != nil {
		return nil, err
	}
	return h, h.readBounds()
}

// setPrinter sets how keys are written: dates always have a format.
func (h *Histogram) setPrinter(fields iter.Seq[*mapping.Field]) error {
	p, err := NewPrinter(fields, h.Format, h.a.Path)
	switch {
	case err != nil && !h.Dates:
		return err
	case !h.Dates:
		h.print = Printer{number: p.number}
		return nil
	case h.Format != "" || p.date == nil:
		if p.date, err = dates.Parse(h.Format); err != nil {
			return problem.Field(problem.Invalid, h.a.Path+".format", "%s", err)
		}
	}
	h.print = Printer{date: p.date, zone: h.Zone}
	return nil
}

// Value reads a value of the request; where is its place in the aggregation,
// such as ".missing".
func (h *Histogram) Value(v search.Value, where string) (float64, error) {
	if h.Dates {
		if f, err := mapping.DateOf(h.print.date, v, h.now, h.Zone, false); err == nil {
			return f, nil
		}
	} else if f, ok := v.Number(); ok {
		return f, nil
	}
	return 0, noValue(h.a.Path+where, v)
}

// readBounds reads the keys up to which empty buckets are given, and the hard
// bounds.
func (h *Histogram) readBounds() error {
	for _, hard := range []struct {
		value *search.Value
		to    *float64
	}{{h.HardMin, &h.hardLow}, {h.HardMax, &h.hardHigh}} {
		if hard.value == nil {
			continue
		}
		v, err := h.Value(*hard.value, ".hard_bounds")
		if err != nil {
			return err
		}
		*hard.to = v
	}
	for _, b := range []*search.Value{h.BoundMin, h.BoundMax} {
		if b == nil {
			continue
		}
		v, err := h.Value(*b, ".extended_bounds")
		if err != nil {
			return err
		}
		if v < h.hardLow || v > h.hardHigh {
			return problem.Field(problem.Invalid, h.a.Path+".extended_bounds", "extended_bounds must lie inside hard_bounds")
		}
		h.ends = append(h.ends, h.Floor(v))
	}
	if len(h.ends) == 2 && h.ends[0] > h.ends[1] {
		return problem.Field(problem.Invalid, h.a.Path+".extended_bounds", "min must not be above max")
	}
	return nil
}

// Keys gives the keys of the buckets that are answered, in their order: those
// that were found, and those of empty buckets if they count.
func (h *Histogram) Keys(found iter.Seq[float64]) ([]float64, error) {
	var keys []float64
	for key := range found {
		if h.allowed(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if h.MinDocCount > 0 {
		return keys, nil
	}
	ends := slices.Concat(h.ends, keys)
	if len(ends) == 0 {
		return nil, nil
	}
	out, ok := h.Walk(slices.Min(ends), slices.Max(ends), MaxBuckets)
	if !ok {
		return nil, tooMany(h.a)
	}
	// What rounding made a neighbour of a key in the walk must not be lost.
	out = append(out, keys...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Bucket makes the bucket of a key.
func (h *Histogram) Bucket(key float64, count int64) search.Bucket {
	return search.Bucket{Key: search.SortValue{Kind: search.NumberValue, Num: key, Whole: h.Dates}, KeyText: h.print.Text(key), Count: count}
}

// Result makes the result of buckets, which stand by their keys.
func (h *Histogram) Result(buckets []search.Bucket) *search.HistogramBuckets {
	if len(h.Order) > 0 {
		sortBuckets(buckets, h.Order)
	}
	return &search.HistogramBuckets{Keyed: h.Keyed, Buckets: Resort(h.a, buckets)}
}

// allowed tells whether a key lies inside the hard bounds: of dates the end is
// not, of numbers the offset does not count, as in Elasticsearch.
func (h *Histogram) allowed(key float64) bool {
	if h.Dates {
		return key >= h.hardLow && key < h.hardHigh
	}
	return key-h.Offset >= h.hardLow && key-h.Offset <= h.hardHigh
}

// Floor gives the key of the bucket that holds a value, which is where the
// bucket begins.
func (h *Histogram) Floor(v float64) float64 {
	if h.Dates {
		return float64(h.floorDate(int64(v-h.Offset))) + h.Offset
	}
	return math.Floor((v-h.Offset)/h.Interval)*h.Interval + h.Offset
}

// After gives the key of the bucket behind a bucket, which is where that one
// ends.
func (h *Histogram) After(key float64) float64 {
	if h.Dates {
		return float64(h.afterDate(int64(key-h.Offset))) + h.Offset
	}
	// A quarter of a bucket keeps rounding from giving the same key again.
	after := h.Floor(key + h.Interval*5/4)
	if !(after > key) {
		after = key + h.Interval
	}
	return after
}

// Walk gives the keys from low to high, which are keys; false if there are
// more than most.
func (h *Histogram) Walk(low, high float64, most int) ([]float64, bool) {
	var out []float64
	for key := low; key <= high; {
		out = append(out, key)
		if len(out) > most {
			return nil, false
		}
		after := h.After(key)
		if !(after > key) {
			break
		}
		key = after
	}
	return out, true
}
