package mapping

import (
	"maps"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// Plan says what becomes of each path of a document. It learns paths that are
// not mapped. It is not safe for concurrent use.
type Plan struct {
	reg      *Registry
	set      *analysis.Set
	standard *analysis.Analyzer
	iso      *dates.Format
	settings search.Settings
	types    map[string]*node
	nodes    int
	typeOf   *Field
	id       *Field
	all      *Field
}

// node is one path of a content type.
type node struct {
	path   string
	space  *Space // of scalars here
	nested *Space // of objects here, if they are nested
	kids   map[string]*node

	kind   search.Kind // "" until mapped
	leaves []leaf      // what a scalar becomes, if mapped
	// What scalars become that are not mapped, by their JSON type.
	text, whole, fraction, flag, date []leaf
}

// leaf is one field that a scalar goes to.
type leaf struct {
	field       *Field
	up          int // how many nested levels above the scalar
	ignoreAbove int
}

// NewPlan makes the plan of the settings. Unknown kinds, analyzers or formats
// are problem.Invalid.
func NewPlan(reg *Registry, set *analysis.Set, s search.Settings) (*Plan, error) {
	standard, err := set.Get("")
	if err != nil {
		return nil, err
	}
	iso, err := dates.Parse("")
	if err != nil {
		return nil, err
	}
	p := &Plan{reg: reg, set: set, standard: standard, iso: iso, settings: s, types: map[string]*node{}}
	root := reg.Spaces[0]
	p.typeOf = reg.field(Field{Space: root, Path: TypeField, Family: Keyword})
	p.id = reg.field(Field{Space: root, Path: IDField, Family: Keyword})
	if !s.NoAll {
		p.all = reg.field(Field{Space: root, Path: AllField, Family: Text, Analyzer: standard, Search: standard})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		if err := p.mapType(name, s.Types[name]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Plan) mapType(name string, fields []search.Field) error {
	root := &node{space: p.reg.Spaces[0]}
	p.types[name] = root
	// Outer objects come first, so that nested ones are known when their
	// fields are placed.
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b search.Field) int { return strings.Count(a.Path, ".") - strings.Count(b.Path, ".") })
	for _, f := range sorted {
		if err := p.mapField(root, name, f); err != nil {
			return err
		}
	}
	for _, f := range sorted {
		if len(f.CopyTo) > 0 {
			p.copyTo(root, f)
		}
	}
	return nil
}

func (p *Plan) mapField(root *node, typeName string, f search.Field) error {
	where := "types." + typeName + "." + f.Path
	n := p.at(root, f.Path)
	if f.Path == "" || n == nil {
		return problem.Field(problem.Invalid, where, "the path is empty, too long or one of too many")
	}
	kind, known := search.KindOf(string(f.Kind))
	if !known {
		return problem.Field(problem.Invalid, where, "the kind %q is not known", f.Kind)
	}
	n.kind = kind
	if f.NoIndex && kind != search.KindNested && kind != search.KindObject {
		n.kind = search.KindStored
		return nil
	}
	if kind == search.KindNested {
		n.nested = p.reg.space(n.space, f.Path)
		return nil
	}
	leaves, err := p.leavesOf(n, f.Path, kind, f)
	if err != nil {
		return problem.Field(problem.Invalid, where, "%s", problem.From(err).Detail)
	}
	n.leaves = leaves
	if kind == search.KindText || kind == search.KindKeyword || kind == search.KindSearchAsType {
		n.leaves = p.withAll(n, n.leaves)
	}
	for _, sub := range f.Fields {
		subKind, known := search.KindOf(string(sub.Kind))
		if !known {
			return problem.Field(problem.Invalid, where+"."+sub.Path, "the kind %q is not known", sub.Kind)
		}
		more, err := p.leavesOf(n, f.Path+"."+sub.Path, subKind, sub)
		if err != nil {
			return problem.Field(problem.Invalid, where+"."+sub.Path, "%s", problem.From(err).Detail)
		}
		n.leaves = append(n.leaves, more...)
	}
	return nil
}

// at gives the node of a dotted path; nil if there are too many nodes.
func (p *Plan) at(root *node, path string) *node {
	n := root
	for part := range strings.SplitSeq(path, ".") {
		if n = p.kid(n, part); n == nil {
			return nil
		}
	}
	return n
}

// kid gives the node of a key under n, made if need be.
func (p *Plan) kid(n *node, key string) *node {
	if k := n.kids[key]; k != nil {
		return k
	}
	if p.nodes >= maxNodes || len(n.path)+len(key) >= maxPath {
		p.reg.Full = true
		return nil
	}
	p.nodes++
	k := &node{path: strings.Clone(key), space: n.space}
	if n.path != "" {
		k.path = n.path + "." + key
	}
	if n.nested != nil {
		k.space = n.nested
	}
	if n.kids == nil {
		n.kids = map[string]*node{}
	}
	n.kids[strings.Clone(key)] = k
	return k
}
