package searchtest

import (
	"fmt"
	"math"
	"slices"
)

// null is the key of objects without a value, in a composite.
var null = key{kind: -1}

// part is a source of a composite.
type part struct {
	name, kind string
	body       map[string]any
}

// values are the keys of an object in one part.
func (p part) values(o *obj) []key {
	field := p.body["field"].(string)
	keys := keysOf(o.at(field))
	if p.kind != "terms" {
		keys = nil
		for _, v := range o.all(field) {
			if k := (key{num: floorOf(p.kind, p.body)(v)}); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) == 0 && p.body["missing_bucket"] == true {
		return []key{null}
	}
	return keys
}

func compareTuples(parts []part, a, b []key) int {
	for i, p := range parts {
		c, desc := 0, p.body["order"] == "desc"
		switch {
		case (a[i] == null) != (b[i] == null):
			first := p.body["missing_order"] == "first" || p.body["missing_order"] == nil && !desc
			if c = 1; (a[i] == null) == first {
				c = -1
			}
		case a[i] == null:
		case desc:
			c = -compareKeys(a[i], b[i])
		default:
			c = compareKeys(a[i], b[i])
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// tuplesOf gives all combinations of the values of an object.
func tuplesOf(parts []part, o *obj) [][]key {
	all := [][]key{{}}
	for _, p := range parts {
		var longer [][]key
		for _, prefix := range all {
			for _, k := range p.values(o) {
				longer = append(longer, append(slices.Clone(prefix), k))
			}
		}
		all = longer
	}
	return all
}

func (w *world) composite(body, subs map[string]any, objs []*obj) map[string]any {
	var parts []part
	for _, s := range body["sources"].([]any) {
		name, def := only(s.(jm))
		kind, in := only(def.(jm))
		parts = append(parts, part{name, kind, in.(jm)})
	}
	tuples, members := map[string][]key{}, map[string][]*obj{}
	for _, o := range objs {
		for _, t := range tuplesOf(parts, o) {
			name := fmt.Sprint(t)
			tuples[name] = t
			members[name] = append(members[name], o)
		}
	}
	var after []key
	if m, ok := body["after"].(map[string]any); ok {
		for _, p := range parts {
			after = append(after, afterKey(m[p.name]))
		}
	}
	var names []string
	for name, t := range tuples {
		if after == nil || compareTuples(parts, t, after) > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return compareTuples(parts, tuples[a], tuples[b]) })
	size := 10
	if s, ok := body["size"].(float64); ok {
		size = int(s)
	}
	out := map[string]any{}
	buckets := []any{}
	for _, name := range names[:min(size, len(names))] {
		b := w.aggs(subs, members[name])
		k := map[string]any{}
		for i, p := range parts {
			k[p.name] = tuples[name][i].plain()
		}
		b["key"], b["doc_count"] = k, float64(len(members[name]))
		out["after_key"] = k
		buckets = append(buckets, b)
	}
	out["buckets"] = sortBuckets(subs, buckets)
	return out
}

// plain is a key of a composite.
func (k key) plain() any {
	switch k.kind {
	case -1:
		return nil
	case 2:
		return k.num == 1
	case 3:
		return k.text
	}
	return k.num
}

// afterKey reads a key of a composite; strings that are days are dates.
func afterKey(v any) key {
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		return key{kind: 2, num: oneIf(v)}
	case float64:
		return key{num: v}
	}
	text := v.(string)
	if ms := dateOf(text, false); !math.IsNaN(ms) {
		return key{kind: 1, num: ms}
	}
	return key{kind: 3, text: text}
}

// topHits are sorted by keys that leave no choice. Nested objects have none,
// so that only their sort values are given.
func topHits(body map[string]any, objs []*obj) map[string]any {
	order := body["sort"].([]any)
	tuple := func(o *obj) []any {
		var t []any
		for _, s := range order {
			field, how := only(s.(jm))
			t = append(t, sortValue(o, field, how.(jm)))
		}
		return t
	}
	list := slices.Clone(objs)
	slices.SortStableFunc(list, func(a, b *obj) int {
		for i, s := range order {
			_, how := only(s.(jm))
			if c := compareSort(tuple(a)[i], tuple(b)[i], how.(jm)); c != 0 {
				return c
			}
		}
		return 0
	})
	from, _ := body["from"].(float64)
	size := 3.0
	if s, ok := body["size"].(float64); ok {
		size = s
	}
	list = list[min(int(from), len(list)):]
	hits := []any{}
	for _, o := range list[:min(int(size), len(list))] {
		if o.parent != nil {
			hits = append(hits, map[string]any{"sort": tuple(o)})
			continue
		}
		hits = append(hits, map[string]any{"_index": o.index, "_id": o.id, "_score": nil, "_source": map[string]any{"_contenttype": o.typ}, "sort": tuple(o)})
	}
	return map[string]any{"hits": map[string]any{"total": map[string]any{"value": float64(len(objs)), "relation": "eq"}, "max_score": nil, "hits": hits}}
}

// plainTops leaves of nested hits what the oracle can know.
func plainTops(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["_nested"] != nil {
			return map[string]any{"sort": v["sort"]}
		}
		for k := range v {
			v[k] = plainTops(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainTops(v[i])
		}
	}
	return v
}
