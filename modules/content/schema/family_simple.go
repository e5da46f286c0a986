package schema

import (
	"bytes"
	"math"
	"strconv"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// single is the part that families share whose field is one key and one index
// field.
type single struct{}

func (single) add(c *compiler, into *node, f *Field, t *fieldType) error {
	c.put(into, c.leaf(into, f, t))
	return nil
}

func (single) mapping(m *mapper, n *node) { m.leaf(n) }

// text is a string.
type text struct{ single }

func (text) check(w *walker, _ *node, _ []byte, k rawjson.Kind) {
	if k != rawjson.Text {
		w.wrongType(k, "a string")
	}
}

func (text) schema(s *schemaWriter, n *node) {
	s.str("type", "string")
	if n.required {
		s.int("minLength", 1)
	}
	s.extra(n.typ.schema)
}

// email is a string with one @ and something on both sides.
type email struct{ text }

func (email) check(w *walker, _ *node, v []byte, k rawjson.Kind) {
	s, ok := rawjson.Bytes(v)
	switch {
	case !ok:
		w.wrongType(k, "a string")
	case len(s) > 0 && !plausibleMail(s):
		w.fail("format", "is no e-mail address")
	}
}

func plausibleMail(s []byte) bool {
	at := bytes.LastIndexByte(s, '@')
	return at > 0 && at < len(s)-1 && len(s) <= 320 && !bytes.ContainsAny(s, " \t\r\n<>,;")
}

// number is a JSON number; an integer has no fractional part (1.0 has none).
type number struct {
	single
	integer bool
}

func (b number) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k != rawjson.Number {
		w.wrongType(k, b.noun())
		return
	}
	f := n.field
	if f.Min == nil && f.Max == nil && (!b.integer || !bytes.ContainsAny(v, ".eE")) {
		return
	}
	x, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || b.integer && x != math.Trunc(x):
		w.fail("type", "must be "+b.noun())
	case f.Min != nil && x < *f.Min:
		w.fail("min", "must be at least "+formatNumber(*f.Min))
	case f.Max != nil && x > *f.Max:
		w.fail("max", "must be at most "+formatNumber(*f.Max))
	}
}

func (b number) noun() string {
	if b.integer {
		return "an integer"
	}
	return "a number"
}

func (b number) schema(s *schemaWriter, n *node) {
	if b.integer {
		s.str("type", "integer")
	} else {
		s.str("type", "number")
	}
	if n.field.Min != nil {
		s.num("minimum", *n.field.Min)
	}
	if n.field.Max != nil {
		s.num("maximum", *n.field.Max)
	}
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// boolean is true or false.
type boolean struct{ single }

func (boolean) check(w *walker, _ *node, _ []byte, k rawjson.Kind) {
	if k != rawjson.Bool {
		w.wrongType(k, "true or false")
	}
}

func (boolean) schema(s *schemaWriter, _ *node) { s.str("type", "boolean") }

// anything is any JSON: computed results, hidden values, unknown types.
type anything struct{ single }

func (anything) check(*walker, *node, []byte, rawjson.Kind) {}

func (anything) schema(s *schemaWriter, n *node) {
	if n.typ.derived {
		s.bool("readOnly", true)
	}
}

// nothing stores no data: targets of copy_to, sub-fields, actions.
type nothing struct{ unstored }

func (nothing) add(c *compiler, into *node, f *Field, t *fieldType) error {
	if t.name == "copy_to" {
		c.copies = append(c.copies, indexField(rawjson.Join(into.path, f.Name), f, t))
	}
	return nil
}
