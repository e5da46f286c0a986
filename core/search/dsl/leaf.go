package dsl

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// field finds the one field of clauses such as {"term":{"name": …}} and gives
// its name and what is below. Parameters of the clause itself may stand beside
// it if they are in beside.
func field(o *object, clause string, beside ...string) (string, *node, error) {
	found := -1
	for i, key := range o.keys {
		if slices.Contains(beside, key) {
			continue
		}
		if found >= 0 {
			return "", nil, o.kids[i].bad("%s takes one field, not also %q", clause, key)
		}
		found = i
	}
	if found < 0 {
		return "", nil, o.bad("%s needs a field", clause)
	}
	if len(o.keys[found]) > maxName {
		return "", nil, o.bad("%s: a field name is longer than %d bytes", clause, maxName)
	}
	o.used[found] = true
	return o.keys[found], o.kids[found], nil
}

// params opens the long form of a leaf clause, or makes one of the short form,
// in which the value itself stands under the field.
func params(n *node, valueKey string) (*object, error) {
	if n.kind == jsonx.Object {
		return open(n)
	}
	if n.kind == jsonx.Array || n.kind == jsonx.Null {
		return nil, n.bad("a value or an object is expected")
	}
	long := &node{kind: jsonx.Object, keys: []string{valueKey}, kids: []*node{n}, parent: n.parent, key: n.key, index: n.index}
	return open(long)
}

// leaf reads the common part of clauses {"clause":{"field": value or {…}}}.
func leaf(o *object, clause string, valueKeys ...string) (c search.Clause, name string, v search.Value, in *object, err error) {
	name, n, err := field(o, clause, "boost")
	if err != nil {
		return
	}
	if in, err = params(n, valueKeys[0]); err != nil {
		return
	}
	if c, err = base(in); err != nil {
		return
	}
	if b := o.get("boost"); b != nil { // beside the field, as old clients write it
		if c, err = base(o); err != nil {
			return
		}
	}
	vn := in.get(valueKeys...)
	if vn == nil {
		err = in.bad("%s needs the parameter %q", clause, valueKeys[0])
		return
	}
	v, err = vn.value()
	return
}

func (p *parser) term(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "term", "value", "term")
	if err != nil {
		return nil, err
	}
	q := &search.Term{Clause: c, Field: name, Value: v}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	return q, in.done("term")
}

func (p *parser) prefix(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "prefix", "value", "prefix")
	if err != nil {
		return nil, err
	}
	q := &search.Prefix{Clause: c, Field: name, Value: v.Text}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	in.get("rewrite") // says how to compute, not what
	return q, in.done("prefix")
}

func (p *parser) wildcard(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "wildcard", "value", "wildcard")
	if err != nil {
		return nil, err
	}
	q := &search.Wildcard{Clause: c, Field: name, Pattern: v.Text}
	if len(q.Pattern) > maxName || strings.Count(q.Pattern, "*") > 32 {
		return nil, in.bad("wildcard: a pattern may have %d bytes and 32 stars", maxName)
	}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	in.get("rewrite")
	return q, in.done("wildcard")
}

func (p *parser) terms(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	name, n, err := field(o, "terms", "boost")
	if err != nil {
		return nil, err
	}
	q := &search.Terms{Clause: c, Field: name}
	if n.kind == jsonx.Object && len(n.keys) == 0 {
		return q, nil
	}
	if n.kind == jsonx.Object {
		return nil, n.bad("terms supports an array of values only: it does not look them up in another document")
	}
	if n.kind != jsonx.Array {
		return nil, n.bad("terms supports an array of values only")
	}
	if len(n.kids) > maxValues {
		return nil, n.bad("terms: more than %d values", maxValues)
	}
	for _, kid := range n.kids {
		v, err := kid.value()
		if err != nil {
			return nil, err
		}
		q.Values = append(q.Values, v)
	}
	return q, nil
}
