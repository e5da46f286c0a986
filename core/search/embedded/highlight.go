package embedded

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
)

// highlight marks the texts of one source.
func highlight(raw []byte, list []marked) []search.Highlighted { return highlightPart(raw, "", list) }

// highlightPart marks the texts of a nested object, whose fields have paths
// that begin with prefix.
func highlightPart(raw []byte, prefix string, list []marked) []search.Highlighted {
	var doc map[string]any
	if len(list) == 0 || json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	var out []search.Highlighted
	for i := range list {
		m := &list[i]
		path, inside := strings.CutPrefix(m.Of.Path, prefix)
		known := slices.ContainsFunc(out, func(h search.Highlighted) bool { return h.Field == m.Of.Path })
		if !inside || known { // another form of the same path has marked something
			continue
		}
		texts := textsAt(doc, path)
		if up := strings.LastIndexByte(path, '.'); len(texts) == 0 && up > 0 { // a sub-field
			texts = textsAt(doc, path[:up])
		}
		if parts := m.Fragments(texts); len(parts) > 0 {
			out = append(out, search.Highlighted{Field: m.Of.Path, Fragments: parts})
		}
	}
	return out
}

// textsAt gives the strings under a dotted path, through arrays.
func textsAt(v any, path string) []string {
	switch v := v.(type) {
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, textsAt(e, path)...)
		}
		return out
	case string:
		if path == "" {
			return []string{v}
		}
	case map[string]any:
		var out []string
		for key, inner := range v {
			if key == path {
				out = append(out, textsAt(inner, "")...)
			} else if rest, ok := strings.CutPrefix(path, key+"."); ok {
				out = append(out, textsAt(inner, rest)...)
			}
		}
		return out
	}
	return nil
}
