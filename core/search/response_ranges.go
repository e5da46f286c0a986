package search

import (
	"math"
	"strconv"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// RangeBuckets is the result of range and date_range.
type RangeBuckets struct {
	Keyed   bool
	Buckets []RangeBucket
}

// RangeBucket is one range; FromText and ToText are given for dates.
type RangeBucket struct {
	Key              string
	From, To         *float64
	FromText, ToText string
	Count            int64
	Subs             []AggResult
}

// HistogramBuckets is the result of histogram and date_histogram.
type HistogramBuckets struct {
	Keyed   bool
	Buckets []Bucket
}

// FilterBuckets is the result of filters; Names is nil for a list without
// keys. With List the buckets are a list and have their names as keys.
type FilterBuckets struct {
	Names   []string
	List    bool
	Buckets []SingleBucket
}

// Percentiles is the result of percentiles. Values are NaN when there is none.
// Texts, when set, has their second forms.
type Percentiles struct {
	Keyed            bool
	Percents, Values []float64
	Texts            []string
}

// Extended is what extended_stats adds to stats.
type Extended struct {
	StatsResult
	SumOfSquares float64
	Sigma        float64 // how many deviations away the bounds are
}

// list writes n elements between commas and the brackets of a list, or of an
// object if keyed.
func list(dst []byte, keyed bool, n int, each func(dst []byte, i int) []byte) []byte {
	open, shut := byte('['), byte(']')
	if keyed {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = each(dst, i)
	}
	return append(dst, shut)
}

func (r *RangeBuckets) appendBody(dst []byte) []byte {
	return list(append(dst, `"buckets":`...), r.Keyed, len(r.Buckets), func(dst []byte, i int) []byte {
		b := &r.Buckets[i]
		if r.Keyed {
			dst = append(jsonx.AppendString(dst, b.Key), ":{"...)
		} else {
			dst = append(jsonx.AppendString(append(dst, `{"key":`...), b.Key), ',')
		}
		dst = appendBoundary(dst, "from", b.From, b.FromText)
		dst = appendBoundary(dst, "to", b.To, b.ToText)
		dst = strconv.AppendInt(append(dst, `"doc_count":`...), b.Count, 10)
		return append(appendSubs(dst, b.Subs), '}')
	})
}

func appendBoundary(dst []byte, name string, v *float64, text string) []byte {
	if v == nil {
		return dst
	}
	dst = appendFloat(append(append(append(dst, '"'), name...), `":`...), *v)
	if text != "" {
		dst = jsonx.AppendString(append(append(append(dst, `,"`...), name...), `_as_string":`...), text)
	}
	return append(dst, ',')
}

func (h *HistogramBuckets) appendBody(dst []byte) []byte {
	return list(append(dst, `"buckets":`...), h.Keyed, len(h.Buckets), func(dst []byte, i int) []byte {
		b := &h.Buckets[i]
		if h.Keyed {
			name := b.KeyText
			if name == "" {
				name = string(appendSortValue(nil, b.Key))
			}
			dst = append(jsonx.AppendString(dst, name), ':')
		}
		dst = append(dst, '{')
		if b.KeyText != "" {
			dst = append(jsonx.AppendString(append(dst, `"key_as_string":`...), b.KeyText), ',')
		}
		dst = appendSortValue(append(dst, `"key":`...), b.Key)
		dst = strconv.AppendInt(append(dst, `,"doc_count":`...), b.Count, 10)
		return append(appendSubs(dst, b.Subs), '}')
	})
}

func (f *FilterBuckets) appendBody(dst []byte) []byte {
	return list(append(dst, `"buckets":`...), f.Names != nil && !f.List, len(f.Buckets), func(dst []byte, i int) []byte {
		switch {
		case f.Names != nil && f.List:
			dst = append(jsonx.AppendString(append(dst, `{"key":`...), f.Names[i]), ',')
			return append(f.Buckets[i].appendBody(dst), '}')
		case f.Names != nil:
			dst = append(jsonx.AppendString(dst, f.Names[i]), ':')
		}
		return append(f.Buckets[i].appendBody(append(dst, '{')), '}')
	})
}

func (p *Percentiles) appendBody(dst []byte) []byte {
	return list(append(dst, `"values":`...), p.Keyed, len(p.Values), func(dst []byte, i int) []byte {
		percent := appendFloat(nil, p.Percents[i])
		name := "value"
		if p.Keyed {
			name = string(percent)
		} else {
			dst = append(append(append(dst, `{"key":`...), percent...), ',')
		}
		dst = appendFloat(append(jsonx.AppendString(dst, name), ':'), p.Values[i])
		if i < len(p.Texts) && p.Texts[i] != "" {
			dst = append(jsonx.AppendString(append(dst, ','), name+"_as_string"), ':')
			dst = jsonx.AppendString(dst, p.Texts[i])
		}
		if p.Keyed {
			return dst
		}
		return append(dst, '}')
	})
}

// Value gives what a name such as "variance" or "std_upper" means in the order
// of buckets; false if there is no such number.
func (e *Extended) Value(name string) (float64, bool) {
	n := float64(e.Count)
	spread := math.Max(e.SumOfSquares-e.Sum*e.Sum/n, 0)
	variance, sampling := spread/n, spread/(n-1)
	v := math.NaN()
	switch name {
	case "sum_of_squares":
		v = e.SumOfSquares
		if e.Count == 0 { // Elasticsearch writes null
			v = math.NaN()
		}
	case "variance", "variance_population":
		v = variance
	case "variance_sampling":
		v = sampling
	case "std_deviation", "std_deviation_population":
		v = math.Sqrt(variance)
	case "std_deviation_sampling":
		v = math.Sqrt(sampling)
	case "std_upper", "upper", "upper_population":
		v = e.Avg + e.Sigma*math.Sqrt(variance)
	case "std_lower", "lower", "lower_population":
		v = e.Avg - e.Sigma*math.Sqrt(variance)
	case "upper_sampling":
		v = e.Avg + e.Sigma*math.Sqrt(sampling)
	case "lower_sampling":
		v = e.Avg - e.Sigma*math.Sqrt(sampling)
	}
	return v, !math.IsNaN(v)
}

func (e *Extended) appendBody(dst []byte) []byte {
	dst = e.StatsResult.appendBody(dst)
	for _, name := range []string{"sum_of_squares", "variance", "variance_population", "variance_sampling",
		"std_deviation", "std_deviation_population", "std_deviation_sampling"} {
		dst = e.appendPair(append(dst, ','), name)
	}
	dst = append(dst, `,"std_deviation_bounds":{`...)
	for i, name := range []string{"upper", "lower", "upper_population", "lower_population", "upper_sampling", "lower_sampling"} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.appendPair(dst, name)
	}
	return append(dst, '}')
}

func (e *Extended) appendPair(dst []byte, name string) []byte {
	v, ok := e.Value(name)
	dst = append(append(append(dst, '"'), name...), `":`...)
	if !ok && e.Count > 0 { // of one value there is no sampling
		return append(dst, `"NaN"`...)
	}
	return appendFloat(dst, v) // null if there are no values
}
