package searchtest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// entry is a bucket of the oracle.
type entry struct {
	k    key
	list []*obj
	body map[string]any
}

func (w *world) terms(body, subs map[string]any, objs []*obj) map[string]any {
	members := map[key][]*obj{}
	for _, o := range objs {
		keys := keysOf(o.at(body["field"].(string)))
		if m, ok := body["missing"].(string); ok && len(keys) == 0 {
			keys = []key{{kind: 3, text: m}}
		}
		for _, k := range keys {
			members[k] = append(members[k], o)
		}
	}
	var entries []entry
	least := 1.0
	if m, ok := body["min_doc_count"].(float64); ok {
		least = m
	}
	total := 0
	for k, list := range members {
		if float64(len(list)) < least || body["include"] != nil && !chosen(body["include"], k) || body["exclude"] != nil && chosen(body["exclude"], k) {
			continue
		}
		b := w.aggs(subs, list)
		b["doc_count"] = float64(len(list))
		k.write(b)
		entries = append(entries, entry{k, list, b})
		total += len(list)
	}
	order := body["order"]
	if order == nil {
		order = jm{"_count": "desc"}
	}
	orderEntries(entries, order)
	size := 10
	if s, ok := body["size"].(float64); ok {
		size = int(s)
	}
	buckets := []any{}
	for _, e := range entries[:min(size, len(entries))] {
		buckets = append(buckets, e.body)
		total -= len(e.list)
	}
	return map[string]any{"buckets": sortBuckets(subs, buckets), "sum_other_doc_count": float64(total), "doc_count_error_upper_bound": 0.0}
}

// chosen tells whether include or exclude names a key.
func chosen(f any, k key) bool {
	if pattern, ok := f.(string); ok {
		return k.kind == 3 && regexp.MustCompile(`^(`+pattern+`)$`).MatchString(k.text)
	}
	return slices.ContainsFunc(f.([]any), func(v any) bool {
		switch k.kind {
		case 3:
			return k.text == textOf(v)
		case 2:
			return v == any(k.num == 1)
		case 1:
			return dateOf(textOf(v), false) == k.num
		}
		return v == any(k.num)
	})
}

// orderEntries orders by an order or a list of them, at last by key.
func orderEntries(entries []entry, order any) {
	slices.SortFunc(entries, func(a, b entry) int {
		for _, o := range clauses(order) {
			by, direction := only(o)
			c := 0
			switch by {
			case "_count":
				c = len(a.list) - len(b.list)
			case "_key", "_term", "_time":
				c = compareKeys(a.k, b.k)
			default:
				va, okA := number(a.body, by)
				vb, okB := number(b.body, by)
				if okA != okB { // without a number: last
					return cmp.Compare(oneIf(okB), oneIf(okA))
				}
				c = cmp.Compare(va, vb)
			}
			if direction == "desc" {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return compareKeys(a.k, b.k)
	})
}

// number follows a path such as "f>m.avg" from a bucket.
func number(bucket map[string]any, path string) (float64, bool) {
	step, rest, more := strings.Cut(path, ">")
	name, prop, dotted := strings.Cut(strings.TrimSuffix(strings.ReplaceAll(step, "[", "."), "]"), ".")
	m := bucket[name].(map[string]any)
	switch {
	case more && rest == "_count":
		prop = "doc_count"
	case more:
		return number(m, rest)
	case !dotted && m["doc_count"] != nil:
		prop = "doc_count"
	case !dotted:
		prop = "value"
	}
	v, ok := m[prop].(float64)
	return v, ok
}

// sortBuckets applies the bucket_sort among the sub-aggregations.
func sortBuckets(subs map[string]any, list []any) []any {
	for _, def := range subs {
		body, ok := def.(map[string]any)["bucket_sort"].(map[string]any)
		if !ok {
			continue
		}
		order, _ := body["sort"].([]any)
		value := func(b map[string]any, by string) (float64, bool) {
			if by == "_count" {
				return b["doc_count"].(float64), true
			}
			v, ok := number(b, by)
			if ok = ok && b["doc_count"] != 0.0; !ok && body["gap_policy"] == "insert_zeros" {
				return 0, true
			}
			return v, ok
		}
		if len(order) > 0 {
			list = slices.DeleteFunc(list, func(b any) bool {
				for _, o := range order {
					by, _ := only(o.(jm))
					if _, ok := value(b.(map[string]any), by); ok {
						return false
					}
				}
				return true
			})
			slices.SortStableFunc(list, func(a, b any) int {
				for _, o := range order {
					by, how := only(o.(jm))
					va, okA := value(a.(map[string]any), by)
					vb, okB := value(b.(map[string]any), by)
					c := cmp.Compare(va, vb)
					switch {
					case okA != okB:
						return cmp.Compare(oneIf(okB), oneIf(okA))
					case !okA:
						c = 0
					case how.(jm)["order"] == "desc":
						c = -c
					}
					if c != 0 {
						return c
					}
				}
				return 0
			})
		}
		from, _ := body["from"].(float64)
		list = list[min(int(from), len(list)):]
		if size, ok := body["size"].(float64); ok {
			list = list[:min(int(size), len(list))]
		}
	}
	return list
}
