package search

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
