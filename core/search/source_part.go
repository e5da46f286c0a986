package search

import (
	"strings"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// ApplyPart is Apply for a nested object that stands at path in its document:
// patterns may name its fields with or without the path, and no content type
// is added.
func (f *SourceFilter) ApplyPart(raw []byte, path string) ([]byte, error) {
	if f.None {
		return []byte("{}"), nil
	}
	if len(f.Includes) == 0 && len(f.Excludes) == 0 {
		return raw, nil
	}
	inner := &SourceFilter{Includes: below(f.Includes, path), Excludes: below(f.Excludes, path)}
	w := sourceWriter{f: inner, typed: true}
	w.p.Reset(raw, maxSourceDepth)
	out, err := w.object(append(make([]byte, 0, len(raw)/2), '{'), "", false)
	return append(out, '}'), err
}

// below gives patterns as they are seen from an object.
func below(patterns []string, path string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = p
		if p == path {
			out[i] = "*"
		} else if len(p) > len(path) && p[:len(path)] == path && p[len(path)] == '.' {
			out[i] = p[len(path)+1:]
		}
	}
	return out
}

// NestedSource finds a nested object in the source of its document, at the end
// of the steps; nil if it is not there.
func NestedSource(raw []byte, steps []NestedStep) ([]byte, error) {
	for _, step := range steps {
		var err error
		if raw, err = nestedSource(raw, step); err != nil || raw == nil {
			return nil, err
		}
	}
	return raw, nil
}

// nestedSource does so from the object around it.
func nestedSource(raw []byte, step NestedStep) ([]byte, error) {
	var p jsonx.Parser
	p.Reset(raw, maxSourceDepth)
	left, found := step.Offset, []byte(nil)
	var walk func(field string) error
	walk = func(field string) error {
		switch p.Peek() {
		case jsonx.Array:
			return p.Array(func(int) error { return walk(field) })
		case jsonx.Object:
			if field == "" {
				object, err := p.Skip()
				if left--; left == -1 {
					found = object
				}
				return err
			}
			return p.Object(func(key []byte) error {
				name := string(key)
				rest, inside := strings.CutPrefix(field, name+".")
				switch {
				case name == field:
					return walk("")
				case inside:
					return walk(rest)
				}
				_, err := p.Skip()
				return err
			})
		}
		_, err := p.Skip()
		return err
	}
	return found, walk(step.Field)
}

// NestedPath gives the path of a nested object from its document.
func NestedPath(steps []NestedStep) string {
	fields := make([]string, len(steps))
	for i := range steps {
		fields[i] = steps[i].Field
	}
	return strings.Join(fields, ".")
}
