package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// maxInnerHits is how many kinds of inner hits a request may have, and maxBehind
// how many inner hits a page of hits.
const (
	maxInnerHits = 32
	maxBehind    = 200_000
)

// innerHits reads what is wanted behind each hit; nil if there is nothing.
func (p *parser) innerHits(n *node, fallback string) (*search.InnerHits, error) {
	if n == nil {
		return nil, nil
	}
	o, err := open(n)
	if err != nil {
		return nil, err
	}
	in := &search.InnerHits{Path: n.path()}
	if in.Name, err = o.text("name", fallback); err != nil {
		return nil, err
	}
	if p.inner[in.Name] || len(p.inner) >= maxInnerHits {
		return nil, n.bad("there are inner hits of the name %q already, or more than %d; give each its own name", in.Name, maxInnerHits)
	}
	if p.inner == nil {
		p.inner = map[string]bool{}
	}
	p.inner[in.Name] = true
	if in.From, err = o.whole("from", 0, 0, search.MaxInner); err != nil {
		return nil, err
	}
	if in.Size, err = o.whole("size", 3, 0, search.MaxInner); err != nil {
		return nil, err
	}
	p.innerly += in.From + in.Size
	if in.From+in.Size > search.MaxInner {
		return nil, n.bad("from + size must not be above %d", search.MaxInner)
	}
	if s := o.get("sort"); !s.empty() {
		if in.Sort, err = p.sorts(s); err != nil {
			return nil, err
		}
	}
	if s := o.get("_source"); s != nil {
		if in.Source, err = source(s); err != nil {
			return nil, err
		}
	}
	if h := o.get("highlight"); !h.empty() {
		if in.Highlight, err = p.highlight(h); err != nil {
			return nil, err
		}
	}
	if _, err = o.flag("ignore_unmapped"); err != nil {
		return nil, err
	}
	if err := noOptions(o, "inner_hits"); err != nil {
		return nil, err
	}
	return in, o.done("inner_hits")
}

// noOptions refuses what would add to a hit something that no document here
// has, unless it is switched off.
func noOptions(o *object, what string) error {
	for _, name := range []string{"explain", "version", "seq_no_primary_term", "profile"} {
		if on, err := o.flag(name); err != nil {
			return err
		} else if on {
			return o.get(name).bad("%s does not support the parameter %q", what, name)
		}
	}
	return nil
}

func (p *parser) collapse(n *node) (err error) {
	if n.empty() {
		return nil
	}
	o, err := open(n)
	if err != nil {
		return err
	}
	c := &search.Collapse{Path: n.path()}
	if c.Field, err = o.must("field", "collapse"); err != nil {
		return err
	}
	if len(c.Field) > maxName {
		return n.bad("a field name is longer than %d bytes", maxName)
	}
	if _, err = o.whole("max_concurrent_group_searches", 1, 1, 1<<20); err != nil { // says how to compute, not what
		return err
	}
	if inner := o.get("inner_hits"); inner != nil {
		list := []*node{inner}
		if inner.kind == jsonx.Array {
			list = inner.kids
		}
		for _, one := range list {
			in, err := p.innerHits(one, c.Field)
			if err != nil {
				return err
			}
			if in != nil {
				c.Inner = append(c.Inner, *in)
			}
		}
	}
	if p.r.After != nil {
		return n.bad("collapse does not support search_after")
	}
	p.r.Collapse = c
	return o.done("collapse")
}
