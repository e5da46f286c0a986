package plugin

import (
	"encoding/json"
	"fmt"
	"reflect"
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
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		property := schema(f.Type, f.Tag.Get("doc"))
		if f.Tag.Get("secret") == "true" {
			property["format"], property["writeOnly"] = "password", true
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			property["enum"] = strings.Split(enum, ",")
		}
		properties[name] = property
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	s["type"], s["properties"], s["additionalProperties"] = "object", properties, false
	if len(required) > 0 {
		s["required"] = required
	}
}
