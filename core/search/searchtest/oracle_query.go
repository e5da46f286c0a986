package searchtest

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// world is what an oracle searches in: the live documents of the indices, and
// those of them that the caller may see.
type world struct {
	all     []*obj
	visible []*obj
}

// objects gives all objects of a space, for statistics.
func (w *world) objects(path string) []*obj {
	if path == "" {
		return w.all
	}
	var out []*obj
	for _, d := range w.all {
		out = append(out, d.below(path)...)
	}
	return out
}

// only gives the one key of an object and its value.
func only(m map[string]any) (string, any) {
	for k, v := range m {
		return k, v
	}
	return "", nil
}

func clauses(v any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		var out []map[string]any
		for _, e := range v {
			out = append(out, e.(map[string]any))
		}
		return out
	}
	return nil
}

func boostOf(m map[string]any) float64 {
	if b, ok := m["boost"].(float64); ok {
		return b
	}
	return 1
}

// eval tells whether the object matches the query and with what score.
func (w *world) eval(q map[string]any, o *obj) (bool, float64) {
	if len(q) == 0 {
		return true, 1
	}
	name, raw := only(q)
	body, _ := raw.(map[string]any)
	switch name {
	case "match_all":
		return true, boostOf(body)
	case "match_none":
		return false, 0
	case "bool":
		return w.boolean(body, o)
	case "nested":
		return w.nested(body, o)
	case "constant_score":
		ok, _ := w.eval(body["filter"].(map[string]any), o)
		return ok, boostOf(body)
	case "ids":
		return slices.Contains(body["values"].([]any), any(o.id)) && o.parent == nil, boostOf(body)
	case "exists":
		return existsIn(o, body["field"].(string)), boostOf(body)
	case "boosting":
		ok, score := w.eval(body["positive"].(map[string]any), o)
		if less, _ := w.eval(body["negative"].(map[string]any), o); less {
			score *= body["negative_boost"].(float64)
		}
		return ok, score * boostOf(body)
	case "function_score":
		return w.functionScore(body, o)
	case "geo_distance":
		return o.at("place").near(body), boostOf(body)
	case "geo_bounding_box":
		return o.at("place").inBox(body["place"].(map[string]any)), boostOf(body)
	case "query_string":
		return w.eval(tree(body["query"].(string)), o)
	case "multi_match":
		return w.multiMatch(body, o)
	case "terms":
		field, list := only(body)
		return slices.ContainsFunc(list.([]any), o.at(field).exact), 1
	}
	field, v := only(body)
	params, long := v.(map[string]any)
	if !long {
		params = map[string]any{"value": v, "query": v}
	}
	switch name {
	case "term":
		return w.term(o, field, params["value"], boostOf(params))
	case "match":
		return w.match(o, field, params)
	case "match_phrase", "match_phrase_prefix":
		return w.phrase(o, field, params, name == "match_phrase_prefix")
	case "match_bool_prefix":
		params["prefix"] = true
		return w.match(o, field, params)
	case "fuzzy":
		return w.fuzzy(o, field, params)
	case "regexp":
		return anyTerm(o.at(field), regexp.MustCompile("^(?:"+params["value"].(string)+")$").MatchString), boostOf(params)
	case "range":
		return inRange(o.at(field), params), boostOf(params)
	case "prefix":
		return anyTerm(o.at(field), func(t string) bool { return strings.HasPrefix(t, params["value"].(string)) }), 1
	case "wildcard":
		return anyTerm(o.at(field), func(t string) bool { return glob(params["value"].(string), t) }), 1
	}
	panic("the oracle does not know " + name)
}

func anyTerm(s *vals, f func(string) bool) bool {
	return slices.ContainsFunc(s.tokens, f) || slices.ContainsFunc(s.words, f)
}

func glob(p, s string) bool {
	if p == "" {
		return s == ""
	}
	switch p[0] {
	case '*':
		return glob(p[1:], s) || s != "" && glob(p, s[1:])
	case '?':
		return s != "" && glob(p[1:], s[1:])
	}
	return s != "" && s[0] == p[0] && glob(p[1:], s[1:])
}

func existsIn(o *obj, field string) bool {
	for path, s := range o.vals {
		if (path == field || strings.HasPrefix(path, field+".")) && s.any() {
			return true
		}
	}
	return false
}

func (w *world) boolean(body map[string]any, o *obj) (bool, float64) {
	score, matched := 0.0, 0
	must, filter, should := clauses(body["must"]), clauses(body["filter"]), clauses(body["should"])
	for _, c := range must {
		ok, s := w.eval(c, o)
		if !ok {
			return false, 0
		}
		score += s
	}
	for _, c := range filter {
		if ok, _ := w.eval(c, o); !ok {
			return false, 0
		}
	}
	for _, c := range clauses(body["must_not"]) {
		if ok, _ := w.eval(c, o); ok {
			return false, 0
		}
	}
	for _, c := range should {
		if ok, s := w.eval(c, o); ok {
			matched++
			score += s
		}
	}
	if len(must)+len(filter)+len(should)+len(clauses(body["must_not"])) == 0 {
		return true, boostOf(body)
	}
	need := 0
	if m, ok := body["minimum_should_match"].(float64); ok {
		need = int(m)
	}
	if need == 0 && len(must)+len(filter) == 0 && len(should) > 0 {
		need = 1
	}
	if matched < need {
		return false, 0
	}
	return true, score * boostOf(body)
}

func (w *world) nested(body map[string]any, o *obj) (bool, float64) {
	var scores []float64
	for _, k := range o.below(body["path"].(string)) {
		if ok, s := w.eval(body["query"].(map[string]any), k); ok {
			scores = append(scores, s)
		}
	}
	if len(scores) == 0 {
		return false, 0
	}
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	switch body["score_mode"] {
	case "sum":
		return true, sum
	case "max":
		return true, slices.Max(scores)
	case "min":
		return true, slices.Min(scores)
	case "none":
		return true, 0
	}
	return true, sum / float64(len(scores))
}

// stats gives how many objects have the field, how many of them the term, and
// the sum of the lengths of its texts.
func (w *world) stats(o *obj, field, term string, text bool) (n, df, length float64) {
	for _, other := range w.objects(o.path) {
		s := other.at(field)
		switch {
		case text && s.isText:
			n++
			length += float64(len(s.tokens))
			if slices.Contains(s.tokens, term) {
				df++
			}
		case !text && len(s.words) > 0:
			n++
			if slices.Contains(s.words, term) {
				df++
			}
		}
	}
	return n, df, length
}

func idf(n, df float64) float64 { return math.Log(1 + math.Max(0, n-df+0.5)/(df+0.5)) }

// bm25 scores a token of a text, or a keyword, of an object.
func (w *world) bm25(o *obj, field, term string, text bool) float64 {
	n, df, length := w.stats(o, field, term, text)
	if !text {
		return idf(n, df)
	}
	return w.freqScore(o, field, count(o.at(field).tokens, term), idf(n, df), length/n)
}

func count(list []string, term string) float64 {
	n := 0.0
	for _, t := range list {
		if t == term {
			n++
		}
	}
	return n
}

func (w *world) freqScore(o *obj, field string, tf, weight, average float64) float64 {
	norm := 1.2 * (0.25 + 0.75*float64(len(o.at(field).tokens))/average)
	return 2.2 * weight * tf / (tf + norm)
}

func (w *world) term(o *obj, field string, v any, boost float64) (bool, float64) {
	s, text, score := o.at(field), textOf(v), 0.0
	if !s.exact(v) {
		return false, 0
	}
	if slices.Contains(s.tokens, text) {
		score += w.bm25(o, field, text, true)
	}
	return true, boost * (score + w.others(o, field, v))
}

// others scores an exact value in everything but text.
func (w *world) others(o *obj, field string, v any) float64 {
	s, text, score := *o.at(field), textOf(v), 0.0
	s.tokens = nil
	if slices.Contains(s.words, text) {
		if field == "_id" || field == "_index" {
			return 1
		}
		score += w.bm25(o, field, text, false)
	}
	s.words = nil
	if s.exact(v) {
		score++
	}
	return score
}

func (w *world) match(o *obj, field string, params map[string]any) (bool, float64) {
	s, boost := *o.at(field), boostOf(params)
	hit, score := false, 0.0
	if s.isText {
		terms := strings.Fields(strings.ToLower(textOf(params["query"])))
		matched, sum := 0, 0.0
		for i, t := range terms {
			if params["prefix"] == true && i == len(terms)-1 {
				if slices.ContainsFunc(s.tokens, func(have string) bool { return strings.HasPrefix(have, t) }) {
					matched++
					sum++
				}
				continue
			}
			if z, ok := params["fuzziness"].(float64); ok {
				if found, score := w.similar(o, field, t, int(z), true); found {
					matched++
					sum += score
				}
				continue
			}
			if slices.Contains(s.tokens, t) {
				matched++
				sum += w.bm25(o, field, t, true)
			}
		}
		need := 1
		if m, ok := params["minimum_should_match"].(float64); ok && len(terms) > 1 {
			need = max(int(m), 1)
		}
		if params["operator"] == "and" {
			need = len(terms)
		}
		if matched > 0 && matched >= need {
			hit, score = true, sum
		}
	}
	s.tokens = nil
	if s.exact(params["query"]) {
		hit = true
		score += w.others(o, field, params["query"])
	}
	return hit, score * boost
}

func inRange(s *vals, p map[string]any) bool {
	holds := func(v float64, bound func(v any, up bool) float64) bool {
		ok := true
		for key, raw := range p {
			switch key {
			case "gt":
				ok = ok && v > bound(raw, true)
			case "gte":
				ok = ok && v >= bound(raw, false)
			case "lt":
				ok = ok && v < bound(raw, false)
			case "lte":
				ok = ok && v <= bound(raw, true)
			}
		}
		return ok
	}
	number := func(v any, _ bool) float64 { return numOf(v) }
	flag := func(v any, _ bool) float64 {
		if b, ok := v.(bool); ok {
			return oneIf(b)
		}
		return math.NaN()
	}
	date := func(v any, up bool) float64 { return dateOf(textOf(v), up) }
	return slices.ContainsFunc(s.nums, func(v float64) bool { return holds(v, number) }) ||
		slices.ContainsFunc(s.flags, func(v float64) bool { return holds(v, flag) }) ||
		slices.ContainsFunc(s.dates, func(v float64) bool { return holds(v, date) }) ||
		anyTerm(s, func(t string) bool {
			ok := true
			for key, raw := range p {
				c := strings.Compare(t, textOf(raw))
				switch key {
				case "gt":
					ok = ok && c > 0
				case "gte":
					ok = ok && c >= 0
				case "lt":
					ok = ok && c < 0
				case "lte":
					ok = ok && c <= 0
				}
			}
			return ok
		})
}
