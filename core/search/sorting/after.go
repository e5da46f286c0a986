package sorting

import (
	"math"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// After reads the values of search_after, one for each of the keys; nil without
// any.
func After(r *search.Request, keys []search.SortKey, named Named) ([]Value, error) {
	if r.After == nil {
		return nil, nil
	}
	if len(r.After) != len(r.Sort) || r.From > 0 {
		return nil, problem.Field(problem.Invalid, "search_after", "search_after needs a value per sort key, and from must be 0")
	}
	out := make([]Value, len(keys))
	for i := range keys {
		var err error
		if out[i], err = position(&keys[i], r.After[i], named); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// position gives where a value stands in the order of a key.
func position(key *search.SortKey, v search.Value, named Named) (Value, error) {
	if key.Geo != nil {
		n, ok := v.Number()
		if v.Text == infinity {
			n, ok = math.Inf(1), true
		}
		if !ok {
			return Value{}, problem.Field(problem.Invalid, "search_after", "%q is no distance", v.Text)
		}
		return Number(n), nil
	}
	if v.Kind == search.NullValue {
		if key.MissingFirst {
			return Value{State: AbsentFirst}, nil
		}
		return Value{State: AbsentLast}, nil
	}
	numeric, text := key.Field == "_score" || key.Field == "_doc", key.Field == mapping.IndexField
	for f := range named(key.Field) {
		if f.Family == mapping.Date && v.Kind == search.StringValue {
			if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
				return Number(float64(ms)), nil
			}
		}
		numeric = numeric || f.Family.Numeric()
		text = text || !f.Family.Numeric()
	}
	if n, ok := v.Number(); ok && (!text || numeric && v.Kind == search.NumberValue) {
		return Number(n), nil
	}
	if numeric && !text {
		return Value{}, problem.Field(problem.Invalid, "search_after", "%q is no value of %q", v.Text, key.Field)
	}
	return Text(v.Text), nil
}
