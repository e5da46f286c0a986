package conf

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

func isDuration(t reflect.Type) bool { return t == reflect.TypeFor[time.Duration]() }

// isText reports whether values of the type read themselves from text.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// value decodes a node into an addressable value. A nil node leaves the value
// as it is, but structs inside are validated.
func (d *decoder) value(n *node, path string, v reflect.Value, enum []string) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Pointer && !isText(t):
		d.pointer(n, path, v, enum)
	case t.Kind() == reflect.Struct && !isText(t):
		d.structure(d.unfold(n, path), path, v)
	case n == nil:
	case t.Kind() == reflect.Slice && !isText(t):
		d.list(n, path, v, enum)
	case t.Kind() == reflect.Map && !isText(t):
		d.table(n, path, v, enum)
	case n.kind != scalar:
		d.at(path, n, "must be %s, not a list or mapping", expected(t))
	default:
		d.scalar(n, path, v, enum)
	}
}

func (d *decoder) pointer(n *node, path string, v reflect.Value, enum []string) {
	if n == nil && v.IsNil() {
		return
	}
	fresh := reflect.New(v.Type().Elem())
	if !v.IsNil() {
		fresh.Elem().Set(v.Elem())
	}
	d.value(n, path, fresh.Elem(), enum)
	v.Set(fresh)
}

// unfold reads text from a variable or flag as YAML where a structure is
// wanted, so that also such keys can be set there.
func (d *decoder) unfold(n *node, path string) *node {
	if n == nil || n.kind != scalar || !n.loose {
		return n
	}
	r := reader{fixed: &n.origin, source: n.source, findings: &d.findings, expand: func(s string) (string, error) { return s, nil }}
	before := len(d.findings)
	inner := r.document([]byte(n.text))
	for i := before; i < len(d.findings); i++ {
		d.findings[i].Path = joinPath(path, d.findings[i].Path)
		if n.source != "" {
			d.findings[i].Message = "is not YAML"
		}
	}
	return inner
}

func (d *decoder) list(n *node, path string, v reflect.Value, enum []string) {
	element := v.Type().Elem()
	if n.kind == scalar && n.loose {
		if json := strings.HasPrefix(n.text, `["`) || n.text == "[]"; simple(element) && !json {
			n = split(n)
		} else if n = d.unfold(n, path); n == nil {
			return
		}
	}
	if n.kind != sequence {
		d.at(path, n, "must be a list")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.kind == null {
			d.at(at, item, "is empty")
			continue
		}
		d.value(item, at, list.Index(i), enum)
	}
	v.Set(list)
}

// simple reports whether a value of the type is one text.
func simple(t reflect.Type) bool {
	if isText(t) {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Pointer:
		return false
	}
	return true
}

// split makes a list of text with commas.
func split(n *node) *node {
	list := &node{kind: sequence, origin: n.origin}
	if strings.TrimSpace(n.text) == "" {
		return list
	}
	for part := range strings.SplitSeq(n.text, ",") {
		item := &node{kind: scalar, text: strings.TrimSpace(part), source: n.source, loose: true, origin: n.origin}
		list.items = append(list.items, item)
	}
	return list
}

func (d *decoder) table(n *node, path string, v reflect.Value, enum []string) {
	if n = d.unfold(n, path); n == nil || !d.isMapping(n, path) {
		return
	}
	table := reflect.MakeMap(v.Type())
	for _, key := range v.MapKeys() {
		table.SetMapIndex(key, v.MapIndex(key))
	}
	for _, key := range n.keys {
		at, name := joinPath(path, key), reflect.ValueOf(key).Convert(v.Type().Key())
		value := reflect.New(v.Type().Elem()).Elem()
		if old := table.MapIndex(name); old.IsValid() {
			value.Set(old)
		}
		d.value(n.field(key), at, value, enum)
		table.SetMapIndex(name, value)
	}
	v.Set(table)
}

func (d *decoder) scalar(n *node, path string, v reflect.Value, enum []string) {
	if len(enum) > 0 && !slices.Contains(enum, n.text) {
		d.at(path, n, "%s is not one of %s", n.shown(), strings.Join(enum, ", "))
		return
	}
	if err := setScalar(v, n.text); err != nil {
		message := err.Error()
		if n.source != "" && isText(v.Type()) {
			message = "is not valid" // a foreign message may repeat the secret
		}
		d.at(path, n, "%s %s", n.shown(), message)
	}
}

// expected names a type in the words of an operator.
func expected(t reflect.Type) string {
	switch {
	case isDuration(t):
		return "a duration such as 30s or 5m"
	case t == reflect.TypeFor[Bytes]():
		return "a size such as 32MiB"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return "a whole number"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "a number"
	}
	return "a text"
}

func setScalar(v reflect.Value, text string) error {
	t, refused := v.Type(), fmt.Errorf("is not %s", expected(v.Type()))
	switch {
	case isDuration(t):
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return refused
		}
		v.SetInt(int64(parsed))
	case isText(t):
		fresh := reflect.New(t)
		fresh.Elem().Set(v)
		if err := fresh.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
			return err
		}
		v.Set(fresh.Elem())
	case t.Kind() == reflect.String:
		v.SetString(text)
	case t.Kind() == reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			v.SetBool(true)
		case "false", "0", "no", "off":
			v.SetBool(false)
		default:
			return refused
		}
	default:
		return setNumber(v, text, refused)
	}
	return nil
}

func setNumber(v reflect.Value, text string, refused error) error {
	outOfRange := fmt.Errorf("is out of range")
	switch {
	case v.CanInt():
		parsed, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return refused
		}
		if v.OverflowInt(parsed) {
			return outOfRange
		}
		v.SetInt(parsed)
	case v.CanUint():
		parsed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return refused
		}
		if v.OverflowUint(parsed) {
			return outOfRange
		}
		v.SetUint(parsed)
	default:
		parsed, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(parsed) || math.IsInf(parsed, 0) {
			return refused
		}
		if v.OverflowFloat(parsed) {
			return outOfRange
		}
		v.SetFloat(parsed)
	}
	return nil
}
