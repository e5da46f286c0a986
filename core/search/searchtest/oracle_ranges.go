package searchtest

import (
	"math"
	"slices"
	"time"
)

// all gives the numbers of an object under a path.
func (o *obj) all(path string) []float64 {
	s := o.at(path)
	return slices.Concat(s.nums, s.dates, s.flags)
}

func (w *world) ranges(body, subs map[string]any, objs []*obj) map[string]any {
	buckets := []any{}
	for _, r := range body["ranges"].([]any) {
		r := r.(map[string]any)
		low, high := math.Inf(-1), math.Inf(1)
		if v, ok := r["from"].(float64); ok {
			low = v
		}
		if v, ok := r["to"].(float64); ok {
			high = v
		}
		var kept []*obj
		for _, o := range objs {
			if slices.ContainsFunc(o.all(body["field"].(string)), func(v float64) bool { return v >= low && v < high }) {
				kept = append(kept, o)
			}
		}
		b := w.aggs(subs, kept)
		for k, v := range r {
			b[k] = v
		}
		b["doc_count"] = float64(len(kept))
		buckets = append(buckets, b)
	}
	return map[string]any{"buckets": sortBuckets(subs, buckets)}
}

// floorOf gives the key of the bucket of a value: intervals of numbers, or
// months.
func floorOf(kind string, body map[string]any) func(float64) float64 {
	if kind == "date_histogram" {
		return func(v float64) float64 {
			t := time.UnixMilli(int64(v)).UTC()
			return float64(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).UnixMilli())
		}
	}
	width, offset := body["interval"].(float64), 0.0
	if o, ok := body["offset"].(float64); ok {
		offset = o
	}
	return func(v float64) float64 { return math.Floor((v-offset)/width)*width + offset }
}

func (w *world) histogram(kind string, body, subs map[string]any, objs []*obj) map[string]any {
	floor := floorOf(kind, body)
	hard, _ := body["hard_bounds"].(map[string]any)
	offset, _ := body["offset"].(float64)
	members := map[float64][]*obj{}
	for _, o := range objs {
		for _, v := range o.all(body["field"].(string)) {
			k := floor(v)
			if hard != nil && (k-offset < hard["min"].(float64) || k-offset > hard["max"].(float64)) {
				continue
			}
			if list := members[k]; !slices.Contains(list, o) {
				members[k] = append(list, o)
			}
		}
	}
	var keys []float64
	for k := range members {
		keys = append(keys, k)
	}
	least, _ := body["min_doc_count"].(float64)
	if ends := slices.Clone(keys); least == 0 {
		if b, ok := body["extended_bounds"].(map[string]any); ok {
			ends = append(ends, floor(b["min"].(float64)), floor(b["max"].(float64)))
		}
		if len(ends) > 0 {
			keys = nil
			for k := slices.Min(ends); k <= slices.Max(ends); k = nextKey(kind, body, k) {
				keys = append(keys, k)
			}
		}
	}
	var entries []entry
	for _, k := range keys {
		if float64(len(members[k])) < least {
			continue
		}
		b := w.aggs(subs, members[k])
		b["key"], b["doc_count"] = k, float64(len(members[k]))
		if kind == "date_histogram" {
			b["key_as_string"] = dateText(k)
		}
		entries = append(entries, entry{key{num: k}, members[k], b})
	}
	order := body["order"]
	if order == nil {
		order = jm{"_key": "asc"}
	}
	orderEntries(entries, order)
	buckets := []any{}
	for _, e := range entries {
		buckets = append(buckets, e.body)
	}
	return map[string]any{"buckets": sortBuckets(subs, buckets)}
}

func nextKey(kind string, body map[string]any, k float64) float64 {
	if kind == "date_histogram" {
		return float64(time.UnixMilli(int64(k)).UTC().AddDate(0, 1, 0).UnixMilli())
	}
	return k + body["interval"].(float64)
}
