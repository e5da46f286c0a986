package mapping

import (
	"strings"
)

// dynamic gives the leaves of a scalar that is not mapped; to keeps them.
func (p *Plan) dynamic(n *node, to *[]leaf, f Field) []leaf {
	if *to == nil {
		f.Space, f.Path = n.space, n.path
		*to = append(make([]leaf, 0, 1), p.one(f, 0)...)
	}
	return *to
}

// dynamicText gives the leaves of a string that is not mapped: text and a
// keyword beside it, or just a keyword for the system's own fields.
func (p *Plan) dynamicText(n *node) []leaf {
	keyword := p.one(Field{Space: n.space, Path: n.path + ".keyword", Family: Keyword}, 256)
	if strings.HasPrefix(n.path, "_") {
		return append(keyword, p.one(Field{Space: n.space, Path: n.path, Family: Keyword}, 8191)...)
	}
	leaves := append(make([]leaf, 0, 3), p.one(Field{Space: n.space, Path: n.path, Family: Text, Analyzer: p.standard, Search: p.standard}, 0)...)
	leaves = p.withAll(n, leaves)
	return append(leaves, keyword...)
}
