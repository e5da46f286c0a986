package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (r *run) metric(a *search.Agg, body *search.MetricAgg, sets []set) (search.ResultBody, error) {
	columns, err := bucketing.Listable(columnsOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	if body.Func == search.Cardinality {
		t := &termsRun{run: r, a: a, sets: sets, columns: columns, counts: map[bucketing.Key]int64{},
			body: &search.TermsAgg{Field: body.Field, Missing: body.Missing, MinDocCount: 1}}
		err := t.count()
		return &search.Metric{Value: float64(len(t.counts)), Whole: true}, err
	}
	if body.Func == search.ValueCount {
		n, err := r.countValues(a, body, sets, columns)
		return &search.Metric{Value: float64(n), Whole: true}, err
	}
	return r.sumUp(a, body, sets, columns)
}

func (r *run) sumUp(a *search.Agg, body *search.MetricAgg, sets []set, columns [][]column) (search.ResultBody, error) {
	sums, err := bucketing.NewSums(a, body, mapping.FieldsOf(columns...))
	if err != nil {
		return nil, err
	}
	numbers, err := bucketing.Numeric(columns, body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	values, err := r.numbers(a, body.Missing, sets, numbers)
	for _, v := range values {
		sums.Add(v.key.Num, v.n)
	}
	return sums.Result(body), err
}

// numbers gives the numbers in columns, and what stands in for those of objects
// without a value.
func (r *run) numbers(a *search.Agg, missing *search.Value, sets []set, columns [][]column) ([]tally, error) {
	stand := 0.0
	if missing != nil {
		var err error
		if stand, err = bucketing.StandIn(a, *missing, mapping.FieldsOf(columns...)); err != nil {
			return nil, err
		}
	}
	values, err := r.allValues(a, sets, columns, missing != nil)
	for i := range values {
		if values[i].key.Family == missingTally {
			values[i].key.Num = stand
		}
	}
	return values, err
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
			own[k] = []tally{{bucketing.Key{Family: missingTally}, n}}
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
			out = append(out, tally{bucketing.NumberKey(c.Field.Family, v.num), 1})
		}
	}
	return out, err
}
