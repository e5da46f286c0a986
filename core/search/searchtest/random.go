package searchtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
)

// gen makes random documents and requests.
type gen struct{ *rand.Rand }

var vocabulary = strings.Fields("apple berry cherry date elder fig grape hazel apples berries")

func (g gen) word() string { return vocabulary[g.IntN(len(vocabulary))] }

func (g gen) text() string {
	words := make([]string, 1+g.IntN(6))
	for i := range words {
		words[i] = g.word()
	}
	return strings.Join(words, " ")
}

func (g gen) day() string { return fmt.Sprintf("2024-%02d-%02d", 1+g.IntN(3), 1+g.IntN(28)) }

// some gives no value, one, or a list.
func (g gen) some(one func() any) any {
	switch n := g.IntN(5); n {
	case 0:
		return nil
	case 1, 2:
		return one()
	default:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, one())
		}
		return list
	}
}

func (g gen) doc(typ string) []byte {
	word, number := func() any { return g.word() }, func() any { return g.IntN(8) }
	m := map[string]any{
		"title": g.some(func() any { return g.text() }),
		"tag":   g.some(word),
		"num":   g.some(number),
		"price": g.some(func() any { return float64(g.IntN(20)) / 4 }),
		"date":  g.some(func() any { return g.day() }),
		"dyn":   g.some(func() any { return g.text() }),
		"meta":  map[string]any{"x": g.some(word), "y": g.some(number)},
		"items": g.some(func() any {
			return map[string]any{"sku": g.some(word), "qty": g.some(number), "name": g.some(func() any { return g.text() }),
				"marks": g.some(func() any { return map[string]any{"label": g.some(word), "score": g.some(number)} })}
		}),
	}
	if typ == "page" {
		m["flag"] = g.some(func() any { return g.IntN(2) == 0 })
	}
	for k, v := range m {
		if v == nil && g.IntN(2) == 0 {
			delete(m, k) // absent or null, it is the same
		}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return raw
}

// fields by the nested path around them.
var fields = map[string][]string{
	"":            {"title", "tag", "num", "price", "flag", "date", "dyn", "dyn.keyword", "meta.x", "meta.x.keyword", "meta.y", "_all", "_id", "_contenttype", "items.sku", "items.qty", "nowhere"},
	"items":       {"items.sku", "items.qty", "items.name", "title"},
	"items.marks": {"items.marks.label", "items.marks.score"},
}

func (g gen) field(space string) string { return fields[space][g.IntN(len(fields[space]))] }

func (g gen) value(field string) any {
	switch {
	case field == "date":
		return []any{g.day(), "2024-02"}[g.IntN(2)]
	case field == "flag":
		return g.IntN(2) == 0
	case field == "_id":
		return fmt.Sprint(g.IntN(70))
	case field == "_contenttype":
		return []any{"page", "note"}[g.IntN(2)]
	case field == "price":
		return float64(g.IntN(20)) / 4
	case strings.HasSuffix(field, "num") || strings.HasSuffix(field, "qty") || strings.HasSuffix(field, "score") || field == "meta.y":
		return float64(g.IntN(8))
	case field == "dyn.keyword":
		return g.text()
	}
	return g.word()
}

type jm = map[string]any

func (g gen) query(space string, depth int) jm {
	if depth > 0 && g.IntN(2) == 0 {
		return g.compound(space, depth)
	}
	f := g.field(space)
	v := g.value(f)
	boost := []any{1.0, 2.0, 0.5}[g.IntN(3)]
	switch g.IntN(17) {
	case 0:
		return jm{"match_all": jm{}}
	case 1:
		return jm{"exists": jm{"field": []string{f, "meta", "items"}[g.IntN(3)]}}
	case 2:
		return jm{"terms": jm{f: []any{v, g.value(f), g.value(f)}}}
	case 3, 4:
		return jm{"match": jm{f: jm{"query": textOf(v) + " " + g.word(), "boost": boost, "operator": []string{"or", "and"}[g.IntN(2)]}}}
	case 5:
		return jm{"match": jm{f: jm{"query": g.word() + " " + g.word() + " " + g.word(), "minimum_should_match": float64(g.IntN(4))}}}
	case 6:
		return jm{"range": jm{f: jm{[]string{"gt", "gte"}[g.IntN(2)]: v, []string{"lt", "lte"}[g.IntN(2)]: g.value(f)}}}
	case 7:
		return jm{"prefix": jm{f: jm{"value": g.word()[:1+g.IntN(3)]}}}
	case 8:
		w := g.word()
		return jm{"wildcard": jm{f: jm{"value": []string{w[:2] + "*", "*" + w[2:], w[:1] + "?" + w[2:], "*r*e*"}[g.IntN(4)]}}}
	case 9:
		if space == "" && g.IntN(2) == 0 {
			return jm{"ids": jm{"values": []any{g.value("_id"), g.value("_id")}}}
		}
		m := jm{"query": textOf(v) + []string{"", " " + g.word()}[g.IntN(2)], "fields": []any{f, g.field(space) + "^2"},
			"type": []string{"best_fields", "most_fields", "phrase", "phrase_prefix", "bool_prefix", "cross_fields"}[g.IntN(6)]}
		if g.IntN(2) == 0 {
			m["tie_breaker"] = 0.3
		}
		return jm{"multi_match": m}
	case 10, 11:
		return g.phrase(f, v, boost)
	case 12:
		return g.near(f, v, boost)
	case 13:
		var words []string
		for range 1 + g.IntN(3) {
			w := g.word()
			w = []string{w, w, w[:3] + "*", w + "~1"}[g.IntN(4)]
			words = append(words, []string{"", "", "+", "-"}[g.IntN(4)]+g.field(space)+":"+w)
		}
		return jm{"query_string": jm{"query": strings.Join(words, " ")}}
	}
	if g.IntN(2) == 0 {
		return jm{"term": jm{f: v}}
	}
	return jm{"term": jm{f: jm{"value": v, "boost": boost}}}
}

// near makes clauses that stand for several terms.
func (g gen) near(f string, v, boost any) jm {
	w := []byte(g.word())
	if len(w) > 3 {
		i := g.IntN(len(w) - 1)
		w[i], w[i+1] = w[i+1], w[i]
	}
	switch g.IntN(3) {
	case 0:
		return jm{"regexp": jm{f: jm{"value": []string{"[a-e].*", "(apple|fig)s?", "...+rry", "ch[^x]{2}ry"}[g.IntN(4)], "boost": boost}}}
	case 1:
		return jm{"match": jm{f: jm{"query": string(w) + " " + g.word(), "fuzziness": float64(g.IntN(3)), "boost": boost}}}
	}
	return jm{"fuzzy": jm{f: jm{"value": string(w), "fuzziness": float64(g.IntN(3)), "boost": boost}}}
}

func (g gen) phrase(f string, v, boost any) jm {
	text := g.word() + " " + g.word() + []string{"", " " + g.word(), ""}[g.IntN(3)]
	if g.IntN(4) == 0 {
		text = textOf(v)
	}
	switch g.IntN(3) {
	case 0:
		return jm{"match_bool_prefix": jm{f: jm{"query": text[:len(text)-1], "boost": boost}}}
	case 1:
		return jm{"match_phrase_prefix": jm{f: jm{"query": text[:len(text)-1], "slop": float64(g.IntN(3)), "boost": boost}}}
	}
	return jm{"match_phrase": jm{f: jm{"query": text, "slop": float64(g.IntN(5)), "boost": boost}}}
}

func (g gen) compound(space string, depth int) jm {
	switch g.IntN(7) {
	case 3:
		return jm{"boosting": jm{"positive": g.query(space, depth-1), "negative": g.query(space, depth-1), "negative_boost": 0.25}}
	case 0:
		return jm{"constant_score": jm{"filter": g.query(space, depth-1), "boost": 2.0}}
	case 1, 2:
		inner := map[string]string{"": []string{"items", "items.marks"}[g.IntN(2)], "items": "items.marks", "items.marks": "items"}[space]
		return jm{"nested": jm{"path": inner, "query": g.query(inner, depth-1), "score_mode": []string{"avg", "sum", "max", "min", "none"}[g.IntN(5)]}}
	}
	b := jm{}
	for _, part := range []string{"must", "should", "must_not", "filter"} {
		var list []any
		for range max(0, g.IntN(5)-2) {
			list = append(list, any(g.query(space, depth-1)))
		}
		if list != nil {
			b[part] = list
		}
	}
	if g.IntN(3) == 0 {
		b["minimum_should_match"] = float64(g.IntN(3))
	}
	return jm{"bool": b}
}

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

// settings are the mapping of the random documents.
func randomSettings() search.Settings {
	s := search.Settings{Types: map[string][]search.Field{}}
	for typ, m := range kinds {
		for path, kind := range m {
			s.Types[typ] = append(s.Types[typ], search.Field{Path: path, Kind: kind})
		}
	}
	return s
}
