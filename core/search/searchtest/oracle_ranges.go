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
	return map[string]any{"buckets": buckets}
}

// histogram has intervals of numbers, or months.
func (w *world) histogram(kind string, body, subs map[string]any, objs []*obj) map[string]any {
	floor := func(v float64) float64 {
		if kind == "date_histogram" {
			t := time.UnixMilli(int64(v)).UTC()
			return float64(time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).UnixMilli())
		}
		width := body["interval"].(float64)
		return math.Floor(v/width) * width
	}
	members := map[float64][]*obj{}
	for _, o := range objs {
		for _, v := range o.all(body["field"].(string)) {
			if list := members[floor(v)]; !slices.Contains(list, o) {
				members[floor(v)] = append(list, o)
			}
		}
	}
	var keys []float64
	for k := range members {
		keys = append(keys, k)
	}
	least, _ := body["min_doc_count"].(float64)
	if least == 0 && len(keys) > 0 {
		for v := slices.Min(keys); v < slices.Max(keys); v++ {
			if kind == "date_histogram" {
				v += 86_400_000 - 1
			}
			if k := floor(v); k > slices.Min(keys) && k < slices.Max(keys) && !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	buckets := []any{}
	for _, k := range keys {
		if float64(len(members[k])) < least {
			continue
		}
		b := w.aggs(subs, members[k])
		b["key"], b["doc_count"] = k, float64(len(members[k]))
		if kind == "date_histogram" {
			b["key_as_string"] = dateText(k)
		}
		buckets = append(buckets, b)
	}
	return map[string]any{"buckets": buckets}
}
