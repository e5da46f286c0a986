package searchtest

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// aggs gives the aggregations as the answer of a client shows them.
func (w *world) aggs(defs map[string]any, objs []*obj) map[string]any {
	out := map[string]any{}
	for name, raw := range defs {
		def := raw.(map[string]any)
		subs, _ := def["aggs"].(map[string]any)
		for kind, body := range def {
			if kind != "aggs" && kind != "bucket_sort" {
				out[name] = w.agg(kind, body.(map[string]any), subs, objs)
			}
		}
	}
	return out
}

func (w *world) agg(kind string, body, subs map[string]any, objs []*obj) map[string]any {
	one := func(list []*obj) map[string]any {
		m := w.aggs(subs, list)
		m["doc_count"] = float64(len(list))
		return m
	}
	switch kind {
	case "terms":
		return w.terms(body, subs, objs)
	case "filter":
		var kept []*obj
		for _, o := range objs {
			if ok, _ := w.eval(body, o); ok {
				kept = append(kept, o)
			}
		}
		return one(kept)
	case "missing":
		var kept []*obj
		for _, o := range objs {
			if !o.at(body["field"].(string)).any() {
				kept = append(kept, o)
			}
		}
		return one(kept)
	case "filters":
		out := map[string]any{}
		for name, q := range body["filters"].(map[string]any) {
			out[name] = w.agg("filter", q.(map[string]any), subs, objs)
		}
		return map[string]any{"buckets": out}
	case "range":
		return w.ranges(body, subs, objs)
	case "histogram", "date_histogram":
		return w.histogram(kind, body, subs, objs)
	case "composite":
		return w.composite(body, subs, objs)
	case "top_hits":
		return topHits(body, objs)
	case "global":
		return one(w.visible)
	case "nested":
		var list []*obj
		for _, o := range objs {
			list = append(list, o.below(body["path"].(string))...)
		}
		return one(list)
	case "reverse_nested":
		return one(outer(objs, body))
	}
	return metric(kind, body, objs)
}

func outer(objs []*obj, body map[string]any) []*obj {
	path, _ := body["path"].(string)
	var list []*obj
	for _, o := range objs {
		for o != nil && o.path != path {
			o = o.parent
		}
		if o != nil && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}

// key is the key of a bucket; kind 0 numbers, 1 dates, 2 booleans, 3 strings.
type key struct {
	kind int
	num  float64
	text string
}

func keysOf(s *vals) []key {
	var out []key
	add := func(k key) {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	for _, n := range s.nums {
		add(key{num: n})
	}
	for _, n := range s.dates {
		add(key{kind: 1, num: n})
	}
	for _, n := range s.flags {
		add(key{kind: 2, num: n})
	}
	for _, t := range s.words {
		add(key{kind: 3, text: t})
	}
	return out
}

func (k key) write(b map[string]any) {
	switch k.kind {
	case 3:
		b["key"] = k.text
		return
	case 2:
		b["key_as_string"] = map[float64]string{0: "false", 1: "true"}[k.num]
	case 1:
		b["key_as_string"] = dateText(k.num)
	}
	b["key"] = k.num
}

func dateText(ms float64) string {
	return time.UnixMilli(int64(ms)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// rank is the order of kinds of keys: numbers before strings.
func compareKeys(a, b key) int {
	rank := [4]int{1, 2, 0, 3}
	return cmp.Or(cmp.Compare(rank[a.kind], rank[b.kind]), cmp.Compare(a.num, b.num), strings.Compare(a.text, b.text))
}

func metric(kind string, body map[string]any, objs []*obj) map[string]any {
	field := body["field"].(string)
	distinct := map[key]bool{}
	var all []float64
	n, text := 0, func(float64) any { return nil }
	for _, o := range objs {
		s := o.at(field)
		for _, k := range keysOf(s) {
			distinct[k] = true
		}
		n += len(s.words) + len(s.nums) + len(s.dates) + len(s.flags)
		all = append(append(append(all, s.nums...), s.dates...), s.flags...)
		if len(s.dates) > 0 {
			text = func(v float64) any { return dateText(v) }
		}
		if len(s.flags) > 0 {
			text = func(v float64) any { return map[bool]any{false: "true", true: "false"}[v == 0] }
		}
	}
	value := func(v any) map[string]any {
		m := map[string]any{"value": v}
		if f, ok := v.(float64); ok && text(f) != nil && len(all) > 0 && kind != "value_count" && kind != "cardinality" {
			m["value_as_string"] = text(f)
		}
		return m
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	switch kind {
	case "value_count":
		return value(float64(n))
	case "cardinality":
		return value(float64(len(distinct)))
	case "sum":
		return value(sum)
	}
	if kind == "stats" {
		m := map[string]any{"count": float64(len(all)), "sum": sum, "min": nil, "max": nil, "avg": nil}
		if len(all) > 0 {
			m["min"], m["max"], m["avg"] = slices.Min(all), slices.Max(all), sum/float64(len(all))
			if text(0) != nil {
				for _, k := range []string{"min", "max", "avg", "sum"} {
					m[k+"_as_string"] = text(m[k].(float64))
				}
			}
		}
		return m
	}
	if len(all) == 0 {
		return value(nil)
	}
	switch kind {
	case "min":
		return value(slices.Min(all))
	case "max":
		return value(slices.Max(all))
	}
	return value(sum / float64(len(all)))
}
