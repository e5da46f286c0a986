package conf

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema gives the JSON Schema (2020-12) of the configuration file, indented,
// with the defaults that the structs hold now. The order is that of the
// sections and their fields. It panics on sections that Check would refuse.
func Schema(sections []Section) []byte {
	root := mustShape(sections)
	schema := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "Configuration of Quoin"},
	}
	schema = append(schema, sectionSchema(root)...)
	schema = append(schema, member{"$defs", object{
		{"reference", object{{"type", "string"}, {"pattern", `\$\{(env|file):[^}]+\}`}}},
		{"duration", object{{"type", "string"}, {"pattern", `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+|.*\$\{(env|file):.*)$`}}},
		{"size", object{{"type", []string{"string", "integer"}}, {"minimum", 0},
			{"pattern", `^([0-9]+(\.[0-9]+)? ?([KMGTkmgt]?[iI]?[bB])?|.*\$\{(env|file):.*)$`}}},
	}})
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // every value is made here from texts and numbers
	}
	return append(text, '\n')
}

func mustShape(sections []Section) *shape {
	root, err := shapeOf(sections)
	if err != nil {
		panic(err)
	}
	return root
}

// sectionSchema gives the members of an object schema. An empty section is
// allowed: that is what a file with every key commented out has.
func sectionSchema(s *shape) object {
	properties := object{}
	for _, f := range s.fields() {
		properties = append(properties, member{f.name, fieldSchema(f)})
	}
	for _, c := range s.children {
		properties = append(properties, member{c.name, sectionSchema(c)})
	}
	return objectSchema(s.doc, properties)
}

func objectSchema(doc string, properties object) object {
	schema := object{{"type", []string{"object", "null"}}}
	if doc != "" {
		schema = append(schema, member{"description", doc})
	}
	return append(schema, member{"properties", properties}, member{"additionalProperties", false})
}

func fieldSchema(f field) object {
	schema := typeSchema(f.value, f.enum)
	if f.doc != "" && f.value.Kind() != reflect.Struct || isText(f.value.Type()) {
		schema = append(schema, member{"description", f.doc})
	} else if f.doc != "" {
		schema = append(object{schema[0], {"description", f.doc}}, schema[1:]...)
	}
	if value, shown := defaultOf(f.value); shown {
		schema = append(schema, member{"default", value})
	}
	return schema
}

func typeSchema(v reflect.Value, enum []string) object {
	t := v.Type()
	reference := object{{"$ref", "#/$defs/reference"}}
	switch {
	case isDuration(t):
		return object{{"$ref", "#/$defs/duration"}}
	case t == reflect.TypeFor[Bytes]():
		return object{{"$ref", "#/$defs/size"}}
	case t == reflect.TypeFor[Secret]():
		return object{{"type", "string"}, {"writeOnly", true}}
	case len(enum) > 0 && t.Kind() != reflect.Slice:
		return object{{"anyOf", []object{{{"enum", enum}}, reference}}}
	case isText(t) || t.Kind() == reflect.String:
		return object{{"type", []string{"string", "number", "boolean"}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(reflect.New(t.Elem()).Elem(), enum)
	case reflect.Struct:
		properties := object{}
		for _, f := range fieldsOf(v) {
			properties = append(properties, member{f.name, fieldSchema(f)})
		}
		return objectSchema("", properties)
	case reflect.Slice:
		items := typeSchema(reflect.New(t.Elem()).Elem(), enum)
		if simple(t.Elem()) {
			return object{{"anyOf", []object{{{"type", "array"}, {"items", items}}, reference}}}
		}
		return object{{"type", "array"}, {"items", items}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", typeSchema(reflect.New(t.Elem()).Elem(), enum)}}
	case reflect.Bool:
		return object{{"anyOf", []object{{{"type", "boolean"}}, reference}}}
	case reflect.Float32, reflect.Float64:
		return object{{"anyOf", []object{{{"type", "number"}}, reference}}}
	}
	return object{{"anyOf", []object{{{"type", "integer"}}, reference}}}
}

// defaultOf gives the default as JSON shows it. Structs have none of their
// own, secrets and empty texts none worth showing.
func defaultOf(v reflect.Value) (value any, shown bool) {
	t := v.Type()
	switch {
	case isDuration(t) || t == reflect.TypeFor[Bytes]():
		return textOf(v), true
	case t == reflect.TypeFor[Secret]():
		return nil, false
	case isText(t):
		text := textOf(v)
		return text, text != ""
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Pointer:
		return nil, false
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Interface(), v.Len() > 0 && (t.Kind() == reflect.String || plain(t.Elem()))
	}
	return v.Interface(), true
}

// plain reports whether JSON shows values of the type as the file does.
func plain(t reflect.Type) bool { return simple(t) && !isText(t) && !isDuration(t) }
