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
		return jm{"terms": jm{"field": f}}
	}
	var a jm
	switch g.IntN(8) {
	case 6, 7:
		a = g.ranged(space, f, num)
		a["aggs"] = g.aggs(space, depth-1)
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
		t := jm{"field": f, "size": float64(1 + g.IntN(12))}
		subs := g.aggs(space, depth-1)
		switch g.IntN(5) {
		case 0:
			t["order"] = jm{"_count": "asc"}
		case 1:
			t["order"] = jm{"_key": []string{"asc", "desc"}[g.IntN(2)]}
		case 2:
			subs["m"] = jm{[]string{"min", "max", "sum"}[g.IntN(3)]: jm{"field": num}}
			t["order"] = jm{"m": []string{"asc", "desc"}[g.IntN(2)]}
		case 3:
			if f == "tag" || f == "items.sku" {
				t["missing"] = "none"
			}
			t["min_doc_count"] = float64(1 + g.IntN(2))
		}
		a = jm{"terms": t, "aggs": subs}
	}
	return a
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
	return jm{"histogram": jm{"field": num, "interval": float64(1 + g.IntN(3)), "min_doc_count": float64(g.IntN(3))}}
}
