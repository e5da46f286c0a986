package dsl

import (
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// sorts reads every form of a sort: "field", {"field":"asc"},
// {"field":{"order":"asc",…}}, several of these keys in one object, and lists
// of all of them.
func (p *parser) sorts(n *node) ([]search.SortKey, error) {
	list := []*node{n}
	if n.kind == jsonx.Array {
		list = n.kids
	}
	var out []search.SortKey
	for _, one := range list {
		if one.kind == jsonx.String {
			out = append(out, plainSort(one))
			continue
		}
		o, err := open(one)
		if err != nil {
			return nil, one.bad("a field or an object is expected")
		}
		for i, name := range o.keys {
			key, err := p.sortKey(name, o.kids[i])
			if err != nil {
				return nil, err
			}
			out = append(out, key)
		}
	}
	if len(out) > maxSorts {
		return nil, n.bad("more than %d sort keys", maxSorts)
	}
	return out, nil
}

func plainSort(n *node) search.SortKey {
	return search.SortKey{Path: n.path(), Field: n.text, Desc: n.text == "_score"}
}

func (p *parser) sortKey(name string, n *node) (key search.SortKey, err error) {
	key = search.SortKey{Path: n.path(), Field: name, Desc: name == "_score"}
	switch {
	case n.kind == jsonx.String:
		key.Desc, err = order(n)
		return key, err
	case n.kind == jsonx.Null:
		return key, nil
	case name == "_geo_distance" || name == "_geoDistance":
		return p.geoSort(n)
	case name == "_script":
		return key, n.bad("the sort %q is not supported: there are no scripts", name)
	}
	o, err := open(n)
	if err != nil {
		return key, err
	}
	if by := o.get("order"); by != nil {
		if key.Desc, err = order(by); err != nil {
			return key, err
		}
	}
	if key.Mode, err = sortMode(o); err != nil {
		return key, err
	}
	if m := o.get("missing"); m != nil {
		v, err := m.value()
		switch {
		case err != nil:
			return key, err
		case v.Text == "_first":
			key.MissingFirst = true
		case v.Text != "_last":
			key.Missing = &v
		}
	}
	if err := p.nestedOptions(o, &key); err != nil {
		return key, err
	}
	// A field that no document has is never an error here.
	o.get("unmapped_type", "ignore_unmapped")
	return key, o.done("sort")
}

func sortMode(o *object) (search.SortMode, error) {
	text, err := o.text("mode", "")
	mode := search.SortMode(text)
	if err == nil && !knownMode(mode) {
		err = o.get("mode").bad("sort does not support the mode %q", text)
	}
	return mode, err
}

// nestedOptions reads which nested objects count, in the old and new spelling.
func (p *parser) nestedOptions(o *object, key *search.SortKey) (err error) {
	if key.NestedPath, err = o.text("nested_path", ""); err != nil {
		return err
	}
	if f := o.get("nested_filter"); !f.empty() {
		if key.NestedFilter, err = p.query(f); err != nil {
			return err
		}
	}
	if inner := o.get("nested"); !inner.empty() {
		return p.nestedSort(inner, key)
	}
	return nil
}

// nestedSort reads nested, which may hold another nested for a path inside its
// own.
func (p *parser) nestedSort(n *node, key *search.SortKey) (err error) {
	o, err := open(n)
	if err != nil {
		return err
	}
	if key.NestedPath, err = o.must("path", "nested"); err != nil {
		return err
	}
	if f := o.get("filter"); !f.empty() {
		if key.NestedFilter, err = p.query(f); err != nil {
			return err
		}
	}
	if n := o.get("max_children"); n != nil && n.text != "2147483647" {
		return n.bad("nested in sort does not support the parameter %q", "max_children")
	}
	if inner := o.get("nested"); !inner.empty() {
		if key.NestedFilter != nil {
			return inner.bad("a filter must be at the innermost nested of a sort")
		}
		outer := key.NestedPath
		if err := p.nestedSort(inner, key); err != nil {
			return err
		}
		if !strings.HasPrefix(key.NestedPath, outer+".") {
			return inner.bad("the path %q is not inside %q", key.NestedPath, outer)
		}
	}
	return o.done("nested in sort")
}

func knownMode(m search.SortMode) bool {
	switch m {
	case search.SortDefault, search.SortMin, search.SortMax, search.SortSum, search.SortAvg:
		return true
	}
	return false
}

func order(n *node) (desc bool, err error) {
	switch strings.ToLower(n.text) {
	case "asc":
		return false, nil
	case "desc":
		return true, nil
	}
	return false, n.bad("the order must be asc or desc")
}
