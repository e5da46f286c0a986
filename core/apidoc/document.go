// Package apidoc makes pages for people from the API document: plain HTML that
// works without scripts and loads nothing.
package apidoc

import (
	"encoding/json"
	"slices"
	"strings"
)

// document is what the pages show of an API document (OpenAPI 3.1).
type document struct {
	Info struct {
		Title, Version, Description string
	}
	Paths      map[string]map[string]*operation
	Components struct {
		Schemas map[string]*schema
	}
	Modules map[string]string `json:"x-modules"`
}

type operation struct {
	ID          string `json:"operationId"`
	Summary     string
	Description string
	Parameters  []parameter
	RequestBody struct {
		Required bool
		Content  map[string]media
	}
	Responses map[string]struct {
		Content map[string]media
	}
	Module string   `json:"x-module"`
	Also   []string `json:"x-also"`
	Roles  []string `json:"x-roles"` // nil for an operation that is public
	OneOf  []string `json:"x-one-of-roles"`

	Method, Path string
}

// Public reports whether the operation needs no token.
func (o *operation) Public() bool { return o.Roles == nil }

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
	Example               json.RawMessage
}

type media struct {
	Schema  *schema
	Example json.RawMessage
}

// schema is a JSON Schema. Additional is a schema or a boolean.
type schema struct {
	Ref         string          `json:"$ref"`
	Type        json.RawMessage `json:"type"`
	Description string
	Format      string
	Enum        []json.RawMessage
	Default     json.RawMessage
	Minimum     *json.Number
	Maximum     *json.Number
	MinLength   *int
	MaxLength   *int
	Properties  map[string]*schema
	Required    []string
	Items       *schema
	Additional  json.RawMessage `json:"additionalProperties"`
	OneOf       []*schema
}

// read gives the operations of a document by module, each list in the order
// of paths.
func read(doc []byte) (*document, map[string][]*operation, error) {
	d := &document{}
	if err := json.Unmarshal(doc, d); err != nil {
		return nil, nil, err
	}
	modules := map[string][]*operation{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			o.Method, o.Path = strings.ToUpper(method), path
			modules[o.Module] = append(modules[o.Module], o)
		}
	}
	for _, list := range modules {
		slices.SortFunc(list, func(a, b *operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	}
	return d, modules, nil
}

// field is a line of the description of a body. Depth counts from 0.
type field struct {
	Name, Type, Doc string
	Required        bool
	Depth           int
}

// deepest bounds what is shown of a schema.
const deepest = 6

// fields lists what a body consists of, parts below their whole.
func (d *document) fields(s *schema) []field {
	var all []field
	d.walk(s, 0, nil, &all)
	return all
}

func (d *document) walk(s *schema, depth int, above []string, all *[]field) {
	s, name := d.resolve(s)
	if s == nil || depth > deepest || name != "" && slices.Contains(above, name) {
		return
	}
	above = append(slices.Clip(above), name)
	for _, key := range order(s) {
		p := s.Properties[key]
		*all = append(*all, field{Name: key, Type: d.typeOf(p), Doc: d.about(p), Required: slices.Contains(s.Required, key), Depth: depth})
		d.walk(p, depth+1, above, all)
	}
	if s.Items != nil {
		d.walk(s.Items, depth, above, all)
	}
	for _, one := range s.OneOf {
		d.walk(one, depth, above, all)
	}
	if values := s.values(); values != nil {
		if len(s.Properties) == 0 {
			*all = append(*all, field{Name: "<name>", Type: d.typeOf(values), Doc: d.about(values), Depth: depth})
		}
		d.walk(values, depth+1, above, all)
	}
}

// order gives the names of the properties, those that must be there first.
func order(s *schema) []string {
	names := make([]string, 0, len(s.Properties))
	for key := range s.Properties {
		names = append(names, key)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := slices.Contains(s.Required, a), slices.Contains(s.Required, b); x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return strings.Compare(a, b)
	})
	return names
}

// values is the schema of members that have no name in the schema, or nil.
func (s *schema) values() *schema {
	v := &schema{}
	if len(s.Additional) == 0 || s.Additional[0] != '{' || json.Unmarshal(s.Additional, v) != nil {
		return nil
	}
	return v
}

// resolve follows a reference; the name is "" when there is none.
func (d *document) resolve(s *schema) (target *schema, name string) {
	if s == nil || s.Ref == "" {
		return s, ""
	}
	name = strings.TrimPrefix(s.Ref, "#/components/schemas/")
	return d.Components.Schemas[name], name
}

// typeOf says in a few words what kind of value a schema describes.
func (d *document) typeOf(s *schema) string {
	s, _ = d.resolve(s)
	if s == nil {
		return "anything"
	}
	var kinds []string
	for _, one := range s.OneOf {
		kinds = append(kinds, d.typeOf(one))
	}
	if kinds != nil {
		return strings.Join(kinds, " or ")
	}
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		kinds = []string{one}
	} else if json.Unmarshal(s.Type, &kinds) != nil {
		return "anything"
	}
	for i, kind := range kinds {
		if kind == "array" && s.Items != nil {
			kinds[i] = "list of " + d.typeOf(s.Items)
		}
	}
	text := strings.Join(kinds, " or ")
	if s.Format != "" && s.Format != "int64" && s.Format != "int32" && s.Format != "double" {
		text += " (" + s.Format + ")"
	}
	return text
}

// about is the description of a value with its bounds.
func (d *document) about(s *schema) string {
	text := ""
	if s != nil {
		text = s.Description // may stand beside a reference
	}
	s, _ = d.resolve(s)
	if s == nil {
		return text
	}
	parts := []string{text}
	if text == "" {
		parts[0] = s.Description
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, strings.Trim(string(v), `"`))
		}
		parts = append(parts, "one of "+strings.Join(values, ", "))
	}
	if s.Minimum != nil {
		parts = append(parts, "at least "+s.Minimum.String())
	}
	if s.Maximum != nil {
		parts = append(parts, "at most "+s.Maximum.String())
	}
	if len(s.Default) > 0 {
		parts = append(parts, "default "+string(s.Default))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}
