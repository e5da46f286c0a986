package searchtest

import (
	"fmt"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
)

// sort makes a random sort, or none.
func (c *comparison) sort() []any {
	if c.IntN(2) == 0 {
		return nil
	}
	var out []any
	for range 1 + c.IntN(2) {
		if c.IntN(12) == 0 {
			out = append(out, jm{"_geo_distance": jm{"place": []any{float64(c.IntN(3)) + 0.3, 0.1}, "order": []string{"asc", "desc"}[c.IntN(2)],
				"unit": "km", "mode": []string{"min", "max", "avg"}[c.IntN(3)]}})
			continue
		}
		field := []string{"tag", "num", "price", "date", "flag", "items.qty", "meta.y", "dyn.keyword", "_id", "_contenttype", "nowhere"}[c.IntN(11)]
		key := jm{"order": []string{"asc", "desc"}[c.IntN(2)]}
		if field == "items.qty" && c.IntN(4) > 0 {
			key["nested_path"] = "items"
		}
		if c.IntN(3) == 0 {
			key["missing"] = "_first"
		}
		if c.IntN(4) == 0 && field != "tag" && field != "num" && field[0] != '_' && field != "dyn.keyword" {
			key["mode"] = []string{"min", "max", "sum", "avg"}[c.IntN(4)]
		}
		out = append(out, jm{field: key})
	}
	return out
}

// compareOrder checks that the sort values of the hits are those of the
// oracle, in order. Documents with equal values may come in any order.
func (c *comparison) compareOrder(request string, out *search.Response, shown []*obj, sort []any) {
	var want [][]any
	for _, o := range shown {
		var tuple []any
		for _, s := range sort {
			field, key := only(s.(jm))
			tuple = append(tuple, sortValue(o, field, key.(jm)))
		}
		want = append(want, tuple)
	}
	slices.SortFunc(want, func(a, b []any) int {
		for i, s := range sort {
			_, key := only(s.(jm))
			if c := compareSort(a[i], b[i], key.(jm)); c != 0 {
				return c
			}
		}
		return 0
	})
	hits, _ := pick(answer(out), "hits.hits").([]any)
	for i, h := range hits {
		tuple := make([]any, len(want[i]))
		copy(tuple, want[i])
		if d := differ(fmt.Sprintf("hit %d", i), h.(map[string]any)["sort"], any(tuple)); d != "" {
			c.t.Errorf("%s: %s", request, d)
			return
		}
	}
}

func sortValue(o *obj, field string, key jm) any {
	if field == "_geo_distance" {
		return distance(o, key)
	}
	objs := []*obj{o}
	if path, ok := key["nested_path"].(string); ok {
		objs = o.below(path)
	}
	var nums []float64
	var texts []string
	for _, one := range objs {
		s := one.at(field)
		nums = append(append(append(nums, s.nums...), s.dates...), s.flags...)
		texts = append(texts, s.words...)
	}
	mode, _ := key["mode"].(string)
	low := mode == "min" || mode == "" && key["order"] == "asc"
	slices.Sort(nums)
	slices.Sort(texts)
	sum := 0.0
	for _, n := range nums {
		sum += n
	}
	switch {
	case len(nums)+len(texts) == 0:
		return nil
	case mode == "sum":
		return sum
	case mode == "avg":
		return sum / float64(len(nums))
	case low && len(nums) > 0:
		return nums[0]
	case low:
		return texts[0]
	case len(texts) > 0:
		return texts[len(texts)-1]
	}
	return nums[len(nums)-1]
}

// distance gives how far the places of an object are away, in kilometers.
func distance(o *obj, key jm) any {
	var all []float64
	sum := 0.0
	for _, p := range o.at("place").places {
		d := away(places(nil, key["place"])[0], p) / 1000
		all, sum = append(all, d), sum+d
	}
	switch {
	case len(all) == 0:
		return "Infinity"
	case key["mode"] == "max":
		return slices.Max(all)
	case key["mode"] == "avg":
		return sum / float64(len(all))
	}
	return slices.Min(all)
}

// compareSort puts missing values last, or first if asked, and numbers before
// strings.
func compareSort(a, b any, key jm) int {
	rank := func(v any) int {
		switch v.(type) {
		case nil:
			if key["missing"] == "_first" {
				return 0
			}
			return 3
		case float64:
			return 1
		}
		return 2
	}
	c := rank(a) - rank(b)
	if c != 0 && (a == nil || b == nil) {
		return c
	}
	if c == 0 {
		switch x := a.(type) {
		case float64:
			y := b.(float64)
			c = int(oneIf(x > y) - oneIf(x < y))
		case string:
			c = int(oneIf(x > b.(string)) - oneIf(x < b.(string)))
		}
	}
	if key["order"] == "desc" {
		return -c
	}
	return c
}
