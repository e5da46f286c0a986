package schema

import (
	"math"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// unstored is the part that families without a value of their own share.
type unstored struct{}

func (unstored) check(*walker, *node, []byte, rawjson.Kind) {}
func (unstored) schema(*schemaWriter, *node)                {}
func (unstored) mapping(*mapper, *node)                     {}

// virtual is a container that adds no level: its children are members of the
// parent.
type virtual struct{ unstored }

func (virtual) add(c *compiler, into *node, f *Field, _ *fieldType) error {
	return c.inside(into, f, f)
}

// formRef pulls in the children of a named form.
type formRef struct{ unstored }

func (formRef) add(c *compiler, into *node, f *Field, _ *fieldType) error {
	at := rawjson.Join(into.path, f.Name)
	if slices.Contains(c.open, f.Form) {
		return problem.Field(problem.Invalid, at, "the form %s contains itself: %s", clip(f.Form), strings.Join(append(c.open, f.Form), " → "))
	}
	root, ok := c.forms(f.Form)
	if !ok || root == nil {
		c.warn(at, "missing_form", "there is no form "+clip(f.Form)+"; its fields are not checked")
		return nil
	}
	c.open = append(c.open, f.Form)
	err := c.inside(into, root, f)
	c.open = c.open[:len(c.open)-1]
	return err
}

// multiplexed adds one object per value, such as fr and nl, each with the same
// children. Two of them with the same values share the objects.
type multiplexed struct{ unstored }

func (multiplexed) add(c *compiler, into *node, f *Field, _ *fieldType) error {
	for i, value := range f.Values {
		var n *node
		if at, taken := into.index[value]; taken && into.props[at].field == nil {
			n = into.props[at]
		} else {
			label := value
			if i < len(f.ValueLabels) && f.ValueLabels[i] != "" {
				label = f.ValueLabels[i]
			}
			n = c.object(into.path, value, label)
			c.put(into, n)
		}
		if err := c.inside(n, f, f); err != nil {
			return err
		}
	}
	return nil
}

// object is a nested object.
type object struct{}

func (object) add(c *compiler, into *node, f *Field, t *fieldType) error {
	n := c.leaf(into, f, t)
	c.put(into, n)
	return c.own(n, f)
}

// own adds the children of a field under its own key; the roles around it
// already guard the key.
func (c *compiler) own(n *node, f *Field) error {
	kept := c.roles
	c.roles = nil
	err := c.children(n, f)
	c.roles = kept
	return err
}

func (object) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	switch k {
	case rawjson.Map:
		w.object(n, v)
	case rawjson.Array:
		if n.field == nil && !isEmpty(v, k) {
			w.wrongType(k, "an object")
			return
		}
		w.elements(n, v, objectElement)
	default:
		w.wrongType(k, "an object")
	}
}

func objectElement(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k != rawjson.Map {
		if k != rawjson.Array || !isEmpty(v, k) {
			w.wrongType(k, "an object")
		}
		return
	}
	w.object(n, v)
}

func (object) schema(s *schemaWriter, n *node) { s.object(n, false) }

func (object) mapping(m *mapper, n *node) { m.object(n) }

// collection is an array of objects, with bounds on their number.
type collection struct{}

func (collection) add(c *compiler, into *node, f *Field, t *fieldType) error {
	n := c.leaf(into, f, t)
	if f.Min != nil && *f.Min >= 1 {
		n.required = true
	}
	c.put(into, n)
	return c.own(n, f)
}

func (collection) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k != rawjson.Array {
		if k != rawjson.Map || !isEmpty(v, k) {
			w.wrongType(k, "an array of objects")
		}
		return
	}
	count := float64(w.elements(n, v, objectElement))
	f := n.field
	if f.Min != nil && count < *f.Min && count > 0 && !w.draft {
		w.fail("min_items", "needs at least "+formatNumber(*f.Min)+" items")
	}
	if f.Max != nil && *f.Max > 0 && count > *f.Max {
		w.fail("max_items", "holds more than "+formatNumber(*f.Max)+" items")
	}
}

func (collection) schema(s *schemaWriter, n *node) {
	s.str("type", "array")
	s.key("items")
	s.open('{')
	s.object(n, false)
	s.close('}')
	f := n.field
	switch {
	case f.Min != nil && *f.Min > 0:
		s.num("minItems", min(math.Ceil(*f.Min), math.MaxInt32))
	case n.required:
		s.int("minItems", 1)
	}
	if f.Max != nil && *f.Max > 0 && *f.Max < math.MaxInt32 {
		s.num("maxItems", math.Floor(*f.Max))
	}
}

func (collection) mapping(m *mapper, n *node) { m.object(n) }
