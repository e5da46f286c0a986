package schema

import (
	"slices"
	"sync"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Compiled is a content type made ready: forms pulled in, virtual containers
// flattened, every key of a document bound to its rules. It is immutable and
// safe for concurrent use.
type Compiled struct {
	Type *ContentType

	// Warnings tell what was compiled with a loss, such as a form that does
	// not exist (yet) or a field that hides another of the same name.
	Warnings []problem.FieldError

	root    *node
	copies  []IndexField // index fields without data: the targets of copy_to
	walkers sync.Pool
}

// node is one key of a document and what may stand under it.
type node struct {
	name   string
	path   string // dotted, without indexes
	label  string
	field  *Field     // nil for the root and for the values of a multiplexed container
	typ    *fieldType // never nil
	behave behaviour
	roles  []string // roles needed to write, of the field and of the virtual containers around it

	required   bool   // must hold something
	requiredIf string // only if this path holds something
	demand     int    // position in the parent's demands, -1 without

	props   []*node // members of an object, in the order of the form
	index   map[string]int
	demands []*node // members with required or requiredIf

	choices  map[string]struct{}
	enum     []string
	types    map[string]struct{}
	dates    *dateFormat
	variants []*node // node types of a menu
}

// behaviour is what the types of one family do. A field type is a row of the
// table; how its data behaves is one of these.
type behaviour interface {
	// add puts what the field stores into the object.
	add(c *compiler, into *node, f *Field, t *fieldType) error
	// check reports what is wrong with a value that is not null.
	check(w *walker, n *node, v []byte, k rawjson.Kind)
	// schema writes the members of the JSON Schema for the value.
	schema(s *schemaWriter, n *node)
	// mapping adds the index fields of the value.
	mapping(m *mapper, n *node)
}

type compiler struct {
	ct       *ContentType
	forms    func(name string) (*Field, bool)
	open     []string // forms that are being pulled in, outermost first
	roles    []string // of the virtual containers around
	depth    int
	nodes    int
	warnings []problem.FieldError
	copies   []IndexField
}

// Compile resolves the forms that a content type names and flattens its
// virtual containers. forms gives the root of a named form; a form that does
// not exist is a warning, one that contains itself is problem.Invalid, and a
// tree beyond the bounds problem.TooLarge. forms may be nil.
func Compile(ct *ContentType, forms func(name string) (*Field, bool)) (*Compiled, error) {
	if forms == nil {
		forms = func(string) (*Field, bool) { return nil, false }
	}
	c := &compiler{ct: ct, forms: forms}
	root := c.object("", "", ct.Singular)
	if err := c.children(root, ct.Root); err != nil {
		return nil, err
	}
	return newCompiled(ct, root, c.warnings, c.copies), nil
}

func newCompiled(ct *ContentType, root *node, warnings []problem.FieldError, copies []IndexField) *Compiled {
	out := &Compiled{Type: ct, Warnings: warnings, root: root, copies: copies}
	out.walkers.New = func() any { return &walker{} }
	return out
}

func (c *compiler) warn(path, code, message string) {
	c.warnings = append(c.warnings, problem.FieldError{Path: path, Code: code, Message: message})
}

// object makes a node for an object that no field of its own describes.
func (c *compiler) object(path, name, label string) *node {
	return &node{name: name, path: rawjson.Join(path, name), label: label, typ: &objectType, behave: object{}, demand: -1, index: map[string]int{}}
}

// objectType is the type of the root and of the values of a multiplexed container.
var objectType = fieldType{behave: object{}, kind: KindObject}

// children adds the fields below f to an object.
func (c *compiler) children(into *node, f *Field) error {
	if c.depth++; c.depth > maxFieldDepth {
		return problem.Field(problem.TooLarge, into.path, "fields nest deeper than %d levels", maxFieldDepth)
	}
	defer func() { c.depth-- }()
	for _, child := range f.Children {
		if child.Deleted {
			continue
		}
		if c.nodes++; c.nodes > maxNodes {
			return problem.Field(problem.TooLarge, into.path, "more than %d fields once all forms are pulled in", maxNodes)
		}
		t, ok := typeByName(child.Type)
		if !ok {
			c.warn(rawjson.Join(into.path, child.Name), "unknown_type", "the field type "+clip(child.Type)+" is not known; its data is kept as any JSON")
		}
		if err := t.behave.add(c, into, child, t); err != nil {
			return err
		}
	}
	return nil
}

// inside adds children under the role of a virtual container.
func (c *compiler) inside(into *node, f, role *Field) error {
	kept := c.roles
	if role.MinimumRole != "" {
		c.roles = append(slices.Clip(kept), role.MinimumRole)
	}
	err := c.children(into, f)
	c.roles = kept
	return err
}

// leaf makes the node of a field under its own name.
func (c *compiler) leaf(into *node, f *Field, t *fieldType) *node {
	n := &node{
		name: f.Name, path: rawjson.Join(into.path, f.Name), label: f.Label, field: f, typ: t, behave: t.behave,
		demand: -1, index: map[string]int{}, roles: slices.Clip(c.roles),
	}
	if f.MinimumRole != "" {
		n.roles = append(n.roles, f.MinimumRole)
	}
	if !t.derived {
		n.required, n.requiredIf = f.Required && f.RequiredIf == "", ""
		if f.Required && f.RequiredIf != "" {
			n.requiredIf = f.RequiredIf
		}
	}
	return n
}

// put adds a member to an object. The first of two members of one name wins.
func (c *compiler) put(into, n *node) {
	if _, taken := into.index[n.name]; taken {
		c.warn(n.path, "hidden_field", "another field of this object has the same name and comes first")
		return
	}
	into.index[n.name] = len(into.props)
	into.props = append(into.props, n)
	into.demandOf(n)
}

func (n *node) demandOf(child *node) {
	if child.required || child.requiredIf != "" {
		child.demand = len(n.demands)
		n.demands = append(n.demands, child)
	}
}

func set(list []string) map[string]struct{} {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]struct{}, len(list))
	for _, s := range list {
		m[s] = struct{}{}
	}
	return m
}

// For gives the content type as a user sees it: without the fields whose
// minimum role is not allowed. It is c itself when all are.
func (c *Compiled) For(allowed func(role string) bool) *Compiled {
	root := c.root.prune(allowed)
	if root == c.root {
		return c
	}
	return newCompiled(c.Type, root, c.Warnings, c.copies)
}

func (n *node) prune(allowed func(string) bool) *node {
	changed := false
	var props, variants []*node
	for _, p := range n.props {
		if slices.ContainsFunc(p.roles, func(r string) bool { return !allowed(r) }) {
			changed = true
			continue
		}
		kept := p.prune(allowed)
		changed = changed || kept != p
		props = append(props, kept)
	}
	for _, v := range n.variants {
		if slices.ContainsFunc(v.roles, func(r string) bool { return !allowed(r) }) {
			changed = true
			continue
		}
		kept := v.prune(allowed)
		changed = changed || kept != v
		variants = append(variants, kept)
	}
	if !changed {
		return n
	}
	out := *n
	out.props, out.variants, out.demands, out.index = nil, variants, nil, map[string]int{}
	for _, p := range props {
		q := *p
		q.demand = -1
		out.index[q.name] = len(out.props)
		out.props = append(out.props, &q)
		out.demandOf(&q)
	}
	return &out
}

// FieldInfo is one field of a compiled type, as lists and forms need it.
type FieldInfo struct {
	Path     string // dotted, as in a document, without indexes
	Type     string // short name
	Label    string
	Required bool
	Multiple bool
	Roles    []string // all of them are needed to write the field
}

// Fields lists the fields of documents in the order of the form, objects
// before their members. The node types of menus are not part of it.
func (c *Compiled) Fields() []FieldInfo {
	return c.root.list(nil)
}

func (n *node) list(out []FieldInfo) []FieldInfo {
	for _, p := range n.props {
		info := FieldInfo{Path: p.path, Type: p.typ.name, Label: p.label, Required: p.required, Roles: p.roles}
		if p.field != nil {
			info.Multiple = p.field.Multiple
			info.Type = p.field.Type
		}
		out = p.list(append(out, info))
	}
	return out
}
