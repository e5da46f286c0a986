package conf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const maxDepth = 64 // nesting of a configuration; hand-written files stay under 10

type kind uint8

const (
	null kind = iota
	scalar
	sequence
	mapping
)

// node is one value of the merged configuration with the place it came from.
type node struct {
	kind   kind
	text   string // scalar, after expansion
	source string // what was written, when a reference was expanded; shown instead of text
	loose  bool   // text from the environment, a flag or a reference: may stand for a list
	keys   []string
	fields map[string]*node
	items  []*node
	origin Origin
}

func newMapping(o Origin) *node {
	return &node{kind: mapping, fields: map[string]*node{}, origin: o}
}

func (n *node) set(key string, value *node) {
	if _, known := n.fields[key]; !known {
		n.keys = append(n.keys, key)
	}
	n.fields[key] = value
}

// shown is the text for messages. What a reference gave may be secret, so the
// reference itself is shown.
func (n *node) shown() string {
	text := n.text
	if n.source != "" {
		text = n.source
	}
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	return strconv.Quote(text)
}

// merge lays src over dst and gives the result. An empty value in src changes
// nothing: it is what remains when every key below it is commented out.
func merge(dst, src *node) *node {
	if src.kind == null {
		return dst
	}
	if dst.kind != mapping || src.kind != mapping {
		return src
	}
	dst.origin = src.origin
	for _, key := range src.keys {
		if old, known := dst.fields[key]; known {
			dst.fields[key] = merge(old, src.fields[key])
		} else {
			dst.set(key, src.fields[key])
		}
	}
	return dst
}

// put lays a value at the path, making the mappings on the way. It refuses to
// replace a plain value on the way and gives that value.
func (n *node) put(path []string, value *node) (inTheWay *node) {
	for _, key := range path[:len(path)-1] {
		next := n.fields[key]
		switch {
		case next == nil || next.kind == null:
			next = newMapping(value.origin)
			n.set(key, next)
		case next.kind != mapping:
			return next
		}
		n = next
	}
	n.set(path[len(path)-1], value)
	return nil
}

// find gives the node at a dotted path with indexes and the deepest one met on
// the way there.
func (n *node) find(path string) (found, deepest *node) {
	found, deepest = n, n
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := found.fields[step]
		if i, err := strconv.Atoi(step); err == nil && found.kind == sequence && i >= 0 && i < len(found.items) {
			next = found.items[i]
		}
		if next == nil {
			return nil, deepest
		}
		found, deepest = next, next
	}
	return found, deepest
}

// reader turns YAML into nodes and collects what is wrong with them.
type reader struct {
	file     string
	fixed    *Origin // for YAML inside a variable: the one origin of every node
	source   string  // for YAML that a reference gave: what was written, shown instead of any text
	expand   func(string) (string, error)
	findings *[]Finding
}

// yamlLine finds the line in a message of the YAML parser.
func yamlLine(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	return line, message
}

func (r *reader) origin(line int) Origin {
	if r.fixed != nil {
		return *r.fixed
	}
	return Origin{Name: r.file, Line: line}
}

func (r *reader) finding(path string, line int, format string, args ...any) {
	*r.findings = append(*r.findings, Finding{Path: path, Origin: r.origin(line), Message: fmt.Sprintf(format, args...)})
}

// document reads one YAML document; an empty one is null. It gives nil when
// the text is not YAML.
func (r *reader) document(text []byte) *node {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return &node{origin: r.origin(1)}
	} else if err != nil {
		line, message := yamlLine(err)
		r.finding("", line, "%s", message)
		return nil
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		r.finding("", more.Line, "more than one YAML document; a configuration is one")
		return nil
	}
	return r.node(&doc, "", 0)
}

func (r *reader) node(y *yaml.Node, path string, depth int) *node {
	n := &node{origin: r.origin(y.Line)}
	if depth > maxDepth {
		r.finding(path, y.Line, "nested deeper than %d levels", maxDepth)
		return n
	}
	switch y.Kind {
	case yaml.DocumentNode:
		return r.node(y.Content[0], path, depth)
	case yaml.MappingNode:
		return r.mapping(y, path, depth)
	case yaml.SequenceNode:
		n.kind = sequence
		for i, item := range y.Content {
			n.items = append(n.items, r.node(item, fmt.Sprintf("%s[%d]", path, i), depth+1))
		}
	case yaml.ScalarNode:
		if y.Tag != "!!null" {
			r.scalar(n, y, path)
		}
	default:
		r.finding(path, y.Line, "aliases (*%s) are not read here; write the value out", y.Value)
	}
	return n
}

func (r *reader) scalar(n *node, y *yaml.Node, path string) {
	text, err := r.expand(y.Value)
	if err != nil {
		r.finding(path, y.Line, "%s", err)
		return // stays null: the default is checked in its place
	}
	n.kind, n.text = scalar, text
	n.source = r.source
	if text != y.Value {
		n.source, n.loose = y.Value, true
	}
	n.loose = n.loose || r.fixed != nil
}

func (r *reader) mapping(y *yaml.Node, path string, depth int) *node {
	n := newMapping(r.origin(y.Line))
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			r.finding(path, key.Line, "a key must be a plain name")
			continue
		}
		at := joinPath(path, key.Value)
		if old, twice := n.fields[key.Value]; twice {
			r.finding(at, key.Line, "given twice, first in %s", old.origin)
			continue
		}
		child := r.node(value, at, depth+1)
		child.origin = r.origin(key.Line)
		n.set(key.Value, child)
	}
	return n
}
