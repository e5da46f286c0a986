package dsl

import (
	"slices"
	"strconv"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// node is a JSON value that knows where it is.
type node struct {
	kind   jsonx.Kind
	text   string // content of a string, else the literal
	keys   []string
	kids   []*node // values of an object, elements of an array
	parent *node
	key    string // in an object
	index  int    // in an array, else -1
}

// maxNodes bounds the memory of a request.
const (
	maxNodes     = 300_000
	maxJSONDepth = 300
)

// tree reads a JSON text whose root has the path name (often empty).
func tree(data []byte, name string) (*node, error) {
	if len(data) > maxBytes {
		return nil, problem.Field(problem.TooLarge, "search", "the search object is larger than %d bytes", maxBytes)
	}
	b := builder{}
	b.p.Reset(data, maxJSONDepth)
	root, err := b.read(nil, name, -1)
	if err == nil {
		err = b.p.End()
	}
	if err != nil {
		if problem.Is(err, problem.Invalid) {
			return nil, err
		}
		return nil, problem.Field(problem.Invalid, "search", "%s", err)
	}
	return root, nil
}

type builder struct {
	p     jsonx.Parser
	count int
}

func (b *builder) read(parent *node, key string, index int) (*node, error) {
	if b.count++; b.count > maxNodes {
		return nil, problem.Field(problem.Invalid, "search", "the search object has more than %d values", maxNodes)
	}
	n := &node{kind: b.p.Peek(), parent: parent, key: key, index: index}
	switch n.kind {
	case jsonx.Object:
		return n, b.p.Object(func(k []byte) error {
			name := string(k)
			kid, err := b.read(n, name, -1)
			if err != nil {
				return err
			}
			if len(n.keys) < 64 && slices.Contains(n.keys, name) {
				return kid.bad("the key is given twice")
			}
			n.keys, n.kids = append(n.keys, name), append(n.kids, kid)
			return nil
		})
	case jsonx.Array:
		return n, b.p.Array(func(i int) error {
			kid, err := b.read(n, "", i)
			n.kids = append(n.kids, kid)
			return err
		})
	case jsonx.String:
		s, err := b.p.String()
		n.text = string(s)
		return n, err
	}
	lit, err := b.p.Literal()
	n.text = string(lit)
	return n, err
}

// path is dotted with indexes: "query.bool.must[0].term".
func (n *node) path() string {
	if n.parent == nil {
		return n.key
	}
	up := n.parent.path()
	if n.index >= 0 {
		return up + "[" + strconv.Itoa(n.index) + "]"
	}
	if up == "" {
		return n.key
	}
	return up + "." + n.key
}

// bad is the problem of an input that cannot be understood or honoured.
func (n *node) bad(format string, args ...any) error {
	return problem.Field(problem.Invalid, n.path(), format, args...)
}

// appendJSON appends the value as it was given, without white space.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case jsonx.Object:
		dst = append(dst, '{')
		for i, kid := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = kid.appendJSON(append(jsonx.AppendString(dst, n.keys[i]), ':'))
		}
		return append(dst, '}')
	case jsonx.Array:
		dst = append(dst, '[')
		for i, kid := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = kid.appendJSON(dst)
		}
		return append(dst, ']')
	case jsonx.String:
		return jsonx.AppendString(dst, n.text)
	}
	return append(dst, n.text...)
}

// empty tells whether n is nothing, null, {} or [].
func (n *node) empty() bool {
	return n == nil || n.kind == jsonx.Null || (n.kind == jsonx.Object || n.kind == jsonx.Array) && len(n.kids) == 0
}

// value reads a scalar.
func (n *node) value() (search.Value, error) {
	switch n.kind {
	case jsonx.String:
		return search.String(n.text), nil
	case jsonx.Bool:
		return search.Value{Kind: search.BoolValue, Text: n.text}, nil
	case jsonx.Number:
		f, err := strconv.ParseFloat(n.text, 64)
		if err != nil {
			return search.Value{}, n.bad("the number is out of range")
		}
		return search.Value{Kind: search.NumberValue, Text: n.text, Num: f}, nil
	}
	return search.Value{}, n.bad("a string, number or boolean is expected")
}

// strings reads a string or an array of strings. An object whose keys are
// numbers is an array that PHP took elements out of.
func (n *node) strings() ([]string, error) {
	switch {
	case n.kind == jsonx.String:
		return []string{n.text}, nil
	case n.kind == jsonx.Object && len(n.kids) == 0:
		return nil, nil
	case n.kind != jsonx.Array && !n.numbered():
		return nil, n.bad("an array of strings is expected")
	}
	out := make([]string, len(n.kids))
	for i, kid := range n.kids {
		v, err := kid.value()
		if err != nil || v.Kind == search.BoolValue {
			return nil, kid.bad("a string is expected")
		}
		out[i] = v.Text
	}
	return out, nil
}

// numbered tells whether the keys of an object are numbers.
func (n *node) numbered() bool {
	return n.kind == jsonx.Object && !slices.ContainsFunc(n.keys, func(key string) bool { return !rawjson.IsListKey(key) })
}
