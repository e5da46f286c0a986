package searchtest

import (
	"math"
	"slices"
	"strings"
)

func (w *world) multiMatch(body map[string]any, o *obj) (bool, float64) {
	hit, best, sum := false, 0.0, 0.0
	take := func(ok bool, s float64) {
		if ok {
			hit = true
			best = math.Max(best, s)
			sum += s
		}
	}
	tie, _ := body["tie_breaker"].(float64)
	if body["type"] == "cross_fields" {
		w.cross(body, o, tie, take)
		return hit, (best + tie*(sum-best)) * boostOf(body)
	}
	for _, f := range body["fields"].([]any) {
		name, boost, _ := strings.Cut(f.(string), "^")
		params := map[string]any{"query": body["query"], "operator": body["operator"], "slop": body["slop"], "prefix": body["type"] == "bool_prefix"}
		if boost != "" {
			params["boost"] = numOf(boost)
		}
		switch body["type"] {
		case "phrase", "phrase_prefix":
			take(w.phrase(o, name, params, body["type"] == "phrase_prefix"))
		default:
			take(w.match(o, name, params))
		}
	}
	if body["type"] == "most_fields" || body["type"] == "bool_prefix" {
		tie = 1
	}
	return hit, (best + tie*(sum-best)) * boostOf(body)
}

// cross looks for every word in any of the text fields.
func (w *world) cross(body map[string]any, o *obj, tie float64, take func(bool, float64)) {
	type field struct {
		name  string
		boost float64
	}
	var texts []field
	for _, f := range body["fields"].([]any) {
		name, factor, _ := strings.Cut(f.(string), "^")
		boost := 1.0
		if factor != "" {
			boost = numOf(factor)
		}
		s := *o.at(name)
		s.tokens = nil
		if s.exact(body["query"]) {
			take(true, boost*w.others(o, name, body["query"]))
		}
		if slices.ContainsFunc(w.objects(o.path), func(other *obj) bool { return other.at(name).isText }) {
			texts = append(texts, field{name, boost})
		}
	}
	words := strings.Fields(strings.ToLower(textOf(body["query"])))
	matched, total := 0, 0.0
	for _, word := range words {
		df := 0.0
		for _, f := range texts {
			_, n, _ := w.stats(o, f.name, word, true)
			df = math.Max(df, n)
		}
		best, sum, found := 0.0, 0.0, false
		for _, f := range texts {
			tf := count(o.at(f.name).tokens, word)
			if tf == 0 {
				continue
			}
			n, _, length := w.stats(o, f.name, word, true)
			s := f.boost * w.freqScore(o, f.name, tf, idf(n, df), length/n)
			best, sum, found = math.Max(best, s), sum+s, true
		}
		if found {
			matched++
			total += best + tie*(sum-best)
		}
	}
	need := 1
	if body["operator"] == "and" {
		need = len(words)
	}
	take(matched > 0 && matched >= need, total)
}

// phrase looks for words side by side, or no further apart than slop.
func (w *world) phrase(o *obj, field string, params map[string]any, prefix bool) (bool, float64) {
	s, boost := *o.at(field), boostOf(params)
	slop, _ := params["slop"].(float64)
	hit, score := false, 0.0
	if s.isText {
		words := w.alternatives(o, field, strings.Fields(strings.ToLower(textOf(params["query"]))), prefix)
		if len(words) == 1 {
			for _, t := range words[0] {
				if slices.Contains(s.tokens, t) {
					hit = true
					score += w.bm25(o, field, t, true)
				}
			}
		} else if freq := windows(&s, words, int(slop)); freq > 0 {
			hit = true
			sum, average := 0.0, 1.0
			for _, list := range words {
				for _, t := range list {
					n, df, length := w.stats(o, field, t, true)
					sum, average = sum+idf(n, df), length/n
				}
			}
			score = w.freqScore(o, field, freq, sum, average)
		}
	}
	s.tokens = nil
	if s.exact(params["query"]) {
		hit = true
		score += w.others(o, field, params["query"])
	}
	return hit, score * boost
}

// alternatives gives the terms that each word stands for.
func (w *world) alternatives(o *obj, field string, words []string, prefix bool) [][]string {
	out := make([][]string, len(words))
	for i, word := range words {
		out[i] = []string{word}
		if !prefix || i < len(words)-1 {
			continue
		}
		out[i] = nil
		for _, other := range w.objects(o.path) {
			for _, t := range other.at(field).tokens {
				if strings.HasPrefix(t, word) && !slices.Contains(out[i], t) {
					out[i] = append(out[i], t)
				}
			}
		}
	}
	return out
}

// windows adds up 1/(1+width) over the windows that hold every word, of those
// that end at the same place the narrowest. Each word has a place of its own.
func windows(s *vals, words [][]string, slop int) float64 {
	freq, lastEnd := 0.0, math.MaxInt
	for start := slices.Max(append(s.at, 0)); start >= -len(words); start-- {
		taken := map[int]bool{}
		end, starts := start, false
		for i, list := range words {
			at := -1
			for k, t := range s.tokens {
				if slices.Contains(list, t) && s.at[k]-i >= start && !taken[s.at[k]] {
					at = s.at[k]
					break
				}
			}
			if at < 0 {
				end = math.MaxInt
				break
			}
			taken[at] = true
			end = max(end, at-i)
			starts = starts || at-i == start
		}
		if end == math.MaxInt || end >= lastEnd {
			continue
		}
		if !starts {
			continue
		}
		lastEnd = end
		if end-start <= slop {
			freq += 1 / float64(1+end-start)
		}
	}
	return freq
}

func (w *world) fuzzy(o *obj, field string, params map[string]any) (bool, float64) {
	z, word := int(params["fuzziness"].(float64)), textOf(params["value"])
	hit, score := false, 0.0
	for _, text := range []bool{true, false} {
		if ok, s := w.similar(o, field, word, z, text); ok {
			hit = true
			score += s
		}
	}
	s := *o.at(field)
	s.tokens, s.words = nil, nil
	if s.exact(params["value"]) {
		hit = true
		score++
	}
	return hit, score * boostOf(params)
}

// similar scores the terms of an object that are near a word, all with the
// greatest number of objects that any of the near terms has.
func (w *world) similar(o *obj, field, word string, edits int, text bool) (bool, float64) {
	terms := func(s *vals) []string {
		if text {
			return s.tokens
		}
		return s.words
	}
	df := 0.0
	for _, other := range w.objects(o.path) {
		for _, t := range terms(other.at(field)) {
			if editsBetween(t, word) <= edits {
				_, n, _ := w.stats(o, field, t, text)
				df = math.Max(df, n)
			}
		}
	}
	hit, score := false, 0.0
	mine := slices.Compact(slices.Sorted(slices.Values(terms(o.at(field)))))
	for _, t := range mine {
		e := editsBetween(t, word)
		if e > edits {
			continue
		}
		hit = true
		n, _, length := w.stats(o, field, t, text)
		s := idf(n, df)
		if text {
			s = w.freqScore(o, field, count(o.at(field).tokens, t), s, length/n)
		}
		score += s * (1 - float64(e)/float64(min(len(t), len(word))))
	}
	return hit, score
}

// editsBetween is the plain recursive distance.
func editsBetween(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return editsBetween(a[1:], b[1:])
	case max(len(a)-len(b), len(b)-len(a)) > 2:
		return 3
	}
	n := 1 + min(within(a[1:], b[1:]), within(a[1:], b), within(a, b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		n = min(n, 1+within(a[2:], b[2:]))
	}
	return n
}

// within gives up on what is plainly too far.
func within(a, b string) int {
	if max(len(a)-len(b), len(b)-len(a)) > 2 {
		return 3
	}
	return editsBetween(a, b)
}

// tree gives the clauses of a query_string of the form that random requests
// have: field:word, field:wor*, field:word~1, each behind nothing, + or -.
func tree(s string) map[string]any {
	parts := map[string][]any{}
	for _, word := range strings.Fields(s) {
		occur := "should"
		switch word[0] {
		case '+':
			occur, word = "must", word[1:]
		case '-':
			occur, word = "must_not", word[1:]
		}
		field, text, _ := strings.Cut(word, ":")
		clause := map[string]any{"match": map[string]any{field: text}}
		if cut, found := strings.CutSuffix(text, "*"); found {
			clause = map[string]any{"prefix": map[string]any{field: cut}}
		}
		if cut, found := strings.CutSuffix(text, "~1"); found {
			clause = map[string]any{"match": map[string]any{field: map[string]any{"query": cut, "fuzziness": 1.0}}}
		}
		parts[occur] = append(parts[occur], clause)
	}
	out := map[string]any{}
	for occur, list := range parts {
		out[occur] = list
	}
	return map[string]any{"bool": out}
}
