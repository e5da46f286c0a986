package typesense

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// sums are the numbers of which the metrics are made.
type sums struct {
	n         int64
	sum       float64
	squares   float64
	low, high float64
	print     printer
}

func (m *sums) add(v float64, times int64) {
	n := float64(times)
	m.n += times
	m.sum += n * v
	m.squares += n * v * v
	m.low, m.high = math.Min(m.low, v), math.Max(m.high, v)
}

func (r *run) sumUp(a *search.Agg, body *search.MetricAgg, sets []set, columns [][]column) (*sums, error) {
	m := &sums{low: math.Inf(1), high: math.Inf(-1)}
	var err error
	if m.print, err = printerOf(columns, body.Format, a.Path); err != nil {
		return nil, err
	}
	numbers, keyword := onlyNumbers(columns)
	if (keyword || body.Field == indexField) && numbers == nil {
		return nil, problem.Field(problem.Invalid, a.Path, "%s needs numbers or dates, and the field %q has none", body.Func, body.Field)
	}
	if numbers == nil {
		numbers = columns
	}
	stand := 0.0
	if body.Missing != nil {
		var ok bool
		if stand, ok = numberFor(*body.Missing, columns); !ok {
			return nil, problem.Field(problem.Invalid, a.Path+".missing", "%q is no value of this field", body.Missing.Text)
		}
	}
	values, err := r.allValues(a, sets, numbers, body.Missing != nil)
	for _, v := range values {
		switch {
		case v.n == 0:
		case v.key.family == missingTally:
			m.add(stand, v.n)
		default:
			m.add(v.key.num, v.n)
		}
	}
	return m, err
}

// onlyNumbers gives the columns with numbers, nil if there are none, and tells
// whether there are others.
func onlyNumbers(columns [][]column) (numbers [][]column, others bool) {
	found := false
	out := make([][]column, len(columns))
	for i, list := range columns {
		for _, c := range list {
			if c.Field.Family.Numeric() {
				out[i] = append(out[i], c)
				found = true
			} else {
				others = true
			}
		}
	}
	if !found {
		return nil, others
	}
	return out, others
}

// numberFor reads what stands in for a missing value as a number: of a field
// with dates also a date, of one with booleans also true and false.
func numberFor(v search.Value, columns [][]column) (float64, bool) {
	for _, list := range columns {
		for _, c := range list {
			switch c.Field.Family {
			case mapping.Date:
				if ms, ok := c.Field.Format.Millis(v.Text, time.UTC, false); ok && v.Kind == search.StringValue {
					return float64(ms), true
				}
			case mapping.Boolean:
				if b, ok := v.Bool(); ok {
					return float64(oneIf(b)), true
				}
			}
		}
	}
	return v.Number()
}

func (m *sums) result(f search.MetricFunc) search.ResultBody {
	avg := m.sum / float64(m.n)
	var v float64
	switch f {
	case search.Min:
		v = m.low
	case search.Max:
		v = m.high
	case search.Avg:
		v = avg
	case search.Sum:
		return &search.Metric{Value: m.sum, Text: m.text(m.sum)}
	default:
		return m.stats(avg)
	}
	if m.n == 0 {
		return &search.Metric{Null: true}
	}
	return &search.Metric{Value: v, Text: m.text(v)}
}

func (m *sums) stats(avg float64) *search.StatsResult {
	if m.n == 0 {
		return &search.StatsResult{}
	}
	out := &search.StatsResult{Count: m.n, Min: m.low, Max: m.high, Avg: avg, Sum: m.sum}
	if m.text(m.low) != "" {
		out.Texts = &[4]string{m.text(m.low), m.text(m.high), m.text(avg), m.text(m.sum)}
	}
	return out
}

// text gives a number in its second form, if it has one.
func (m *sums) text(v float64) string {
	if m.n == 0 {
		return ""
	}
	return m.print.text(v)
}
