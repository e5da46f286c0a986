package schema

import (
	"strconv"
	"strings"
)

// schemaDialect is the dialect of JSONSchema.
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// schemaWriter writes a JSON Schema; definitions are collected and written at
// the root.
type schemaWriter struct {
	writer
	names map[string]string // key of a definition → its name in $defs
	used  map[string]bool
	todo  []definition
}

type definition struct {
	name  string
	build func()
}

// JSONSchema gives the JSON Schema (2020-12) of the documents a client may
// write: properties in the order of the form with the label as title, the
// mandatory fields as required, definitions at the root under names that start
// with the path of their field. The top level allows other properties, nested
// objects do not. Where Validate is more lenient, the package comment says so.
func (c *Compiled) JSONSchema() []byte {
	s := &schemaWriter{names: map[string]string{}, used: map[string]bool{}}
	s.open('{')
	s.str("$schema", schemaDialect)
	s.str("$id", "urn:quoin:content-type:"+c.Type.Name)
	s.str("title", c.Type.Singular)
	if c.Type.Description != "" {
		s.str("description", c.Type.Description)
	}
	s.object(c.root, true)
	s.definitions()
	s.close('}')
	return s.b
}

// object writes the members of the schema of an object. open allows
// properties that are not listed.
func (s *schemaWriter) object(n *node, open bool) {
	s.str("type", "object")
	s.key("properties")
	s.open('{')
	var required []string
	for _, p := range n.props {
		s.key(p.name)
		s.property(p)
		if p.required {
			required = append(required, p.name)
		}
	}
	s.close('}')
	if required != nil {
		s.list("required", required)
	}
	s.bool("additionalProperties", open)
}

func (s *schemaWriter) property(n *node) {
	s.open('{')
	n.behave.schema(s, n)
	if n.label != "" {
		s.str("title", n.label)
	}
	if n.field != nil && n.field.Description != "" {
		s.str("description", n.field.Description)
	}
	s.close('}')
}

// values writes the schema of one value, or of an array when the field is
// multiple.
func (s *schemaWriter) values(n *node, one func()) {
	if !n.field.Multiple {
		one()
		return
	}
	s.str("type", "array")
	s.key("items")
	s.open('{')
	one()
	s.close('}')
	if n.required {
		s.int("minItems", 1)
	}
}

// extra writes members that are JSON already.
func (s *schemaWriter) extra(members string) {
	if members != "" {
		s.comma()
		s.b = append(s.b, members...)
	}
}

// define asks for a definition at the root and gives the reference to it. The
// key is asked for once; the name is made of letters, digits and _.
func (s *schemaWriter) define(key, name string, build func()) string {
	if known, ok := s.names[key]; ok {
		return "#/$defs/" + known
	}
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && wordByte(byte(r)) {
			return r
		}
		return '_'
	}, name)
	unique := name
	for i := 2; s.used[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	s.used[unique] = true
	s.names[key] = unique
	s.todo = append(s.todo, definition{name: unique, build: build})
	return "#/$defs/" + unique
}

// definitions writes what was asked for, and what that asks for in turn.
func (s *schemaWriter) definitions() {
	if len(s.todo) == 0 {
		return
	}
	s.key("$defs")
	s.open('{')
	for i := 0; i < len(s.todo); i++ {
		s.key(s.todo[i].name)
		s.open('{')
		s.todo[i].build()
		s.close('}')
	}
	s.close('}')
}
