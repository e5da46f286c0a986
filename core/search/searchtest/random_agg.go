package searchtest

import "fmt"

var aggFields = map[string][]string{
	"":            {"tag", "num", "price", "flag", "date", "meta.y", "dyn.keyword", "_contenttype", "_id", "_index", "items.sku", "nowhere"},
	"items":       {"items.sku", "items.qty"},
	"items.marks": {"items.marks.label", "items.marks.score"},
}

var numFields = map[string][]string{
	"":            {"price", "date", "flag", "meta.y", "nowhere"},
	"items":       {"items.qty"},
	"items.marks": {"items.marks.score"},
}

func (g gen) aggs(space string, depth int) jm {
	out := jm{}
	for i := range 1 + g.IntN(2) {
		out[fmt.Sprintf("a%d", i)] = g.agg(space, depth)
	}
	return out
}

func (g gen) agg(space string, depth int) jm {
	list := aggFields[space]
	f := list[g.IntN(len(list))]
	num := numFields[space][g.IntN(len(numFields[space]))]
	if depth == 0 || g.IntN(3) == 0 {
		switch g.IntN(3) {
		case 0:
			return jm{[]string{"cardinality", "value_count"}[g.IntN(2)]: jm{"field": f}}
		case 1:
			return jm{[]string{"min", "max", "sum", "avg", "stats"}[g.IntN(5)]: jm{"field": num}}
		}
		if g.IntN(2) == 0 {
			return g.topHits(space, num)
		}
		return jm{"terms": jm{"field": f}}
	}
	var a jm
	switch g.IntN(10) {
	case 6, 7:
		a = g.ranged(space, f, num)
		a["aggs"] = g.aggs(space, depth-1)
		g.order(a, num)
	case 8:
		a = jm{"composite": g.composite(space), "aggs": g.aggs(space, depth-1)}
		g.order(a, num)
	case 0:
		a = jm{"filter": g.query(space, 1), "aggs": g.aggs(space, depth-1)}
	case 1, 2:
		inner := map[string]string{"": []string{"items", "items.marks"}[g.IntN(2)], "items": "items.marks"}[space]
		if inner == "" {
			a = jm{"reverse_nested": jm{}, "aggs": g.aggs("", depth-1)}
			if g.IntN(2) == 0 {
				a = jm{"reverse_nested": jm{"path": "items"}, "aggs": g.aggs("items", depth-1)}
			}
			break
		}
		a = jm{"nested": jm{"path": inner}, "aggs": g.aggs(inner, depth-1)}
	default:
		a = jm{"terms": g.terms(f), "aggs": g.aggs(space, depth-1)}
		g.order(a, num)
	}
	return a
}

func (g gen) terms(f string) jm {
	t := jm{"field": f, "size": float64(1 + g.IntN(12))}
	switch g.IntN(5) {
	case 0:
		t["order"] = []any{jm{"_count": "asc"}, jm{[]string{"_key", "_term"}[g.IntN(2)]: "desc"}}
	case 1:
		t["order"] = jm{"_key": []string{"asc", "desc"}[g.IntN(2)]}
	case 2:
		if f == "tag" || f == "items.sku" {
			t["missing"] = "none"
		}
		t["min_doc_count"] = float64(1 + g.IntN(2))
	case 3:
		t[[]string{"include", "exclude"}[g.IntN(2)]] = []any{g.value(f), g.value(f), g.value(f)}
	case 4:
		if f == "tag" || f == "items.sku" || f == "dyn.keyword" || f == "items.marks.label" {
			t["include"] = []string{"[a-e].*", "(apple|fig)s?.*", ".*rry"}[g.IntN(3)]
			t["exclude"] = []any{"apple", "cherry"}
		}
	}
	return t
}

// order lets the numbers of sub-aggregations order the buckets of an
// aggregation, which are a list.
func (g gen) order(a jm, num string) {
	kind, body := "", jm(nil)
	for _, k := range []string{"terms", "histogram", "date_histogram", "range", "composite"} {
		if b, ok := a[k].(jm); ok {
			kind, body = k, b
		}
	}
	if kind == "" || g.IntN(2) == 0 {
		return
	}
	subs := a["aggs"].(jm)
	subs["m"] = jm{[]string{"min", "max", "sum"}[g.IntN(3)]: jm{"field": num}}
	subs["s"] = jm{"stats": jm{"field": num}}
	subs["f"] = jm{"filter": jm{"exists": jm{"field": num}}, "aggs": jm{"m": jm{"avg": jm{"field": num}}}}
	path := []string{"m", "s.avg", "s[count]", "f>m", "f>_count", "f"}[g.IntN(6)]
	direction := []string{"asc", "desc"}[g.IntN(2)]
	if kind != "range" && kind != "composite" && g.IntN(2) == 0 {
		body["order"] = []any{jm{path: direction}, jm{"_count": "desc"}}
		return
	}
	s := jm{"sort": []any{jm{path: jm{"order": direction}}, jm{"_count": jm{"order": "desc"}}}, "from": float64(g.IntN(2))}
	if g.IntN(2) == 0 {
		s["sort"] = []any{jm{path: jm{"order": direction}}}
	}
	if g.IntN(2) == 0 {
		s["size"] = float64(1 + g.IntN(4))
	}
	if g.IntN(2) == 0 {
		s["gap_policy"] = "insert_zeros"
	}
	subs["z"] = jm{"bucket_sort": s}
}

func (g gen) topHits(space, num string) jm {
	order := []any{jm{num: jm{"order": []string{"asc", "desc"}[g.IntN(2)]}}}
	if space == "" {
		order = append(order, jm{"_index": jm{"order": "asc"}}, jm{"_contenttype": jm{"order": "asc"}}, jm{"_id": jm{"order": "asc"}})
	}
	return jm{"top_hits": jm{"size": float64(g.IntN(6)), "from": float64(g.IntN(2)), "_source": false, "sort": order}}
}

func (g gen) composite(space string) jm {
	var sources []any
	after := jm{}
	for i := range 1 + g.IntN(3) {
		list := aggFields[space]
		f := list[g.IntN(len(list))]
		name, kind, s := fmt.Sprint("k", i), "terms", jm{}
		value := g.value(f)
		switch {
		case f == "date" && g.IntN(2) == 0:
			kind, s["calendar_interval"], value = "date_histogram", "month", dateOf("2024-02-01", false)
		case (f == "price" || f == "meta.y" || f == "items.qty" || f == "items.marks.score") && g.IntN(2) == 0:
			kind, s["interval"], value = "histogram", float64(1+g.IntN(3)), float64(g.IntN(6))
		case f == "date":
			value = g.day()
		case f == "_index":
			value = "ix1"
		}
		s["field"] = f
		if g.IntN(2) == 0 {
			s["order"] = []string{"asc", "desc"}[g.IntN(2)]
		}
		if f != "_index" && g.IntN(3) == 0 {
			s["missing_bucket"] = true
			if g.IntN(2) == 0 {
				s["missing_order"] = []string{"first", "last"}[g.IntN(2)]
			}
			if g.IntN(3) == 0 {
				value = nil
			}
		}
		sources = append(sources, jm{name: jm{kind: s}})
		after[name] = value
	}
	c := jm{"sources": sources, "size": float64(1 + g.IntN(20))}
	if g.IntN(2) == 0 {
		c["after"] = after
	}
	return c
}

// ranged makes aggregations whose buckets do not come from single values.
func (g gen) ranged(space, field, num string) jm {
	switch g.IntN(5) {
	case 0:
		return jm{"missing": jm{"field": field}}
	case 1:
		return jm{"filters": jm{"filters": jm{"a": g.query(space, 1), "b": g.query(space, 0)}}}
	case 2:
		return jm{"range": jm{"field": num, "ranges": []any{jm{"to": 2.0, "key": "low"}, jm{"from": 1.0, "to": 4.0, "key": "mid"}, jm{"from": 3.0, "key": "high"}}}}
	case 3:
		if space == "" {
			return jm{"date_histogram": jm{"field": "date", "calendar_interval": "month", "min_doc_count": float64(g.IntN(3))}}
		}
	}
	if num == "date" {
		num = "price"
	}
	h := jm{"field": num, "interval": float64(1 + g.IntN(3)), "min_doc_count": float64(g.IntN(3))}
	switch g.IntN(4) {
	case 0:
		h["offset"] = []any{0.5, 1.0, -0.25}[g.IntN(3)]
	case 1:
		h["extended_bounds"] = jm{"min": -3.0, "max": 9.0}
	case 2:
		h["hard_bounds"] = jm{"min": 1.0, "max": 4.0}
	}
	return jm{"histogram": h}
}
