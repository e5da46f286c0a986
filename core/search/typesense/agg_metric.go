package typesense

import (
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (r *run) metric(a *search.Agg, body *search.MetricAgg, sets []set) (search.ResultBody, error) {
	columns, err := listable(sets, body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	if body.Func == search.Cardinality {
		t := &termsRun{run: r, a: a, sets: sets, columns: columns, counts: map[bucketKey]int64{},
			body: &search.TermsAgg{Field: body.Field, Missing: body.Missing, MinDocCount: 1}}
		err := t.count()
		return &search.Metric{Value: float64(len(t.counts)), Whole: true}, err
	}
	if body.Func == search.ValueCount {
		n, err := r.countValues(a, body, sets, columns)
		return &search.Metric{Value: float64(n), Whole: true}, err
	}
	m, err := r.sumUp(a, body, sets, columns)
	if err != nil {
		return nil, err
	}
	if body.Func == search.ExtendedStats {
		return &search.Extended{StatsResult: *m.stats(m.sum / float64(m.n)), SumOfSquares: m.squares, Sigma: body.Sigma}, nil
	}
	return m.result(body.Func), nil
}

func (r *run) countValues(a *search.Agg, body *search.MetricAgg, sets []set, columns [][]column) (int64, error) {
	if body.Field == indexField {
		return r.count(slices.DeleteFunc(slices.Clone(sets), func(s set) bool { return s.sp.Parent != nil }))
	}
	values, err := r.allValues(a, sets, columns, body.Missing != nil)
	n := int64(0)
	for _, v := range values {
		n += v.n
	}
	return n, err
}

// repeated holds for objects in which a number of the path occurs twice.
type repeated struct{ path string }

func (c *repeated) holds(*object) bool { return false } // never asked of an object

// missingTally marks the tally of objects without a value.
const missingTally = mapping.Text

// allValues gives the values in sets and how often they occur. Of a number that
// an object has twice the server knows only one, so that such objects are read.
// With missing, objects without a value are counted under missingTally.
func (r *run) allValues(a *search.Agg, sets []set, columns [][]column, missing bool) ([]tally, error) {
	lists := make([][]tally, len(sets))
	err := r.each(len(sets), func(i int) error {
		own := make([][]tally, len(columns[i])+1)
		err := r.each(len(own), func(k int) (err error) {
			if k < len(columns[i]) {
				own[k], err = r.valuesOf(a, sets[i], columns[i][k])
				return err
			}
			if !missing {
				return nil
			}
			rest, err := r.narrowed(sets[i:i+1], func(set) (cond, error) { return without(columns[i]), nil })
			if err != nil {
				return err
			}
			n, err := r.count(rest)
			own[k] = []tally{{bucketKey{family: missingTally}, n}}
			return err
		})
		lists[i] = slices.Concat(own...)
		return err
	})
	return slices.Concat(lists...), err
}

// valuesOf gives the values of one column in a set.
func (r *run) valuesOf(a *search.Agg, s set, c column) ([]tally, error) {
	if !c.Field.Family.Numeric() || !s.v.gen.has(s.sp.Path, fieldRepeated) {
		return r.distribution(a, s, c)
	}
	twice := &repeated{c.Field.Path}
	single, err := r.narrowed([]set{s}, func(set) (cond, error) { return not{twice}, nil })
	if err != nil {
		return nil, err
	}
	var out []tally
	var objects []*object
	err = r.each(2, func(part int) (err error) {
		if part == 0 {
			out, err = r.distribution(a, single[0], c)
			return err
		}
		objects, err = s.v.objects(s.sp, both(s.c, twice), &search.Clause{Name: "aggregation", Path: a.Path}, "repeated values")
		return err
	})
	for _, o := range objects {
		for _, v := range o.values(c.Name) {
			out = append(out, tally{bucketKey{family: c.Field.Family, num: v.num}, 1})
		}
	}
	return out, err
}

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

func (r *run) percentiles(a *search.Agg, body *search.PercentilesAgg, sets []set) (search.ResultBody, error) {
	columns, _, err := numeric(a, body.Field, sets)
	if err != nil {
		return nil, err
	}
	stand := 0.0
	if body.Missing != nil {
		var ok bool
		if stand, ok = numberFor(*body.Missing, columns); !ok {
			return nil, problem.Field(problem.Invalid, a.Path+".missing", "%q is no value of this field", body.Missing.Text)
		}
	}
	values, err := r.allValues(a, sets, columns, body.Missing != nil)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for i := range values {
		total += values[i].n
		if values[i].key.family == missingTally {
			values[i].key.num = stand
		}
	}
	slices.SortFunc(values, func(a, b tally) int { return int(oneIf(a.key.num > b.key.num)) - int(oneIf(a.key.num < b.key.num)) })
	out := &search.Percentiles{Keyed: body.Keyed, Percents: body.Percents}
	for _, p := range body.Percents {
		v := math.NaN()
		if total > 0 {
			at := p / 100 * float64(total-1)
			below := int64(at)
			v = nth(values, below)
			if below+1 < total {
				v += (at - float64(below)) * (nth(values, below+1) - v)
			}
		}
		out.Values = append(out.Values, v)
	}
	return out, nil
}

// nth gives the value at a place in the order of all.
func nth(values []tally, at int64) float64 {
	for _, v := range values {
		if at < v.n {
			return v.key.num
		}
		at -= v.n
	}
	return math.NaN()
}
