package mapping

import (
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// leavesOf gives the fields of a mapped kind.
func (p *Plan) leavesOf(n *node, path string, kind search.Kind, f search.Field) ([]leaf, error) {
	above := f.IgnoreAbove
	if above <= 0 {
		above = 8191
	}
	switch kind {
	case search.KindText, search.KindSearchAsType, search.KindCompletion:
		return p.textLeaves(n, path, kind, f)
	case search.KindKeyword:
		return p.one(Field{Space: n.space, Path: path, Family: Keyword}, above), nil
	case search.KindLong:
		return p.one(Field{Space: n.space, Path: path, Family: Long}, 0), nil
	case search.KindDouble:
		return p.one(Field{Space: n.space, Path: path, Family: Double}, 0), nil
	case search.KindBoolean:
		return p.one(Field{Space: n.space, Path: path, Family: Boolean}, 0), nil
	case search.KindGeoPoint:
		return p.one(Field{Space: n.space, Path: path, Family: Geo}, 0), nil
	case search.KindDate:
		format, err := dates.Parse(f.Format)
		if err != nil {
			return nil, problem.New(problem.Invalid, "%s", err)
		}
		return p.one(Field{Space: n.space, Path: path, Family: Date, Format: format}, 0), nil
	}
	return nil, nil
}

func (p *Plan) textLeaves(n *node, path string, kind search.Kind, f search.Field) ([]leaf, error) {
	name := f.Analyzer
	if name == "" && kind == search.KindCompletion {
		name = "simple"
	}
	index, err := p.set.Get(name)
	if err != nil {
		return nil, err
	}
	find := index
	if f.SearchAnalyzer != "" {
		if find, err = p.set.Get(f.SearchAnalyzer); err != nil {
			return nil, err
		}
	}
	out := p.one(Field{Space: n.space, Path: path, Family: Text, Analyzer: index, Search: find, Listed: f.Fielddata}, 0)
	if kind == search.KindSearchAsType {
		for size, suffix := range map[int]string{2: "._2gram", 3: "._3gram"} {
			out = append(out, p.one(Field{Space: n.space, Path: path + suffix, Family: Text,
				Analyzer: p.set.Shingled(index, size), Search: p.set.Shingled(find, size)}, 0)...)
		}
	}
	return out, nil
}

func (p *Plan) one(f Field, ignoreAbove int) []leaf {
	if field := p.reg.field(f); field != nil {
		return []leaf{{field: field, ignoreAbove: ignoreAbove}}
	}
	return nil
}

// withAll adds _all to the leaves of a text or keyword, except for the
// system's own fields.
func (p *Plan) withAll(n *node, leaves []leaf) []leaf {
	if p.all == nil || strings.HasPrefix(n.path, "_") {
		return leaves
	}
	return append(leaves, leaf{field: p.all, up: levels(n.space, p.all.Space)})
}

// copyTo adds the targets of a field to its leaves. A target inside a nested
// object around the field is that object's, any other is the document's.
func (p *Plan) copyTo(root *node, f search.Field) {
	n := p.at(root, f.Path)
	for _, path := range f.CopyTo {
		if path == AllField && p.all != nil || n == nil {
			continue
		}
		target := p.at(root, path)
		if target == nil {
			continue
		}
		leaves := target.leaves
		if target.kind == "" {
			leaves = p.one(Field{Space: target.space, Path: path, Family: Text, Analyzer: p.standard, Search: p.standard}, 0)
		}
		for _, l := range leaves {
			if l.field == p.all {
				continue
			}
			if !around(l.field.Space, n.space) {
				moved := *l.field
				moved.Space = p.reg.Spaces[0]
				if l.field = p.reg.field(moved); l.field == nil {
					continue
				}
			}
			l.up = levels(n.space, l.field.Space)
			n.leaves = append(n.leaves, l)
		}
	}
}

func around(outer, inner *Space) bool {
	for s := inner; s != nil; s = s.Parent {
		if s == outer {
			return true
		}
	}
	return false
}

// levels counts the steps from a space up to one around it.
func levels(from, to *Space) int {
	n := 0
	for s := from; s != nil && s != to; s = s.Parent {
		n++
	}
	return n
}
