package mapping

import (
	"fmt"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// maxDepth bounds how deeply a document may be nested.
const maxDepth = 128

// Object is a document or one of its nested objects.
type Object struct {
	Space  *Space
	Parent int // index of the object around it, -1 for the document
}

// Value is one value of an object in one field: Text for text and keyword,
// Num for the others.
type Value struct {
	Object int
	Field  *Field
	Text   []byte
	Num    float64
}

// Record is a document taken apart. Objects stand behind the objects around
// them, the document first; the values of one field come in the order of
// their objects. Texts are valid until the record is walked into again and
// as long as the document's bytes.
type Record struct {
	Objects []Object
	Values  []Value

	p     jsonx.Parser
	arena []byte
	plan  *Plan
}

// Walk takes the document apart into r. An error means that it is no JSON
// object or nested too deeply; r is of no use then.
func (p *Plan) Walk(d *search.Doc, r *Record) error {
	r.plan, r.arena = p, nil
	r.Objects = append(r.Objects[:0], Object{Space: p.reg.Spaces[0], Parent: -1})
	r.Values = append(r.Values[:0],
		Value{Field: p.typeOf, Text: []byte(d.Key.Type)},
		Value{Field: p.id, Text: []byte(d.Key.OUUID)})
	root := p.types[d.Key.Type]
	if root == nil {
		root = &node{space: p.reg.Spaces[0]}
		p.types[d.Key.Type] = root
	}
	r.p.Reset(d.Raw, maxDepth)
	if r.p.Peek() != jsonx.Object {
		return fmt.Errorf("the document is no JSON object")
	}
	if err := r.members(root, 0); err != nil {
		return err
	}
	return r.p.End()
}

// members walks the object that comes next, whose keys are kids of n.
func (r *Record) members(n *node, object int) error {
	return r.p.Object(func(key []byte) error {
		if n.path == "" && reserved(key) {
			_, err := r.p.Skip()
			return err
		}
		k := n.kids[string(key)]
		if k == nil {
			k = r.plan.kid(n, string(key))
		}
		if k == nil || k.kind == search.KindStored {
			_, err := r.p.Skip()
			return err
		}
		return r.value(k, object)
	})
}

// reserved tells whether a top-level key is the engine's own.
func reserved(key []byte) bool {
	switch string(key) {
	case TypeField, IDField, AllField, IndexField, "_score", "_doc", "_source":
		return true
	}
	return false
}

// value walks the value that comes next, at node n of the object.
func (r *Record) value(n *node, object int) error {
	if n.kind == search.KindGeoPoint {
		return r.points(n, object)
	}
	switch r.p.Peek() {
	case jsonx.Array:
		return r.p.Array(func(int) error { return r.value(n, object) })
	case jsonx.Object:
		switch {
		case n.nested != nil:
			r.Objects = append(r.Objects, Object{Space: n.nested, Parent: object})
			return r.members(n, len(r.Objects)-1)
		case n.kind == search.KindCompletion:
			return r.completion(n, object)
		}
		return r.members(n, object)
	case jsonx.String:
		s, err := r.p.String()
		if err != nil {
			return err
		}
		if r.p.Escaped() {
			start := len(r.arena)
			r.arena = append(r.arena, s...)
			s = r.arena[start:]
		}
		r.text(n, object, s)
		return nil
	}
	lit, err := r.p.Literal()
	if err == nil && lit[0] != 'n' {
		r.literal(n, object, lit)
	}
	return err
}

// completion takes the texts of {"input": …, "weight": …}.
func (r *Record) completion(n *node, object int) error {
	return r.p.Object(func(key []byte) error {
		if string(key) == "input" {
			return r.value(n, object)
		}
		_, err := r.p.Skip()
		return err
	})
}

func (r *Record) text(n *node, object int, s []byte) {
	if n.mapped() {
		for i := range n.leaves {
			r.convert(n, &n.leaves[i], object, s, jsonx.String)
		}
		return
	}
	if ms, ok := dates.LooksISO(short(s)); ok {
		leaves := r.plan.dynamic(n, &n.date, Field{Family: Date, Format: r.plan.iso})
		r.emit(leaves, object, Value{Num: float64(ms)})
		return
	}
	if n.text == nil {
		n.text = r.plan.dynamicText(n)
	}
	for i := range n.text {
		r.convert(n, &n.text[i], object, s, jsonx.String)
	}
}

// short gives a string that might be a date, else nothing.
func short(s []byte) string {
	if len(s) < 10 || len(s) > 40 || s[4] != '-' {
		return ""
	}
	return string(s)
}

// literal takes a number, true or false.
func (r *Record) literal(n *node, object int, lit []byte) {
	kind := jsonx.Number
	if lit[0] == 't' || lit[0] == 'f' {
		kind = jsonx.Bool
	}
	if n.mapped() {
		for i := range n.leaves {
			r.convert(n, &n.leaves[i], object, lit, kind)
		}
		return
	}
	if kind == jsonx.Bool {
		r.emit(r.plan.dynamic(n, &n.flag, Field{Family: Boolean}), object, Value{Num: Flag(lit[0] == 't')})
		return
	}
	num, whole, ok := number(lit)
	switch {
	case !ok:
		r.asKeyword(n, object, lit)
	case whole:
		r.emit(r.plan.dynamic(n, &n.whole, Field{Family: Long}), object, Value{Num: num})
	default:
		r.emit(r.plan.dynamic(n, &n.fraction, Field{Family: Double}), object, Value{Num: num})
	}
}

func (n *node) mapped() bool {
	return n.kind != "" && n.kind != search.KindObject && n.kind != search.KindNested || len(n.leaves) > 0
}

func (r *Record) emit(leaves []leaf, object int, v Value) {
	for i := range leaves {
		v.Field, v.Object = leaves[i].field, r.up(object, leaves[i].up)
		r.Values = append(r.Values, v)
	}
}

func (r *Record) up(object, levels int) int {
	for range levels {
		object = r.Objects[object].Parent
	}
	return object
}
