package typesense

import (
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

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
	texts, err := printerOf(columns, body.Format, a.Path)
	if err != nil {
		return nil, err
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
		out.Texts = append(out.Texts, texts.text(v))
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
