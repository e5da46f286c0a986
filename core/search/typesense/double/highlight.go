package double

import (
	"encoding/json"
	"slices"
	"strings"
)

// highlight writes the marked texts of a hit: only for words of q, only in
// fields that the hit holds or that were named.
func (x *search) highlight(doc uint32, body map[string]json.RawMessage, out map[string]any) {
	marked, flat := map[string]any{}, []any{}
	for _, name := range x.highlightFields() {
		f := x.c.fields[name]
		if _, held := body[name]; f == nil || !held && x.p["highlight_fields"] == "" || len(x.query.words) == 0 {
			continue
		}
		elements, indices, matchedIn, snippets := []any{}, []int{}, [][]string{}, []string{}
		for i, t := range f.values[doc].texts {
			snippet, hit := x.mark(t.raw)
			elements = append(elements, map[string]any{"matched_tokens": hit, "snippet": snippet})
			if len(hit) > 0 {
				indices, matchedIn, snippets = append(indices, i), append(matchedIn, hit), append(snippets, snippet)
			}
		}
		switch {
		case len(indices) == 0:
		case f.array():
			marked[name] = elements
			flat = append(flat, map[string]any{"field": name, "indices": indices, "matched_tokens": matchedIn, "snippets": snippets})
		default:
			marked[name] = elements[0]
			flat = append(flat, map[string]any{"field": name, "matched_tokens": matchedIn[0], "snippet": snippets[0]})
		}
	}
	out["highlight"] = marked
	if x.p.flag("enable_highlight_v1", true) {
		out["highlights"] = flat
	}
}

func (x *search) highlightFields() []string {
	switch names := x.p.words("highlight_fields"); {
	case slices.Equal(names, []string{"none"}):
		return nil
	case len(names) > 0:
		return names
	}
	return x.p.words("query_by")
}

// mark puts the tags around the words of q; the text is not escaped. Long
// texts come whole, where a server would cut them.
func (x *search) mark(raw string) (string, []string) {
	start, end := x.tags()
	hit := []string{}
	words := strings.Split(raw, " ")
	for i, w := range words {
		if t := tokens(w); len(t) == 1 && slices.Contains(x.query.words, t[0]) {
			words[i] = start + w + end
			hit = append(hit, w)
		}
	}
	return strings.Join(words, " "), hit
}
