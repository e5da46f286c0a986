package embedded

import (
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// histogram is a histogram on its way: its buckets by their keys.
type histogram struct {
	body    *search.HistogramAgg
	n       int // sets
	buckets map[float64]bucket
	// The bucket that was used last, from key to end.
	key, end float64
	last     bucket
}

func (r *run) histogramAgg(a *search.Agg, body *search.HistogramAgg, sets []set) (search.ResultBody, error) {
	families, format, err := numbers(a, body.Field, sets)
	if err != nil {
		return nil, err
	}
	if body.Format != "" || format == nil {
		if format, err = dates.Parse(body.Format); err != nil {
			return nil, problem.Field(problem.Invalid, a.Path+".format", "%s", err)
		}
	}
	value := func(v search.Value, where string) (float64, error) {
		if body.Dates {
			if f, err := (&view{run: r}).date(format, v, body.Zone, false); err == nil {
				return f, nil
			}
		} else if f, ok := v.Number(); ok {
			return f, nil
		}
		return 0, problem.Field(problem.Invalid, a.Path+where, "%q is no value of this field", v.Text)
	}
	h := &histogram{body: body, n: len(sets), buckets: map[float64]bucket{}, key: math.NaN(), end: math.NaN()}
	for i, s := range sets {
		for _, f := range families[i] {
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					h.add(i, object, v)
				}
			}
		}
		if body.Missing != nil {
			v, err := value(*body.Missing, ".missing")
			if err != nil {
				return nil, err
			}
			for _, object := range without(s, families[i]) {
				h.add(i, object, v)
			}
		}
		if len(h.buckets) > maxBuckets {
			return nil, r.spend(a, len(h.buckets))
		}
	}
	var bounds []float64
	for _, b := range []*search.Value{body.BoundMin, body.BoundMax} {
		if b != nil {
			v, err := value(*b, ".extended_bounds")
			if err != nil {
				return nil, err
			}
			bounds = append(bounds, h.floor(v))
		}
	}
	keys, err := h.keys(r, a, bounds)
	if err != nil {
		return nil, err
	}
	return r.histogramResult(a, h, keys, sets, format)
}

func (r *run) histogramResult(a *search.Agg, h *histogram, keys []float64, sets []set, format *dates.Format) (search.ResultBody, error) {
	out := &search.HistogramBuckets{Keyed: h.body.Keyed}
	empty := make(bucket, len(sets))
	for _, key := range keys {
		members := h.buckets[key]
		if members == nil {
			members = empty
		}
		if n := count(members.sets(sets)); n < int64(h.body.MinDocCount) {
			continue
		}
		b := search.Bucket{Key: search.SortValue{Kind: search.NumberValue, Num: key, Whole: h.body.Dates}}
		if h.body.Dates {
			b.KeyText = format.TextIn(int64(key), h.body.Zone)
		}
		var err error
		if b.Count, b.Subs, err = r.fill(a, members, sets); err != nil {
			return nil, err
		}
		out.Buckets = append(out.Buckets, b)
	}
	order := h.body.Order
	if order.By == "_count" {
		slices.SortStableFunc(out.Buckets, func(a, b search.Bucket) int {
			if order.Desc {
				return int(b.Count - a.Count)
			}
			return int(a.Count - b.Count)
		})
	} else if order.Desc {
		slices.Reverse(out.Buckets)
	}
	return out, nil
}

func (h *histogram) add(set int, object uint32, v float64) {
	if !(v >= h.key && v < h.end) {
		h.key = h.floor(v)
		h.end = h.next(h.key)
		h.last = h.buckets[h.key]
		if h.last == nil {
			h.last = make(bucket, h.n)
			h.buckets[h.key] = h.last
		}
	}
	h.last[set] = append(h.last[set], object)
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
func (h *histogram) keys(r *run, a *search.Agg, bounds []float64) ([]float64, error) {
	var keys []float64
	for key := range h.buckets {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if h.body.MinDocCount > 0 {
		return keys, nil
	}
	ends := append(bounds, keys...)
	if len(ends) == 0 {
		return nil, nil
	}
	var out []float64
	high := slices.Max(ends)
	for key := slices.Min(ends); key <= high; {
		out = append(out, key)
		if len(out) > maxBuckets {
			return nil, r.spend(a, len(out))
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
	// What rounding made a neighbour of a key in the walk must not be lost.
	out = append(out, keys...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// slack keeps the walk from one key to the next from falling back by rounding.
func (h *histogram) slack() float64 {
	if h.body.Calendar != "" || h.body.Dates {
		return 0
	}
	return h.body.Interval / 4
}
