package typesense

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// after reads the values of search_after, one per sort key; nil without any.
func (r *run) after(keys []search.SortKey) ([]sortable, error) {
	if r.req.After == nil {
		return nil, nil
	}
	if len(r.req.After) != len(r.req.Sort) || r.req.From > 0 {
		return nil, problem.Field(problem.Invalid, "search_after", "search_after needs a value per sort key, and from must be 0")
	}
	out := make([]sortable, len(keys))
	for i := range keys {
		var err error
		if out[i], err = r.position(&keys[i], r.req.After[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// position gives where a value stands in the order of a key.
func (r *run) position(key *search.SortKey, v search.Value) (sortable, error) {
	if key.Geo != nil {
		n, ok := v.Number()
		if v.Text == infinity {
			n, ok = math.Inf(1), true
		}
		if !ok {
			return sortable{}, problem.Field(problem.Invalid, "search_after", "%q is no distance", v.Text)
		}
		return sortable{num: n, state: isNumber}, nil
	}
	if v.Kind == search.NullValue {
		if key.MissingFirst {
			return sortable{state: absentFirst}, nil
		}
		return sortable{state: absentLast}, nil
	}
	numeric, text := key.Field == "_score" || key.Field == "_doc", key.Field == indexField
	for _, f := range r.named(key.Field) {
		if f.Family == mapping.Date && v.Kind == search.StringValue {
			if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
				return sortable{num: float64(ms), state: isNumber}, nil
			}
		}
		numeric = numeric || f.Family.Numeric()
		text = text || !f.Family.Numeric()
	}
	if n, ok := v.Number(); ok && (!text || numeric && v.Kind == search.NumberValue) {
		return sortable{num: n, state: isNumber}, nil
	}
	if numeric && !text {
		return sortable{}, problem.Field(problem.Invalid, "search_after", "%q is no value of %q", v.Text, key.Field)
	}
	return sortable{text: v.Text, state: isText}, nil
}
