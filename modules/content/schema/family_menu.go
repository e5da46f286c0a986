package schema

import (
	"github.com/quoin-cms/quoin/core/rawjson"
)

// menu is a tree of nodes {id, label, type, object, children}, stored as a
// string that holds its JSON. The children of the field are the node types:
// the name of a child is the type of the node, its fields are the object.
type menu struct{}

// menuDepth bounds how deep nodes may nest inside nodes.
const menuDepth = 30

func (menu) add(c *compiler, into *node, f *Field, t *fieldType) error {
	n := c.leaf(into, f, t)
	c.put(into, n)
	for _, child := range f.Children {
		if child.Deleted {
			continue
		}
		v := c.object(n.path, child.Name, child.Label)
		if child.MinimumRole != "" {
			v.roles = []string{child.MinimumRole}
		}
		pull := (*compiler).own
		if kind, _ := typeByName(child.Type); kind.name == "form" {
			pull = func(c *compiler, v *node, f *Field) error { return kind.behave.add(c, v, f, kind) }
		}
		if err := pull(c, v, child); err != nil {
			return err
		}
		n.variants = append(n.variants, v)
	}
	return nil
}

func (n *node) variant(name []byte) *node {
	for _, v := range n.variants {
		if v.name == string(name) {
			return v
		}
	}
	return nil
}

func (menu) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k == rawjson.Text {
		s, _ := rawjson.Bytes(v)
		if len(s) == 0 {
			return
		}
		if err := rawjson.Check(s, rawjson.Limits{Depth: 4 * menuDepth}); err != nil {
			w.fail("json", "must hold JSON: "+detail(err))
			return
		}
		v, k = s, rawjson.KindOf(s)
		if k == rawjson.Null || isEmpty(v, k) {
			return
		}
	}
	if k != rawjson.Array {
		w.wrongType(k, "an array of nodes, or a string that holds it")
		return
	}
	w.soft++
	w.elements(n, v, menuNode)
	w.soft--
}

func menuNode(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k != rawjson.Map {
		w.wrongType(k, "a node object")
		return
	}
	if w.nodes++; w.nodes > menuDepth {
		w.fail("depth", "nests too deep")
		w.nodes--
		return
	}
	var object []byte
	var variant *node
	named := false
	for it := rawjson.Iterate(v); it.Next(); {
		value, kind := it.Value(), rawjson.KindOf(it.Value())
		if kind == rawjson.Null {
			continue
		}
		switch string(it.Key()) {
		case "id", "label", "contentType":
			w.push(string(it.Key()))
			if kind != rawjson.Text {
				w.wrongType(kind, "a string")
			}
			w.pop()
		case "type":
			named, variant = true, w.nodeType(n, value, kind)
		case "object":
			object = value
		case "children":
			w.push("children")
			if kind == rawjson.Array {
				w.elements(n, value, menuNode)
			} else if !isEmpty(value, kind) {
				w.wrongType(kind, "an array of nodes")
			}
			w.pop()
		default:
			if len(n.variants) > 0 {
				w.unknown(it.Key())
			}
		}
	}
	if !named && len(n.variants) > 0 {
		w.soften("node_type", "names no node type")
	}
	if object != nil && variant != nil {
		w.push("object")
		variant.behave.check(w, variant, object, rawjson.KindOf(object))
		w.pop()
	}
	w.nodes--
}

// nodeType finds the node type that a node names.
func (w *walker) nodeType(n *node, value []byte, kind rawjson.Kind) *node {
	w.push("type")
	defer w.pop()
	name, ok := rawjson.Bytes(value)
	if !ok {
		w.wrongType(kind, "a string")
		return nil
	}
	v := n.variant(name)
	if v == nil && len(n.variants) > 0 {
		w.soften("node_type", clip(string(name))+" is no node type of this menu")
	}
	return v
}

func (menu) schema(s *schemaWriter, n *node) {
	s.raw("type", `["array","string"]`)
	s.key("items")
	s.open('{')
	s.str("$ref", s.menuNode(n))
	s.close('}')
	s.str("contentMediaType", "application/json")
}

// menuNode defines the node of a menu and gives the reference to it.
func (s *schemaWriter) menuNode(n *node) string {
	return s.define(n.path+".node", n.path+".node", func() {
		if len(n.variants) == 0 {
			s.menuVariant(n, nil)
			return
		}
		s.key("anyOf")
		s.open('[')
		for _, v := range n.variants {
			s.open('{')
			s.str("$ref", s.define(v.path, v.path, func() { s.menuVariant(n, v) }))
			s.close('}')
		}
		s.close(']')
	})
}

func (s *schemaWriter) menuVariant(n, v *node) {
	s.str("type", "object")
	if v != nil && v.label != "" {
		s.str("title", v.label)
	}
	s.key("properties")
	s.open('{')
	s.raw("id", `{"type":"string"}`)
	s.raw("label", `{"type":"string"}`)
	s.key("type")
	s.open('{')
	if v != nil {
		s.str("const", v.name)
	} else {
		s.str("type", "string")
	}
	s.close('}')
	s.key("object")
	s.open('{')
	if v != nil {
		s.object(v, true)
	} else {
		s.str("type", "object")
	}
	s.close('}')
	s.key("children")
	s.open('{')
	s.str("type", "array")
	s.key("items")
	s.open('{')
	s.str("$ref", s.menuNode(n))
	s.close('}')
	s.close('}')
	s.close('}')
	if v != nil {
		s.list("required", []string{"type"})
	}
	s.bool("additionalProperties", v == nil)
}

func (menu) mapping(m *mapper, n *node) { m.leaf(n) }
