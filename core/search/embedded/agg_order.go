package embedded

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func (t *termsRun) compare(a, b uint32) int {
	order := t.body.Order
	if len(order) == 0 {
		if ca, cb := t.table.counts[a], t.table.counts[b]; ca != cb {
			return int(cb) - int(ca)
		}
		return t.table.compare(a, b)
	}
	for _, o := range order {
		c := 0
		switch o.By {
		case "_count":
			c = int(t.table.counts[a]) - int(t.table.counts[b])
		case "_key":
			c = t.table.compare(a, b)
		default:
			c = compareSubs(t.subs[a], t.subs[b], o)
			if c != 0 {
				return c
			}
		}
		if c != 0 {
			if o.Desc {
				return -c
			}
			return c
		}
	}
	return t.table.compare(a, b)
}

// compareSubs orders by a number of a sub-aggregation; buckets without one
// come last, whatever the direction.
func compareSubs(a, b []search.AggResult, o search.BucketOrder) int {
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

// subValue finds the number that a path such as "parts>weight.avg" means.
func subValue(subs []search.AggResult, path string) (float64, bool) {
	first, rest, more := strings.Cut(path, ">")
	name, prop, _ := strings.Cut(first, ".")
	for _, s := range subs {
		if s.Name != name && s.Name != first {
			continue
		}
		switch body := s.Body.(type) {
		case *search.Metric:
			return body.Value, !body.Null
		case *search.StatsResult:
			return statsValue(body, prop)
		case *search.Extended:
			return statsValue(&body.StatsResult, prop)
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
	return s.Avg, s.Count > 0
}

func (t *termsRun) ordersBySub() bool {
	return slices.ContainsFunc(t.body.Order, func(o search.BucketOrder) bool { return o.By != "_count" && o.By != "_key" })
}

// checkOrder refuses orders by sub-aggregations that are not there.
func (t *termsRun) checkOrder() error {
	for _, o := range t.body.Order {
		if o.By == "_count" || o.By == "_key" || orderable(t.a.Subs, o.By) {
			continue
		}
		return problem.Field(problem.Invalid, t.a.Path+".order", "terms cannot be ordered by %q", o.By)
	}
	return nil
}

func orderable(subs []search.Agg, path string) bool {
	first, rest, more := strings.Cut(path, ">")
	name, prop, dotted := strings.Cut(first, ".")
	for _, s := range subs {
		if s.Name != name && s.Name != first {
			continue
		}
		switch body := s.Body.(type) {
		case *search.MetricAgg:
			if body.Func == search.Stats || body.Func == search.ExtendedStats {
				return !more && slices.Contains([]string{"min", "max", "avg", "sum", "count"}, prop)
			}
			return !more && (!dotted || s.Name == first || prop == "value")
		case *search.TermsAgg, *search.RangeAgg, *search.HistogramAgg, *search.FiltersAgg, *search.PercentilesAgg:
			return false
		}
		return !more || rest == "_count" || orderable(s.Subs, rest)
	}
	return false
}
