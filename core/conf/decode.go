package conf

import (
	"errors"
	"reflect"
	"slices"
	"strings"
)

// Check decodes the whole configuration into the sections and calls their
// Validate methods, also those of structs inside them. A section that the
// configuration does not mention keeps its defaults and is validated too.
//
// A Validate method has one of two forms: Validate() error, where every error
// of errors.Join is one finding, about a single key when it begins with "key: ",
// or Validate(*Problems). It must not depend on another section.
//
// The error is an *Error with every finding: of Load, unknown sections, keys
// and variables, values that do not fit, and what Validate said. Any other
// error is a mistake in the declarations.
func Check(t *Tree, sections []Section) error {
	root, err := shapeOf(sections)
	if err != nil {
		return err
	}
	d := &decoder{tree: t, findings: append(slices.Clone(t.pending), t.strayFindings(root)...)}
	d.shape(t.root, "", root)
	return asError(d.findings)
}

type decoder struct {
	tree     *Tree
	findings []Finding
}

func (d *decoder) at(path string, n *node, format string, args ...any) {
	p := Problems{tree: d.tree, findings: &d.findings}
	p.at(path, n.origin, format, args...)
}

// shape decodes the node, which may be nil, into the structs of a section and
// the sections below it.
func (d *decoder) shape(n *node, path string, s *shape) {
	fields := s.fields()
	names := make([]string, 0, len(fields)+len(s.children))
	for _, c := range s.children {
		names = append(names, c.name)
	}
	if d.isMapping(n, path) {
		for _, f := range fields {
			names = append(names, f.name)
		}
		d.unknown(n, path, names)
	} else {
		n = nil
	}
	for _, c := range s.children {
		d.shape(n.field(c.name), joinPath(path, c.name), c)
	}
	d.fields(n, path, fields)
	for _, v := range s.structs {
		d.validate(v, path)
	}
}

// field gives the node of a key, nil when n is nil, has no such key, or the
// key is empty.
func (n *node) field(name string) *node {
	if n == nil || n.fields[name] == nil || n.fields[name].kind == null {
		return nil
	}
	return n.fields[name]
}

func (d *decoder) isMapping(n *node, path string) bool {
	if n == nil || n.kind == null {
		return false
	}
	if n.kind != mapping {
		d.at(path, n, "must be a mapping of keys")
	}
	return n.kind == mapping
}

// unknown tells the keys of a mapping that are not among the names.
func (d *decoder) unknown(n *node, path string, names []string) {
	for _, key := range n.keys {
		if slices.Contains(names, key) {
			continue
		}
		what := "unknown key"
		if path == "" {
			what = "unknown section"
		}
		d.at(joinPath(path, key), n.fields[key], "%s%s", what, advice(key, names))
	}
}

func (d *decoder) fields(n *node, path string, fields []field) {
	for _, f := range fields {
		d.value(n.field(f.name), joinPath(path, f.name), f.value, f.enum)
	}
}

// structure decodes a struct that is a value inside a section. n may be nil.
func (d *decoder) structure(n *node, path string, v reflect.Value) {
	fields := fieldsOf(v)
	if d.isMapping(n, path) {
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.name
		}
		d.unknown(n, path, names)
	} else {
		n = nil
	}
	d.fields(n, path, fields)
	d.validate(v, path)
}

// validate calls the Validate method of an addressable struct, if it has one.
func (d *decoder) validate(v reflect.Value, path string) {
	p := &Problems{tree: d.tree, prefix: path, findings: &d.findings}
	switch value := v.Addr().Interface().(type) {
	case interface{ Validate(*Problems) }:
		value.Validate(p)
	case interface{ Validate() error }:
		for _, err := range flatten(value.Validate()) {
			key, rest := keyOf(v, err.Error())
			p.Add(key, "%s", rest)
		}
	}
}

// keyOf splits "listen: message" when the struct has the key listen.
func keyOf(v reflect.Value, message string) (key, rest string) {
	before, after, found := strings.Cut(message, ": ")
	if found && slices.ContainsFunc(fieldsOf(v), func(f field) bool { return f.name == before }) {
		return before, after
	}
	return "", message
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return []error{err}
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	return joined.Unwrap()
}
