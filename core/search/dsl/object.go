package dsl

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// object is an object of which the keys that were asked for are remembered,
// so that the others can be refused.
type object struct {
	*node
	used  []bool
	asked []string // names that were asked for, to tell what was meant
}

// open reads n as an object; an empty array counts as one.
func open(n *node) (*object, error) {
	if n.kind != jsonx.Object && !(n.kind == jsonx.Array && len(n.kids) == 0) {
		return nil, n.bad("an object is expected")
	}
	return &object{node: n, used: make([]bool, len(n.keys))}, nil
}

// get gives the value under the first of the names that is there and not
// null.
func (o *object) get(names ...string) *node {
	var found *node
	o.asked = append(o.asked, names...)
	for _, name := range names {
		i := slices.Index(o.keys, name)
		if i < 0 {
			continue
		}
		o.used[i] = true
		if found == nil && o.kids[i].kind != jsonx.Null {
			found = o.kids[i]
		}
	}
	return found
}

// done refuses keys that nobody asked for. what names the owner.
func (o *object) done(what string) error {
	for i, used := range o.used {
		if !used {
			return o.kids[i].bad("%s does not support the parameter %q%s", what, o.keys[i], meant(o.keys[i], o.asked...))
		}
	}
	return nil
}

// text reads an optional string; numbers and booleans give their literal.
func (o *object) text(name, fallback string) (string, error) {
	n := o.get(name)
	if n == nil {
		return fallback, nil
	}
	v, err := n.value()
	return v.Text, err
}

// must reads a string that has to be there.
func (o *object) must(name, what string) (string, error) {
	n := o.get(name)
	if n == nil {
		for i, key := range o.keys {
			if said := meant(key, name); said != "" && !o.used[i] {
				return "", o.kids[i].bad("%s does not support the parameter %q%s", what, key, said)
			}
		}
		return "", o.bad("%s needs the parameter %q", what, name)
	}
	if n.kind != jsonx.String {
		return "", n.bad("a string is expected")
	}
	return n.text, nil
}

func (o *object) float(name string, fallback float64) (float64, error) {
	n := o.get(name)
	if n == nil {
		return fallback, nil
	}
	v, err := n.value()
	if err != nil {
		return 0, err
	}
	f, ok := v.Number()
	if !ok {
		return 0, n.bad("a number is expected")
	}
	return f, nil
}

// whole reads an optional integer between least and most.
func (o *object) whole(name string, fallback, least, most int) (int, error) {
	f, err := o.float(name, float64(fallback))
	if err != nil {
		return 0, err
	}
	if f != float64(int(f)) || int(f) < least || int(f) > most {
		return 0, o.get(name).bad("an integer between %d and %d is expected", least, most)
	}
	return int(f), nil
}

func (o *object) flag(name string) (bool, error) {
	n := o.get(name)
	if n == nil {
		return false, nil
	}
	v, err := n.value()
	if err != nil {
		return false, err
	}
	b, ok := v.Bool()
	if !ok {
		return false, n.bad("true or false is expected")
	}
	return b, nil
}
