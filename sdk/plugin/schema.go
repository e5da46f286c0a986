package plugin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// schemaOf gives the JSON Schema (2020-12) of a struct. Types that have none
// are a mistake of the program and panic at once.
func schemaOf[T any]() json.RawMessage {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("%s is not a struct: arguments and settings are the fields of one", t))
	}
	b, err := json.Marshal(schema(t, ""))
	if err != nil {
		panic(err) // maps of strings always marshal
	}
	return b
}

func schema(t reflect.Type, doc string) map[string]any {
	s := map[string]any{}
	if doc != "" {
		s["description"] = doc
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface:
		return s
	case t == reflect.TypeFor[time.Time]():
		s["type"], s["format"] = "string", "date-time"
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema(t.Elem(), doc)
	case reflect.String:
		s["type"] = "string"
	case reflect.Bool:
		s["type"] = "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s["type"] = "integer"
	case reflect.Float32, reflect.Float64:
		s["type"] = "number"
	case reflect.Slice, reflect.Array:
		s["type"], s["items"] = "array", schema(t.Elem(), "")
	case reflect.Map:
		s["type"], s["additionalProperties"] = "object", schema(t.Elem(), "")
	case reflect.Struct:
		structSchema(t, s)
	default:
		panic(fmt.Sprintf("a value of type %s cannot come as JSON", t))
	}
	return s
}

func structSchema(t reflect.Type, s map[string]any) {
	properties, required := map[string]any{}, []string{}
	for _, m := range members(t) {
		property := schema(m.field.Type, m.field.Tag.Get("doc"))
		if m.field.Tag.Get("secret") == "true" {
			property["format"], property["writeOnly"] = "password", true
		}
		if enum := m.field.Tag.Get("enum"); enum != "" {
			property["enum"] = strings.Split(enum, ",")
		}
		properties[m.name] = property
		if !m.optional {
			required = append(required, m.name)
		}
	}
	s["type"], s["properties"], s["additionalProperties"] = "object", properties, false
	if len(required) > 0 {
		s["required"] = required
	}
}

// member is a field of a struct as encoding/json sees it.
type member struct {
	name     string
	field    reflect.StructField
	optional bool
}

// members lists what JSON has of a struct: the fields of an embedded one without
// a name stand among those of the struct, which win over them.
func members(t reflect.Type) []member {
	var own, promoted []member
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if f.Anonymous && name == "" && embedded.Kind() == reflect.Struct && embedded != reflect.TypeFor[time.Time]() {
			for _, m := range members(embedded) {
				m.optional = m.optional || f.Type.Kind() == reflect.Pointer
				promoted = append(promoted, m)
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		own = append(own, member{cmp.Or(name, f.Name), f, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")})
	}
	for _, m := range promoted {
		if !slices.ContainsFunc(own, func(o member) bool { return o.name == m.name }) {
			own = append(own, m)
		}
	}
	return own
}
