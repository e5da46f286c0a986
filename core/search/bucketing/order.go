package bucketing

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// CompareSubs orders by a number of a sub-aggregation; buckets without one
// come last, whatever the direction.
func CompareSubs(a, b []search.AggResult, o search.BucketOrder) int {
	na, okA := subValue(a, o.By)
	nb, okB := subValue(b, o.By)
	switch {
	case !okA && !okB || okA && okB && na == nb:
		return 0
	case !okA || okB && (na > nb) != o.Desc:
		return 1
	}
	return -1
}

// property tells whether a step of a path means the aggregation with the name,
// and which of its numbers: "prices", "prices.avg" or "prices[avg]".
func property(step, name string) (prop string, ok bool) {
	rest, ok := strings.CutPrefix(step, name)
	switch {
	case !ok:
		return "", false
	case rest == "":
		return "", true
	case rest[0] == '.':
		return rest[1:], true
	case rest[0] == '[' && rest[len(rest)-1] == ']':
		return strings.Trim(rest[1:len(rest)-1], `'"`), true
	}
	return "", false
}

// subValue finds the number that a path such as "parts>weight.avg" means.
func subValue(subs []search.AggResult, path string) (float64, bool) {
	step, rest, more := strings.Cut(path, ">")
	for _, s := range subs {
		prop, ok := property(step, s.Name)
		if !ok {
			continue
		}
		switch body := s.Body.(type) {
		case *search.Metric:
			return body.Value, !body.Null
		case *search.StatsResult:
			return statsValue(body, prop)
		case *search.Extended:
			if v, ok := body.Value(prop); ok {
				return v, true
			}
			return statsValue(&body.StatsResult, prop)
		case *search.Percentiles:
			return percentile(body, prop)
		case *search.SingleBucket:
			if more && rest != "_count" {
				return subValue(body.Subs, rest)
			}
			return float64(body.Count), true
		}
	}
	return 0, false
}

func statsValue(s *search.StatsResult, prop string) (float64, bool) {
	switch prop {
	case "count":
		return float64(s.Count), true
	case "sum":
		return s.Sum, true
	case "min":
		return s.Min, s.Count > 0
	case "max":
		return s.Max, s.Count > 0
	}
	return s.Avg, s.Count > 0 && prop == "avg"
}

func percentile(p *search.Percentiles, prop string) (float64, bool) {
	want, err := strconv.ParseFloat(prop, 64)
	if i := slices.Index(p.Percents, want); i >= 0 && err == nil {
		return p.Values[i], p.Values[i] == p.Values[i]
	}
	return 0, false
}

// ByNumbers tells whether any of the orders needs sub-aggregations.
func ByNumbers(order []search.BucketOrder) bool {
	return slices.ContainsFunc(order, func(o search.BucketOrder) bool { return o.By != "_count" && o.By != "_key" })
}

// checkOrder refuses orders by sub-aggregations that are not there.
func checkOrder(a *search.Agg, order []search.BucketOrder, where string) error {
	for _, o := range order {
		if o.By != "_count" && o.By != "_key" && !orderable(a.Subs, o.By) {
			return problem.Field(problem.Invalid, where, "buckets cannot be ordered by %q", o.By)
		}
	}
	return nil
}

func orderable(subs []search.Agg, path string) bool {
	step, rest, more := strings.Cut(path, ">")
	for _, s := range subs {
		prop, ok := property(step, s.Name)
		if !ok {
			continue
		}
		switch body := s.Body.(type) {
		case *search.MetricAgg:
			switch body.Func {
			case search.Stats:
				return !more && slices.Contains([]string{"min", "max", "avg", "sum", "count"}, prop)
			case search.ExtendedStats:
				_, known := (&search.Extended{StatsResult: search.StatsResult{Count: 2}}).Value(prop)
				return !more && (known || slices.Contains([]string{"min", "max", "avg", "sum", "count"}, prop))
			}
			return !more && (prop == "" || prop == "value")
		case *search.PercentilesAgg:
			want, err := strconv.ParseFloat(prop, 64)
			return !more && err == nil && slices.Contains(body.Percents, want)
		case *search.FilterAgg, *search.NestedAgg, *search.ReverseNestedAgg, *search.GlobalAgg, *search.MissingAgg:
			if !more {
				return prop == "" || prop == "_count" || prop == "doc_count"
			}
			return rest == "_count" || orderable(s.Subs, rest)
		}
		return false
	}
	return false
}

// sortBuckets orders buckets, which stand by key, as a request says.
func sortBuckets(list []search.Bucket, order []search.BucketOrder) {
	compareBy := func(a, b *search.Bucket, o search.BucketOrder) int {
		c := 0
		switch o.By {
		case "_count":
			c = int(a.Count - b.Count)
		case "_key":
			c = cmp.Compare(a.Key.Num, b.Key.Num)
		default:
			return CompareSubs(a.Subs, b.Subs, o)
		}
		if o.Desc {
			return -c
		}
		return c
	}
	slices.SortStableFunc(list, func(a, b search.Bucket) int {
		for _, o := range order {
			if c := compareBy(&a, &b, o); c != 0 {
				return c
			}
		}
		return 0
	})
}
