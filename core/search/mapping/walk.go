package mapping

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
	case TypeField, IDField, AllField, "_index", "_score", "_doc", "_source":
		return true
	}
	return false
}

// value walks the value that comes next, at node n of the object.
func (r *Record) value(n *node, object int) error {
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
		r.emit(r.plan.dynamic(n, &n.flag, Field{Family: Boolean}), object, Value{Num: flag(lit[0] == 't')})
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

// convert brings a scalar into the family of a leaf. What does not fit is
// kept as a keyword of the same path, so that it can still be found.
func (r *Record) convert(n *node, l *leaf, object int, s []byte, kind jsonx.Kind) {
	v := Value{Field: l.field, Object: r.up(object, l.up)}
	ok := true
	switch l.field.Family {
	case Text:
		v.Text = s
	case Keyword:
		if len(s) > l.ignoreAbove && utf8.RuneCount(s) > l.ignoreAbove {
			return
		}
		v.Text = s
	case Boolean:
		v.Num, ok = flag(len(s) > 0 && s[0] == 't'), string(s) == "true" || string(s) == "false" || len(s) == 0
	case Date:
		v.Num, ok = date(l.field.Format, s, kind)
	default:
		v.Num, _, ok = number(s)
		ok = ok && kind != jsonx.Bool
		if l.field.Family == Long {
			v.Num = truncate(v.Num)
		}
	}
	switch {
	case ok:
		r.Values = append(r.Values, v)
	case len(s) > 0 && l.up == 0 && l.field.Path == n.path:
		r.asKeyword(n, object, s)
	}
}

// asKeyword keeps what does not fit its field.
func (r *Record) asKeyword(n *node, object int, s []byte) {
	f := r.plan.reg.field(Field{Space: n.space, Path: n.path, Family: Keyword})
	if f != nil && len(s) <= 8191 {
		r.Values = append(r.Values, Value{Object: object, Field: f, Text: s})
	}
}

func date(f *dates.Format, s []byte, kind jsonx.Kind) (float64, bool) {
	if kind == jsonx.Bool {
		return 0, false
	}
	ms, ok := f.Millis(string(s[:min(len(s), 101)]), time.UTC, false)
	return float64(ms), ok
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func truncate(f float64) float64 {
	if f > -1<<53 && f < 1<<53 {
		return float64(int64(f))
	}
	return f
}

// number reads a finite number and tells whether it is written as an integer.
func number(s []byte) (f float64, whole, ok bool) {
	if len(s) > 0 && len(s) <= 15 {
		n, i := int64(0), 0
		if s[0] == '-' {
			i = 1
		}
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n = n*10 + int64(s[i]-'0')
		}
		if i == len(s) && s[i-1] != '-' {
			if s[0] == '-' {
				n = -n
			}
			return float64(n), true, true
		}
	}
	text := strings.TrimSpace(string(s[:min(len(s), 400)]))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != f || f-f != 0 || strings.ContainsAny(text, "xX_pP") {
		return 0, false, false
	}
	return f, !strings.ContainsAny(text, ".eE"), true
}

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
