package conf

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// Section declares a part of the configuration. Several sections may share a
// name when their keys differ: what decides whether a module runs and what the
// module itself wants to know are declared by different people.
type Section struct {
	Name  string // dotted, lower_snake_case: "server", "modules.search"
	Value any    // pointer to a struct that holds the defaults; Check fills it
	Doc   string // one or two sentences for the schema and the default file
}

// shape is the tree of all declared sections.
type shape struct {
	name     string
	doc      string
	structs  []reflect.Value // of the sections with this name
	children []*shape        // sections below
}

// field is one key of a section or struct.
type field struct {
	name  string
	doc   string
	enum  []string
	value reflect.Value // addressable
}

// shapeOf puts the sections into a tree. Its error is a mistake of the
// programmer, not of the operator.
func shapeOf(sections []Section) (*shape, error) {
	root := &shape{}
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)
	for _, s := range sections {
		v := reflect.ValueOf(s.Value)
		if !name.MatchString(s.Name) || v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
			return nil, fmt.Errorf("conf: section %q must have a lower-case name and a pointer to a struct, not %T", s.Name, s.Value)
		}
		at := root
		for step := range strings.SplitSeq(s.Name, ".") {
			at = at.child(step)
		}
		at.structs = append(at.structs, v.Elem())
		if at.doc == "" {
			at.doc = s.Doc
		}
	}
	return root, root.check("")
}

func (s *shape) child(name string) *shape {
	for _, c := range s.children {
		if c.name == name {
			return c
		}
	}
	c := &shape{name: name}
	s.children = append(s.children, c)
	return c
}

// fields are the keys that the structs of this section declare.
func (s *shape) fields() []field {
	var all []field
	for _, v := range s.structs {
		all = append(all, fieldsOf(v)...)
	}
	return all
}

// check finds keys declared twice and types that cannot be decoded.
func (s *shape) check(path string) error {
	seen := map[string]bool{}
	for _, c := range s.children {
		seen[c.name] = true
		if err := c.check(joinPath(path, c.name)); err != nil {
			return err
		}
	}
	for _, f := range s.fields() {
		if seen[f.name] {
			return fmt.Errorf("conf: %s is declared twice", joinPath(path, f.name))
		}
		seen[f.name] = true
		if err := checkType(f.value.Type(), joinPath(path, f.name), 0); err != nil {
			return err
		}
	}
	return nil
}

func checkType(t reflect.Type, path string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("conf: %s: a type that contains itself cannot be a configuration", path)
	}
	if isText(t) || isDuration(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return checkType(t.Elem(), path+"[]", depth+1)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("conf: %s: the keys of %s must be strings", path, t)
		}
		return checkType(t.Elem(), path+"[]", depth+1)
	case reflect.Struct:
		seen := map[string]bool{}
		for _, f := range fieldsOf(reflect.New(t).Elem()) {
			if seen[f.name] {
				return fmt.Errorf("conf: %s is declared twice", joinPath(path, f.name))
			}
			seen[f.name] = true
			if err := checkType(f.value.Type(), joinPath(path, f.name), depth+1); err != nil {
				return err
			}
		}
		return nil
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64:
		return nil
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		return nil
	}
	return fmt.Errorf("conf: %s: type %s cannot be a configuration", path, t)
}

// fieldsOf gives the keys of a struct in the order they are declared.
func fieldsOf(v reflect.Value) []field {
	var all []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case option == "inline":
			all = append(all, fieldsOf(v.Field(i))...)
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		one := field{name: name, doc: f.Tag.Get("doc"), value: v.Field(i)}
		if enum := f.Tag.Get("enum"); enum != "" {
			one.enum = strings.Split(enum, ",")
		}
		all = append(all, one)
	}
	return all
}

// eachPath calls fn with the dotted path of every key that is not a list or map.
func (s *shape) eachPath(path string, fn func(string)) {
	for _, c := range s.children {
		c.eachPath(joinPath(path, c.name), fn)
	}
	eachFieldPath(path, s.fields(), fn)
}

func eachFieldPath(path string, fields []field, fn func(string)) {
	for _, f := range fields {
		at := joinPath(path, f.name)
		if t := f.value.Type(); t.Kind() == reflect.Struct && !isText(t) {
			eachFieldPath(at, fieldsOf(f.value), fn)
			continue
		}
		fn(at)
	}
}
