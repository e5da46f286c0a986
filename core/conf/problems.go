package conf

import (
	"fmt"
	"sort"
	"strings"
)

// Origin is where a value came from. The zero Origin is the default of the
// program.
type Origin struct {
	Name string // "quoin.yaml", "environment QUOIN_LISTEN", "--listen"; empty for a default
	Line int    // line in the file, from 1; 0 when there is none
}

// String gives "default", "quoin.yaml:12", "environment QUOIN_LISTEN" or
// "--listen".
func (o Origin) String() string {
	switch {
	case o.Name == "":
		return "default"
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	}
	return o.Name
}

// Finding is one thing wrong with the configuration. Path is dotted with
// indexes ("server.proxies[1]") and empty for the configuration as a whole.
type Finding struct {
	Path    string
	Origin  Origin
	Message string
}

// String gives "quoin.yaml:12: server.listen: message" on one line.
func (f Finding) String() string {
	text := f.Message
	if f.Path != "" {
		text = f.Path + ": " + text
	}
	return f.Origin.String() + ": " + text
}

// Error is every finding of one load or check, one per line.
type Error struct{ Findings []Finding }

// Error gives the findings, one per line, in the order of their origin.
func (e *Error) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Problems collects findings about one struct. A Validate(*Problems) method
// gets one whose paths are relative to the struct.
type Problems struct {
	tree     *Tree
	prefix   string
	findings *[]Finding
}

// Add tells what is wrong with the key at the path, dotted with indexes and
// relative to the struct; an empty path is the struct as a whole. The place
// the value came from is looked up.
func (p *Problems) Add(path, format string, args ...any) {
	full := joinPath(p.prefix, path)
	p.at(full, p.tree.Origin(full), format, args...)
}

func (p *Problems) at(full string, origin Origin, format string, args ...any) {
	*p.findings = append(*p.findings, Finding{Path: full, Origin: origin, Message: fmt.Sprintf(format, args...)})
}

// asError gives nil without findings; otherwise they are sorted by origin so
// that an operator walks through the file from top to bottom.
func asError(findings []Finding) error {
	if len(findings) == 0 {
		return nil
	}
	sorted := append([]Finding(nil), findings...)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i].Origin, sorted[j].Origin
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Line < b.Line
	})
	return &Error{Findings: sorted}
}

func joinPath(prefix, path string) string {
	switch {
	case prefix == "" || path == "":
		return prefix + path
	case path[0] == '[':
		return prefix + path
	}
	return prefix + "." + path
}
