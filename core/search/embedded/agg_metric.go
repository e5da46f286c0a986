package embedded

import (
	"math"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func (r *run) metric(a *search.Agg, body *search.MetricAgg, sets []set) (search.ResultBody, error) {
	families, err := aggregable(sets, body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	if body.Func == search.Cardinality {
		t := &termsRun{run: r, a: a, sets: sets, families: families, table: r.newTable(families),
			body: &search.TermsAgg{Field: body.Field, Missing: body.Missing, MinDocCount: 1}}
		if body.Field == indexField || body.Missing != nil {
			t.table.own()
		}
		if err := t.count(); err != nil {
			return nil, err
		}
		n := 0
		for _, c := range t.table.counts {
			if c > 0 {
				n++
			}
		}
		return &search.Metric{Value: float64(n), Whole: true}, nil
	}
	if body.Func == search.ValueCount {
		return &search.Metric{Value: float64(countValues(body, sets, families)), Whole: true}, nil
	}
	m, err := sumUp(a, body, sets, families)
	if err != nil {
		return nil, err
	}
	if body.Func == search.ExtendedStats {
		return &search.Extended{StatsResult: *m.stats(m.sum / float64(m.n)), SumOfSquares: m.squares, Sigma: body.Sigma}, nil
	}
	return m.result(body.Func), nil
}

func countValues(body *search.MetricAgg, sets []set, families [][]*family) int {
	n := 0
	for i, s := range sets {
		if body.Field == indexField && s.sp == s.v.seg.root() {
			n += len(s.objects)
			continue
		}
		for _, f := range families[i] {
			nums, ords := cursor[float64]{c: &f.nums}, cursor[uint32]{c: &f.ords}
			for _, object := range s.objects {
				n += len(nums.seek(object)) + len(ords.seek(object))
			}
		}
		if body.Missing != nil {
			n += len(without(s, families[i]))
		}
	}
	return n
}

// sums are the numbers of which the metrics are made.
type sums struct {
	n         int64
	sum       float64
	squares   float64
	low, high float64
	print     printer
}

func (m *sums) add(v float64) {
	m.n++
	m.sum += v
	m.squares += v * v
	m.low, m.high = math.Min(m.low, v), math.Max(m.high, v)
}

func sumUp(a *search.Agg, body *search.MetricAgg, sets []set, families [][]*family) (*sums, error) {
	m := &sums{low: math.Inf(1), high: math.Inf(-1)}
	var err error
	if m.print, err = printerOf(families, body.Format, a.Path); err != nil {
		return nil, err
	}
	keyword, number := body.Field == indexField, false
	for i, s := range sets {
		for _, f := range families[i] {
			if !f.field.Family.Numeric() {
				keyword = true
				continue
			}
			number = true
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					m.add(v)
				}
			}
		}
		if body.Missing != nil {
			v, ok := numberFor(*body.Missing, families)
			if !ok {
				return nil, problem.Field(problem.Invalid, a.Path+".missing", "%q is no value of this field", body.Missing.Text)
			}
			for range without(s, families[i]) {
				m.add(v)
			}
		}
	}
	if keyword && !number {
		return nil, problem.Field(problem.Invalid, a.Path, "%s needs numbers or dates, and the field %q has none", body.Func, body.Field)
	}
	return m, nil
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
