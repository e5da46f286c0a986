// Package bucketing is what engines have in common when they make aggregations:
// everything but how objects and their values are found.
package bucketing

import (
	"iter"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// MaxBuckets bounds the buckets of one answer.
const MaxBuckets = 65_536

// MaxTopHits bounds the hits of all top_hits of one answer. A document may be
// in many buckets, and is in the answer once for each.
const MaxTopHits = 200_000

// tooMany is the error of an aggregation that makes more than MaxBuckets.
func tooMany(a *search.Agg) error {
	return problem.Field(problem.Invalid, a.Path, "the aggregations make more than %d buckets", MaxBuckets)
}

// Listable keeps of each list, the columns that a part of the objects has for
// the field at path, those whose values can be listed. A field that is only
// text, or only points, has none, which is an error at where.
func Listable[C mapping.Column](lists [][]C, path, where string) ([][]C, error) {
	found, text, points := false, false, false
	out := filtered(lists, func(f *mapping.Field) bool {
		switch {
		case f.Family == mapping.Geo:
			points = true
		case !f.Listable():
			text = true
		default:
			found = true
			return true
		}
		return false
	})
	if points && !found {
		return nil, problem.Field(problem.Invalid, where, "the field %q has points, of which there are no aggregations", path)
	}
	if text && !found && path != mapping.IndexField {
		return nil, problem.Field(problem.Invalid, where,
			"the field %q is text, of which only words are known; use a keyword, such as %q", path, path+".keyword")
	}
	return out, nil
}

// Numeric is Listable for numbers only. A field that only has strings is an
// error.
func Numeric[C mapping.Column](lists [][]C, path, where string) ([][]C, error) {
	lists, err := Listable(lists, path, where)
	if err != nil {
		return nil, err
	}
	strings, found := path == mapping.IndexField, false
	out := filtered(lists, func(f *mapping.Field) bool {
		found = found || f.Family.Numeric()
		strings = strings || !f.Family.Numeric()
		return f.Family.Numeric()
	})
	if strings && !found {
		return nil, problem.Field(problem.Invalid, where, "this aggregation needs numbers or dates, and the field %q has none", path)
	}
	return out, nil
}

func filtered[C mapping.Column](lists [][]C, keep func(f *mapping.Field) bool) [][]C {
	out := make([][]C, len(lists))
	for i, list := range lists {
		for _, c := range list {
			if keep(c.Of()) {
				out[i] = append(out[i], c)
			}
		}
	}
	return out
}

// StandIn reads what stands in for a missing value as a number: of a field with
// dates also a date, of one with booleans also true and false.
func StandIn(a *search.Agg, v search.Value, fields iter.Seq[*mapping.Field]) (float64, error) {
	for f := range fields {
		switch f.Family {
		case mapping.Date:
			if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok && v.Kind == search.StringValue {
				return float64(ms), nil
			}
		case mapping.Boolean:
			if b, ok := v.Bool(); ok {
				return mapping.Flag(b), nil
			}
		}
	}
	n, ok := v.Number()
	if !ok {
		return 0, noValue(a.Path+".missing", v)
	}
	return n, nil
}

func noValue(where string, v search.Value) error {
	return problem.Field(problem.Invalid, where, "%q is no value of this field", v.Text)
}
