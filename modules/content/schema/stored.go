package schema

import "github.com/quoin-cms/quoin/core/rawjson"

// Stored gives a document as it is kept: menus that a client sent as arrays
// become the strings that websites read (contract notes 4.5). A document
// without such a menu comes back as it is, not copied. raw has passed
// rawjson.CheckObject.
func (c *Compiled) Stored(raw []byte) []byte {
	out, _ := stored(c.root, rawjson.Object(raw))
	return out
}

// stored rewrites the value of a node and tells whether it changed.
func stored(n *node, v []byte) ([]byte, bool) {
	_, isMenu := n.behave.(menu)
	switch k := rawjson.KindOf(v); {
	case isMenu && k == rawjson.Array:
		nodes, _ := storedElements(n, v, storedNode)
		return rawjson.AppendString(nil, rawjson.Compact(nil, nodes)), true
	case isMenu || len(n.props) == 0:
		return v, false
	case k == rawjson.Array:
		return storedElements(n, v, stored)
	case k != rawjson.Map:
		return v, false
	}
	out, changed := v, false
	for it := rawjson.Iterate(v); it.Next(); {
		i, ok := n.index[string(it.Key())]
		if !ok {
			continue
		}
		if value, different := stored(n.props[i], it.Value()); different {
			out, changed = rawjson.Set(nil, out, string(it.Key()), value), true
		}
	}
	return out, changed
}

// storedNode rewrites the menus inside the object and the children of a node.
func storedNode(n *node, v []byte) ([]byte, bool) {
	out, changed := v, false
	if children, ok := rawjson.Get(v, "children"); ok && rawjson.KindOf(children) == rawjson.Array {
		if value, different := storedElements(n, children, storedNode); different {
			out, changed = rawjson.Set(nil, out, "children", value), true
		}
	}
	name, _ := rawjson.Get(v, "type")
	typ, _ := rawjson.Bytes(name)
	object, ok := rawjson.Get(v, "object")
	if variant := n.variant(typ); ok && variant != nil {
		if value, different := stored(variant, object); different {
			out, changed = rawjson.Set(nil, out, "object", value), true
		}
	}
	return out, changed
}

func storedElements(n *node, v []byte, one func(*node, []byte) ([]byte, bool)) ([]byte, bool) {
	out, changed := []byte{'['}, false
	for it := rawjson.Iterate(v); it.Next(); {
		value, different := one(n, it.Value())
		changed = changed || different
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	if !changed {
		return v, false
	}
	return append(out, ']'), true
}
