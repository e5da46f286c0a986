package dsl

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// highlight reads which fields are to be marked; nil if none.
func (p *parser) highlight(n *node) (*search.Highlight, error) {
	o, err := open(n)
	if err != nil {
		return nil, err
	}
	plain := search.HighlightField{Pre: "<em>", Post: "</em>", Size: 100, Fragments: 5}
	if plain, err = highlightOptions(o, plain); err != nil {
		return nil, err
	}
	fields := o.get("fields")
	if err := o.done("highlight"); err != nil || fields.empty() {
		return nil, err
	}
	list := []*node{fields}
	if fields.kind == jsonx.Array {
		list = fields.kids
	}
	out := &search.Highlight{}
	for _, one := range list {
		names, err := open(one)
		if err != nil {
			return nil, err
		}
		for i, name := range names.keys {
			in, err := open(names.kids[i])
			if err != nil {
				return nil, err
			}
			f, err := highlightOptions(in, plain)
			if err != nil {
				return nil, err
			}
			f.Name = name
			if err := in.done("highlight"); err != nil {
				return nil, err
			}
			out.Fields = append(out.Fields, f)
		}
	}
	if len(out.Fields) > 256 {
		return nil, fields.bad("more than 256 fields")
	}
	return out, nil
}

func highlightOptions(o *object, f search.HighlightField) (search.HighlightField, error) {
	for name, to := range map[string]*string{"pre_tags": &f.Pre, "post_tags": &f.Post} {
		if n := o.get(name); n != nil {
			tags, err := n.strings()
			if err != nil || len(tags) == 0 {
				return f, n.bad("a list of tags is expected")
			}
			*to = tags[0]
		}
	}
	var err error
	if f.Size, err = o.whole("fragment_size", f.Size, 1, 1<<20); err != nil {
		return f, err
	}
	if f.Fragments, err = o.whole("number_of_fragments", f.Fragments, 0, 1000); err != nil {
		return f, err
	}
	if o.get("require_field_match") != nil {
		same, err := o.flag("require_field_match")
		if err != nil {
			return f, err
		}
		f.AnyField = !same
	}
	if n := o.get("order"); n != nil {
		if n.text != "score" && n.text != "none" {
			return f, n.bad("the order must be score or none")
		}
		f.ByScore = n.text == "score"
	}
	if n := o.get("type"); n != nil && !slices.Contains([]string{"unified", "plain", "fvh"}, n.text) {
		return f, n.bad("highlight does not support the type %q", n.text)
	}
	return f, nil
}
