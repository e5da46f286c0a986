package search

import (
	"strings"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// SourceFilter says which parts of a source a hit shows. Patterns are dotted
// paths in which * stands for any characters; a path includes all below it.
// The zero value shows everything.
type SourceFilter struct {
	None     bool // show nothing but _contenttype
	Includes []string
	Excludes []string
}

// maxSourceDepth bounds how deeply a source may be nested to be filtered.
const maxSourceDepth = 512

const contentTypeKey = "_contenttype"

// Apply gives the source as the filter shows it; without a filter these are
// the same bytes. Values keep their bytes and keys their order. A filtered
// source always has _contenttype, because clients cannot do without (notes
// 3.3); if raw has none, contentType is taken. An error means that raw is no
// JSON object.
func (f *SourceFilter) Apply(raw []byte, contentType string) ([]byte, error) {
	if !f.None && len(f.Includes) == 0 && len(f.Excludes) == 0 {
		return raw, nil
	}
	w := sourceWriter{f: f}
	w.p.Reset(raw, maxSourceDepth)
	out, err := w.object(append(make([]byte, 0, len(raw)/2), '{'), "", false)
	if err != nil {
		return nil, err
	}
	if !w.typed {
		out = comma(out)
		out = append(jsonx.AppendString(out, contentTypeKey), ':')
		out = jsonx.AppendString(out, contentType)
	}
	return append(out, '}'), nil
}

type sourceWriter struct {
	f     *SourceFilter
	p     jsonx.Parser
	typed bool // _contenttype was written
}

// object appends the members that the filter shows, without the braces.
// whole means that an include has named the object or one around it.
func (w *sourceWriter) object(dst []byte, path string, whole bool) ([]byte, error) {
	err := w.p.Object(func(key []byte) error {
		name := string(key)
		full := name
		if path != "" {
			full = path + "." + name
		}
		var err error
		dst, err = w.member(dst, name, full, whole, path == "")
		return err
	})
	return dst, err
}

func (w *sourceWriter) member(dst []byte, name, path string, whole, top bool) ([]byte, error) {
	forced := top && name == contentTypeKey
	shown := forced || !w.f.None && (whole || len(w.f.Includes) == 0 || matchesAny(w.f.Includes, path))
	hidden := !forced && matchesAny(w.f.Excludes, path)
	kind := w.p.Peek()
	deep := kind == jsonx.Object || kind == jsonx.Array
	if hidden || w.f.None && !forced || !shown && !(deep && reachesAny(w.f.Includes, path)) {
		_, err := w.p.Skip()
		return dst, err
	}
	start := len(dst)
	dst = comma(dst)
	dst = append(jsonx.AppendString(dst, name), ':')
	w.typed = w.typed || forced
	if shown && (!deep || !reachesAny(w.f.Excludes, path)) {
		raw, err := w.p.Skip()
		return append(dst, raw...), err
	}
	dst, empty, err := w.container(dst, path, shown)
	if empty && !shown {
		dst = dst[:start]
	}
	return dst, err
}

// container appends a filtered array or object and tells whether nothing is
// left of it.
func (w *sourceWriter) container(dst []byte, path string, whole bool) ([]byte, bool, error) {
	open := len(dst)
	if w.p.Peek() == jsonx.Object {
		dst, err := w.object(append(dst, '{'), path, whole)
		return append(dst, '}'), len(dst) == open+1, err
	}
	dst = append(dst, '[')
	err := w.p.Array(func(int) error {
		start := len(dst)
		kind := w.p.Peek()
		if kind != jsonx.Object && kind != jsonx.Array {
			raw, err := w.p.Skip()
			if whole {
				dst = append(comma(dst), raw...)
			}
			return err
		}
		var empty bool
		var err error
		dst, empty, err = w.container(comma(dst), path, whole)
		if empty && !whole {
			dst = dst[:start]
		}
		return err
	})
	return append(dst, ']'), len(dst) == open+1, err
}

// comma appends a comma unless a container was just opened.
func comma(dst []byte) []byte {
	if c := dst[len(dst)-1]; c == '{' || c == '[' {
		return dst
	}
	return append(dst, ',')
}

func matchesAny(patterns []string, path string) bool {
	for _, p := range patterns {
		if MatchPattern(p, path) {
			return true
		}
	}
	return false
}

// reachesAny tells whether a pattern might match something below path.
func reachesAny(patterns []string, path string) bool {
	for _, p := range patterns {
		literal, _, star := strings.Cut(p, "*")
		if strings.HasPrefix(literal, path) && (len(literal) == len(path) || literal[len(path)] == '.') ||
			star && strings.HasPrefix(path, literal) {
			return true
		}
	}
	return false
}

// MatchPattern tells whether the pattern, in which * stands for any
// characters, matches the whole of s.
func MatchPattern(pattern, s string) bool {
	star, back := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, back = i, j
			i++
		case i < len(pattern) && pattern[i] == s[j]:
			i++
			j++
		case star >= 0:
			back++
			i, j = star+1, back
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}
