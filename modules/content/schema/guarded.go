package schema

import (
	"slices"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// Guarded is a value inside a menu that not everybody may write.
type Guarded struct {
	Path  string // as in answers, such as "fr.blocks[2].object.price"
	Place string // the same for a node that is moved about in its menu
	Role  string // that is needed
	Raw   []byte
}

// MenuRoles lists the roles that fields and node types of menus ask for. A
// menu is one field of a document, so Fields does not tell of them.
func (c *Compiled) MenuRoles() []string { return menuRoles(nil, c.root, false) }

func menuRoles(list []string, n *node, inside bool) []string {
	if inside {
		for _, r := range n.roles {
			if !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	for _, p := range n.props {
		list = menuRoles(list, p, inside)
	}
	for _, v := range n.variants {
		list = menuRoles(list, v, true)
	}
	return list
}

// Guarded gives the values inside the menus of a document that ask for a role
// which is not allowed: fields, and whole nodes (without their children) of a
// type that asks for one. raw has passed rawjson.CheckObject.
func (c *Compiled) Guarded(raw []byte, allowed func(role string) bool) []Guarded {
	g := guard{allowed: allowed}
	g.value(c.root, raw, "", "")
	return g.out
}

type guard struct {
	allowed func(string) bool
	inside  bool // a menu
	out     []Guarded
}

// lacks gives the role that is not allowed, or "".
func (g *guard) lacks(n *node) string {
	if i := slices.IndexFunc(n.roles, func(r string) bool { return !g.allowed(r) }); i >= 0 {
		return n.roles[i]
	}
	return ""
}

func (g *guard) value(n *node, v []byte, path, place string) {
	_, isMenu := n.behave.(menu)
	switch k := rawjson.KindOf(v); {
	case isMenu:
		g.menu(n, v, path, place)
	case k == rawjson.Array:
		it := rawjson.Iterate(v)
		for i := 0; it.Next(); i++ {
			g.value(n, it.Value(), rawjson.Index(path, i), rawjson.Index(place, i))
		}
	case k == rawjson.Map:
		for _, p := range n.props {
			member, ok := rawjson.Get(v, p.name)
			if !ok || rawjson.KindOf(member) == rawjson.Null {
				continue
			}
			path, place := rawjson.Join(path, p.name), rawjson.Join(place, p.name)
			role := g.lacks(p)
			switch {
			case role == "":
				g.value(p, member, path, place)
			case g.inside:
				g.out = append(g.out, Guarded{path, place, role, member})
			}
		}
	}
}

func (g *guard) menu(n *node, v []byte, path, place string) {
	if len(n.variants) == 0 {
		return
	}
	if rawjson.KindOf(v) == rawjson.Text {
		s, _ := rawjson.Bytes(v)
		if rawjson.Check(s, rawjson.Limits{Depth: 4 * menuDepth}) != nil {
			return
		}
		v = s
	}
	was := g.inside
	g.inside = true
	g.nodes(n, v, path, place)
	g.inside = was
}

func (g *guard) nodes(n *node, v []byte, path, place string) {
	if rawjson.KindOf(v) != rawjson.Array {
		return
	}
	it := rawjson.Iterate(v)
	for i := 0; it.Next(); i++ {
		if item := it.Value(); rawjson.KindOf(item) == rawjson.Map {
			g.node(n, item, rawjson.Index(path, i), place)
		}
	}
}

func (g *guard) node(n *node, item []byte, path, place string) {
	children, _ := rawjson.Get(item, "children")
	g.nodes(n, children, rawjson.Join(path, "children"), place)
	typ, _ := rawjson.Get(item, "type")
	name, _ := rawjson.Bytes(typ)
	variant := n.variant(name)
	if variant == nil {
		return
	}
	id, _ := rawjson.Get(item, "id")
	own := place + "#" + string(name) + string(rawjson.Normalize(nil, id))
	if role := g.lacks(variant); role != "" {
		g.out = append(g.out, Guarded{path, own, role, rawjson.Without(nil, item, "children")})
		return
	}
	if object, ok := rawjson.Get(item, "object"); ok {
		g.value(variant, object, rawjson.Join(path, "object"), own)
	}
}
