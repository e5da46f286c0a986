package embedded

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (r *run) metric(a *search.Agg, body *search.MetricAgg, sets []set) (search.ResultBody, error) {
	families, err := bucketing.Listable(familiesOf(sets, body.Field), body.Field, a.Path)
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
	sums, err := bucketing.NewSums(a, body, mapping.FieldsOf(families...))
	if err != nil {
		return nil, err
	}
	err = eachNumber(a, body.Missing, sets, families, func(v float64) { sums.Add(v, 1) })
	return sums.Result(body), err
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

// eachNumber calls f for each number that the objects of sets have in families,
// and for what stands in for those of objects without a value.
func eachNumber(a *search.Agg, missing *search.Value, sets []set, families [][]*family, f func(v float64)) error {
	stand := 0.0
	if missing != nil {
		var err error
		if stand, err = bucketing.StandIn(a, *missing, mapping.FieldsOf(families...)); err != nil {
			return err
		}
	}
	for i, s := range sets {
		for _, fam := range families[i] {
			k := cursor[float64]{c: &fam.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					f(v)
				}
			}
		}
		if missing != nil {
			for range without(s, families[i]) {
				f(stand)
			}
		}
	}
	return nil
}
