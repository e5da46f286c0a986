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
		m["place"] = g.some(func() any { return g.place() })
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

// place is a point in one of its forms, on a grid of quarters of a degree.
func (g gen) place() any {
	lat, lon := float64(g.IntN(9)-4)/4, float64(g.IntN(9)-4)/4
	if g.IntN(4) == 0 {
		lon += 179
		if lon > 180 {
			lon -= 360
		}
	}
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("%v,%v", lat, lon)
	case 1:
		return []any{lon, lat}
	}
	return jm{"lat": lat, "lon": lon}
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
	switch g.IntN(9) {
	case 7:
		return g.functionScore(space, depth)
	case 8:
		if g.IntN(2) == 0 {
			return jm{"geo_distance": jm{"place": g.place(), "distance": float64(20_000 * (1 + g.IntN(8)))}}
		}
		return jm{"geo_bounding_box": jm{"place": jm{"top": float64(g.IntN(3)) + 0.1, "bottom": -float64(g.IntN(3)) - 0.1,
			"left": []any{-0.6, 0.1, 179.1}[g.IntN(3)], "right": []any{0.6, -179.4, 179.6}[g.IntN(3)]}}}
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

// functionScore makes functions whose values are numbers above 0.
func (g gen) functionScore(space string, depth int) jm {
	field := map[string]string{"": []string{"price", "meta.y"}[g.IntN(2)], "items": "items.qty", "items.marks": "items.marks.score"}[space]
	one := func() jm {
		f := jm{}
		switch g.IntN(3) {
		case 0:
			f["field_value_factor"] = jm{"field": field, "factor": 0.5 + float64(g.IntN(3)), "missing": float64(1 + g.IntN(3)),
				"modifier": []string{"none", "log1p", "ln2p", "square", "sqrt"}[g.IntN(5)]}
		case 1:
			f[[]string{"gauss", "exp", "linear"}[g.IntN(3)]] = jm{field: jm{"origin": float64(g.IntN(5)), "scale": float64(1 + g.IntN(3)), "offset": float64(g.IntN(2))}}
		default:
			f["weight"] = float64(1 + g.IntN(3))
		}
		if g.IntN(3) == 0 {
			f["weight"] = 0.5
		}
		return f
	}
	body := jm{}
	if g.IntN(3) == 0 {
		body = one()
	} else {
		list := []any{}
		for range 1 + g.IntN(3) {
			f := one()
			if g.IntN(2) == 0 {
				f["filter"] = g.query(space, 0)
			}
			list = append(list, f)
		}
		body["functions"] = list
	}
	body["query"] = g.query(space, depth-1)
	body["score_mode"] = []string{"multiply", "sum", "avg", "first", "max", "min"}[g.IntN(6)]
	body["boost_mode"] = []string{"multiply", "replace", "sum", "avg", "max", "min"}[g.IntN(6)]
	if g.IntN(3) == 0 {
		body["max_boost"] = 2.5
	}
	if g.IntN(4) == 0 {
		body["min_score"] = 0.703
	}
	return jm{"function_score": body}
}
