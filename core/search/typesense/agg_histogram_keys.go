package typesense

import (
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// printer gives how keys are written: dates always have a format.
func (h *histogram) printer(columns [][]column, where string) (printer, error) {
	p, err := printerOf(columns, h.body.Format, where)
	switch {
	case err != nil && !h.body.Dates:
		return p, err
	case !h.body.Dates:
		return printer{number: p.number}, nil
	case h.body.Format != "" || p.date == nil:
		if p.date, err = dates.Parse(h.body.Format); err != nil {
			return p, problem.Field(problem.Invalid, where+".format", "%s", err)
		}
	}
	return printer{date: p.date, zone: h.body.Zone}, nil
}

// value reads a value of the request.
func (h *histogram) value(r *run, a *search.Agg, p *printer, v search.Value, where string) (float64, error) {
	if h.body.Dates {
		if f, err := r.date(p.date, v, h.body.Zone, false); err == nil {
			return f, nil
		}
	} else if f, ok := v.Number(); ok {
		return f, nil
	}
	return 0, problem.Field(problem.Invalid, a.Path+where, "%q is no value of this field", v.Text)
}

// bounds reads the keys up to which empty buckets are given, and the hard
// bounds.
func (h *histogram) bounds(r *run, a *search.Agg, p *printer) ([]float64, error) {
	for _, hard := range []struct {
		value *search.Value
		to    *float64
	}{{h.body.HardMin, &h.hardLow}, {h.body.HardMax, &h.hardHigh}} {
		if hard.value == nil {
			continue
		}
		v, err := h.value(r, a, p, *hard.value, ".hard_bounds")
		if err != nil {
			return nil, err
		}
		*hard.to = v
	}
	var out []float64
	for _, b := range []*search.Value{h.body.BoundMin, h.body.BoundMax} {
		if b == nil {
			continue
		}
		v, err := h.value(r, a, p, *b, ".extended_bounds")
		if err != nil {
			return nil, err
		}
		if v < h.hardLow || v > h.hardHigh {
			return nil, problem.Field(problem.Invalid, a.Path+".extended_bounds", "extended_bounds must lie inside hard_bounds")
		}
		out = append(out, h.floor(v))
	}
	if len(out) == 2 && out[0] > out[1] {
		return nil, problem.Field(problem.Invalid, a.Path+".extended_bounds", "min must not be above max")
	}
	return out, nil
}

// allowed tells whether a key lies inside the hard bounds: of dates the end is
// not, of numbers the offset does not count, as in Elasticsearch.
func (h *histogram) allowed(key float64) bool {
	if h.body.Dates {
		return key >= h.hardLow && key < h.hardHigh
	}
	return key-h.body.Offset >= h.hardLow && key-h.body.Offset <= h.hardHigh
}

// floor gives the key of the bucket that holds a value.
func (h *histogram) floor(v float64) float64 {
	b := h.body
	if b.Calendar == "" {
		shift := b.Offset
		if b.Dates {
			_, seconds := time.UnixMilli(int64(v)).In(b.Zone).Zone()
			shift -= float64(seconds) * 1000
		}
		return math.Floor((v-shift)/b.Interval)*b.Interval + shift
	}
	t := time.UnixMilli(int64(v - b.Offset)).In(b.Zone)
	year, month, day := t.Date()
	hour, minute := 0, 0
	switch b.Calendar {
	case search.Minute:
		return float64(t.Add(-time.Duration(t.Second())*time.Second).Truncate(time.Second).UnixMilli()) + b.Offset
	case search.Hour:
		past := time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
		return float64(t.Add(-past).Truncate(time.Second).UnixMilli()) + b.Offset
	case search.Week:
		day -= (int(t.Weekday()) + 6) % 7
	case search.Month:
		day = 1
	case search.Quarter:
		month, day = month-(month-1)%3, 1
	case search.Year:
		month, day = 1, 1
	}
	return float64(time.Date(year, month, day, hour, minute, 0, 0, b.Zone).UnixMilli()) + b.Offset
}

// next gives the key of the bucket behind a bucket.
func (h *histogram) next(key float64) float64 {
	b := h.body
	if b.Calendar == "" {
		return key + b.Interval
	}
	t := time.UnixMilli(int64(key - b.Offset)).In(b.Zone)
	switch b.Calendar {
	case search.Minute:
		t = t.Add(time.Minute)
	case search.Hour:
		t = t.Add(time.Hour)
	case search.Day:
		t = t.AddDate(0, 0, 1)
	case search.Week:
		t = t.AddDate(0, 0, 7)
	case search.Month:
		t = t.AddDate(0, 1, 0)
	case search.Quarter:
		t = t.AddDate(0, 3, 0)
	default:
		t = t.AddDate(1, 0, 0)
	}
	return float64(t.UnixMilli()) + b.Offset
}

// keys gives the keys of the buckets in order, those of empty ones included if
// they count.
func (h *histogram) keys(r *run, a *search.Agg, counts map[float64]int64, bounds []float64) ([]float64, error) {
	var keys []float64
	for key := range counts {
		if h.allowed(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if h.body.MinDocCount > 0 {
		return keys, nil
	}
	ends := append(bounds, keys...)
	if len(ends) == 0 {
		return nil, nil
	}
	out, ok := h.walk(slices.Min(ends), slices.Max(ends), maxBuckets)
	if !ok {
		return nil, r.spend(a, maxBuckets+1)
	}
	// What rounding made a neighbour of a key in the walk must not be lost.
	out = append(out, keys...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// walk gives the keys from low to high, which are keys; false if there are
// more than most.
func (h *histogram) walk(low, high float64, most int) ([]float64, bool) {
	var out []float64
	for key := low; key <= high; {
		out = append(out, key)
		if len(out) > most {
			return nil, false
		}
		after := h.floor(h.next(key) + h.slack())
		if !(after > key) {
			after = h.next(key)
		}
		if !(after > key) {
			break
		}
		key = after
	}
	return out, true
}

// slack keeps the walk from one key to the next from falling back by rounding.
func (h *histogram) slack() float64 {
	if h.body.Calendar != "" || h.body.Dates {
		return 0
	}
	return h.body.Interval / 4
}
