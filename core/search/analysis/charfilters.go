package analysis

import (
	"bytes"
	"regexp"
	"slices"
)

// rewriter builds a filtered text and remembers how offsets moved.
type rewriter struct {
	out   []byte
	edits []edit
}

// replace appends text in place of the original bytes up to end.
func (w *rewriter) replace(text []byte, end int) {
	w.out = append(w.out, text...)
	if shift := end - len(w.out); len(w.edits) == 0 && shift != 0 || len(w.edits) > 0 && w.edits[len(w.edits)-1].shift != shift {
		w.edits = append(w.edits, edit{len(w.out), shift})
	}
}

// mapping replaces each occurrence of a key by its value, longest key first.
func mapping(table map[string]string) charFilter {
	keys := make([]string, 0, len(table))
	for k := range table {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	return func(text []byte) ([]byte, []edit) {
		w := rewriter{out: make([]byte, 0, len(text))}
	next:
		for i := 0; i < len(text); {
			for _, k := range keys {
				if bytes.HasPrefix(text[i:], []byte(k)) {
					i += len(k)
					w.replace([]byte(table[k]), i)
					continue next
				}
			}
			w.out = append(w.out, text[i])
			i++
		}
		return w.out, w.edits
	}
}

// patternReplace replaces the matches of an expression; replacement may hold
// $1.
func patternReplace(re *regexp.Regexp, replacement string) charFilter {
	groups := regexp.MustCompile(`\$(\d+)`)
	template := []byte(groups.ReplaceAllString(replacement, "$${$1}"))
	return func(text []byte) ([]byte, []edit) {
		w := rewriter{out: make([]byte, 0, len(text))}
		last := 0
		for _, m := range re.FindAllSubmatchIndex(text, -1) {
			w.out = append(w.out, text[last:m[0]]...)
			w.replace(re.Expand(nil, template, text, m), m[1])
			last = m[1]
		}
		w.out = append(w.out, text[last:]...)
		return w.out, w.edits
	}
}
