package conf

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Print gives the effective configuration as YAML: what the structs of the
// sections hold, so it is called after Check. Every value has a comment that
// tells where it came from; secrets that are set are ***. It panics on
// sections that Check would refuse.
func Print(t *Tree, sections []Section) []byte {
	w := writer{value: func(path string, v *yaml.Node, _ field) {
		v.LineComment = t.Origin(path).String()
		if found, _ := t.root.find(path); found == nil || found.kind == null {
			v.LineComment = Origin{}.String()
		}
	}}
	return w.render(mustShape(sections))
}

// Defaults gives the default configuration file as YAML, with the doc of every
// section and key as a comment. Loading it changes nothing. It panics on
// sections that Check would refuse.
func Defaults(sections []Section) []byte {
	w := writer{
		key: func(k *yaml.Node, doc string) { k.HeadComment = doc },
		value: func(_ string, v *yaml.Node, f field) {
			if f.value.Type() == reflect.TypeFor[Secret]() {
				v.Value = "" // a default file that could be loaded must not set a secret to stars
			}
			if len(f.enum) > 0 {
				v.LineComment = fmt.Sprint(f.enum)
			}
		},
	}
	return w.render(mustShape(sections))
}

// writer makes YAML of a shape. Its functions decorate keys and values.
type writer struct {
	key   func(k *yaml.Node, doc string)
	value func(path string, v *yaml.Node, f field)
}

func (w writer) render(root *shape) []byte {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(w.shape(root, "")); err != nil {
		panic(err) // every node is made here
	}
	return b.Bytes()
}

func (w writer) shape(s *shape, path string) *yaml.Node {
	n := w.fields(s.fields(), path)
	for _, c := range s.children {
		w.add(n, c.name, c.doc, w.shape(c, joinPath(path, c.name)))
	}
	return n
}

func (w writer) add(n *yaml.Node, name, doc string, value *yaml.Node) {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}
	if w.key != nil {
		w.key(key, doc)
	}
	n.Content = append(n.Content, key, value)
}

func (w writer) fields(fields []field, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fields {
		if f.value.Kind() == reflect.Pointer && f.value.IsNil() {
			continue
		}
		w.add(n, f.name, f.doc, w.node(f, joinPath(path, f.name)))
	}
	return n
}

func (w writer) node(f field, path string) *yaml.Node {
	v := f.value
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch {
	case isText(v.Type()) || isDuration(v.Type()) || v.Type() == reflect.TypeFor[Secret]():
		n.SetString(textOf(v))
	case v.Kind() == reflect.Struct:
		return w.fields(fieldsOf(v), path)
	case v.Kind() == reflect.Slice:
		n = &yaml.Node{Kind: yaml.SequenceNode}
		if simple(v.Type().Elem()) {
			n.Style = yaml.FlowStyle
		}
		for i := range v.Len() {
			inner := w
			if n.Style == yaml.FlowStyle {
				inner.value = nil // one comment for the whole list
			}
			n.Content = append(n.Content, inner.node(field{value: v.Index(i)}, fmt.Sprintf("%s[%d]", path, i)))
		}
		if n.Style != yaml.FlowStyle && v.Len() > 0 {
			return n
		}
		n.Style = yaml.FlowStyle
	case v.Kind() == reflect.Map:
		return w.table(v, path)
	case v.Kind() == reflect.String:
		n.SetString(v.String())
	default:
		n.Value = fmt.Sprint(v.Interface())
	}
	if w.value != nil {
		w.value(path, n, f)
	}
	return n
}

func (w writer) table(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	values := map[string]reflect.Value{}
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		values[key.String()] = value
	}
	for _, key := range sortedKeys(values) {
		w.add(n, key, "", w.node(field{value: values[key]}, joinPath(path, key)))
	}
	return n
}

// textOf gives the text of a scalar; a secret that is set gives stars.
func textOf(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case Secret:
		if !value.Set() {
			return ""
		}
		return Stars
	case Bytes:
		return value.String()
	case time.Duration:
		return durationText(value)
	case encoding.TextMarshaler:
		if text, err := value.MarshalText(); err == nil {
			return string(text)
		}
	}
	if v.CanAddr() {
		if m, ok := v.Addr().Interface().(encoding.TextMarshaler); ok {
			if text, err := m.MarshalText(); err == nil {
				return string(text)
			}
		}
	}
	return fmt.Sprint(v.Interface())
}

// durationText drops the zeros that time.Duration adds: 5m, not 5m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
