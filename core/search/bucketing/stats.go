package bucketing

import (
	"iter"
	"math"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Sums are the numbers of which the metrics are made.
type Sums struct {
	n         int64
	sum       float64
	squares   float64
	low, high float64
	print     Printer
}

// NewSums makes the sums of a metric over fields. Fields without numbers are an
// error.
func NewSums(a *search.Agg, body *search.MetricAgg, fields iter.Seq[*mapping.Field]) (*Sums, error) {
	m := &Sums{low: math.Inf(1), high: math.Inf(-1)}
	var err error
	if m.print, err = NewPrinter(fields, body.Format, a.Path); err != nil {
		return nil, err
	}
	strings, numbers := body.Field == mapping.IndexField, false
	for f := range fields {
		numbers = numbers || f.Family.Numeric()
		strings = strings || !f.Family.Numeric()
	}
	if strings && !numbers {
		return nil, problem.Field(problem.Invalid, a.Path, "%s needs numbers or dates, and the field %q has none", body.Func, body.Field)
	}
	return m, nil
}

// Add adds a number that times objects have.
func (m *Sums) Add(v float64, times int64) {
	if times == 0 {
		return
	}
	n := float64(times)
	m.n += times
	m.sum += n * v
	m.squares += n * v * v
	m.low, m.high = min(m.low, v), max(m.high, v)
}

// Result makes the metric of what was added.
func (m *Sums) Result(body *search.MetricAgg) search.ResultBody {
	var v float64
	switch body.Func {
	case search.Min:
		v = m.low
	case search.Max:
		v = m.high
	case search.Avg:
		v = m.sum / float64(m.n)
	case search.Sum:
		return &search.Metric{Value: m.sum, Text: m.text(m.sum)}
	case search.ExtendedStats:
		return &search.Extended{StatsResult: *m.stats(), SumOfSquares: m.squares, Sigma: body.Sigma}
	default:
		return m.stats()
	}
	if m.n == 0 {
		return &search.Metric{Null: true}
	}
	return &search.Metric{Value: v, Text: m.text(v)}
}

func (m *Sums) stats() *search.StatsResult {
	if m.n == 0 {
		return &search.StatsResult{}
	}
	avg := m.sum / float64(m.n)
	out := &search.StatsResult{Count: m.n, Min: m.low, Max: m.high, Avg: avg, Sum: m.sum}
	if m.text(m.low) != "" {
		out.Texts = &[4]string{m.text(m.low), m.text(m.high), m.text(avg), m.text(m.sum)}
	}
	return out
}

// text gives a number in its second form, if it has one.
func (m *Sums) text(v float64) string {
	if m.n == 0 {
		return ""
	}
	return m.print.Text(v)
}

// NewPercentiles makes the percentiles of as many numbers as total; nth gives
// one of them by its place, from 0, in their order.
func NewPercentiles(body *search.PercentilesAgg, p *Printer, total int64, nth func(at int64) float64) *search.Percentiles {
	out := &search.Percentiles{Keyed: body.Keyed, Percents: body.Percents}
	for _, percent := range body.Percents {
		v := math.NaN()
		if total > 0 {
			at := percent / 100 * float64(total-1)
			below := int64(at)
			v = nth(below)
			if below+1 < total {
				v += (at - float64(below)) * (nth(below+1) - v)
			}
		}
		out.Values = append(out.Values, v)
		out.Texts = append(out.Texts, p.Text(v))
	}
	return out
}
