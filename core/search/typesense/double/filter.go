package double

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// filtering is one filter on its way: what it filters and where it stands.
type filtering struct {
	s          *Server
	c          *collection
	candidates int    // tokens a prefix may expand to
	raised     bool   // the request raised that number
	where      string // "search", "export", "delete" or "join"
	joins      []joined
}

// joined is one join of a filter: the rows of the other collection that it
// selected. They come along in the hits.
type joined struct {
	other *collection
	rows  *roaring.Bitmap
}

// filter gives the documents of a collection that a filter selects; a blank
// filter selects all.
func (f *filtering) filter(filter string) (*roaring.Bitmap, *failure) {
	if strings.TrimSpace(filter) == "" {
		return f.c.all.Clone(), nil
	}
	if strings.Contains(filter, "\x00") {
		return nil, f.s.fatal("a NUL byte in a filter of a %s hangs the request", f.where)
	}
	if nestedObject(filter) {
		return nil, f.s.fatal("nested object filter %.60q: on the second level it never answers", filter)
	}
	n, err := parseFilter(filter)
	if err != nil {
		return nil, err
	}
	return f.eval(n)
}

// nestedObject tells whether a filter has `.{` outside of backticks.
func nestedObject(filter string) bool {
	for i, part := range strings.Split(filter, "`") {
		if i%2 == 0 && strings.Contains(part, ".{") {
			return true
		}
	}
	return false
}

func (f *filtering) eval(n *node) (*roaring.Bitmap, *failure) {
	switch {
	case n.join != "":
		return f.join(n)
	case n.op == "":
		return f.condition(n.leaf)
	}
	left, err := f.eval(n.left)
	if err != nil {
		return nil, err
	}
	right, err := f.eval(n.right)
	if err != nil {
		return nil, err
	}
	if n.op == "&&" {
		left.And(right)
	} else {
		left.Or(right)
	}
	return left, nil
}

// join evaluates `$other(…)`: the documents that the selected rows refer to,
// or the rows that refer to the selected documents.
func (f *filtering) join(n *node) (*roaring.Bitmap, *failure) {
	if len(n.body) > maxJoinBody {
		return nil, f.s.fatal("the join on %s has %d bytes; from about 20 kB the server dies", n.join, len(n.body))
	}
	if f.where == "join" {
		return nil, f.s.unsupported("a join inside a join: %.60q", n.body)
	}
	other := f.s.resolve(n.join)
	if other == nil {
		return nil, fail(400, "Referenced collection `"+n.join+"` not found.")
	}
	if slices.ContainsFunc(f.joins, func(j joined) bool { return j.other == other }) {
		return nil, fail(400, "More than one joins found for collection `"+n.join+"` in the `filter_by`. "+
			"Instead of providing separate join conditions like "+
			"`$customer_product_prices(customer_id:=customer_a) && $customer_product_prices(custom_price:<100)`, "+
			"the join condition should be provided as a single filter expression like "+
			"`$customer_product_prices(customer_id:=customer_a && custom_price:<100)`")
	}
	inner := &filtering{s: f.s, c: other, candidates: candidates, where: "join"}
	rows, err := inner.filter(n.body)
	if err != nil {
		return nil, err
	}
	out, err := f.across(other, rows)
	if err != nil {
		return nil, err
	}
	if n.negated {
		rows = roaring.AndNot(other.all, rows)
	}
	f.joins = append(f.joins, joined{other, rows})
	return f.negate(out, n.negated), nil
}

// attach adds the rows of a join to the document of a hit: one as it is,
// several as a list.
func (j joined) attach(s *Server, c *collection, doc uint32, body map[string]json.RawMessage) {
	var rows []json.RawMessage
	take := func(seq uint32) { rows = append(rows, encode(j.other.docs[seq].body)) }
	if link := s.link(j.other, c); link != nil {
		for _, seq := range link.referring(c.docs[doc].id) {
			if j.rows.Contains(seq) {
				take(seq)
			}
		}
	} else if link := s.link(c, j.other); link != nil {
		for _, t := range link.values[doc].texts {
			if seq, ok := j.other.ids[t.raw]; ok && j.rows.Contains(seq) {
				take(seq)
			}
		}
	}
	switch len(rows) {
	case 0:
	case 1:
		body[j.other.name] = rows[0]
	default:
		body[j.other.name] = encode(rows)
	}
}

// referring gives the documents of which the field holds an id, byte by byte.
func (f *field) referring(id string) []uint32 {
	var out []uint32
	if same := f.exact[normal(tokens(id))]; same != nil {
		for _, seq := range same.ToArray() {
			if slices.ContainsFunc(f.values[seq].texts, func(t text) bool { return t.raw == id }) {
				out = append(out, seq)
			}
		}
	}
	return out
}

func (f *filtering) across(other *collection, rows *roaring.Bitmap) (*roaring.Bitmap, *failure) {
	out := roaring.New()
	if link := f.s.link(other, f.c); link != nil { // the rows refer to our documents
		for it := rows.Iterator(); it.HasNext(); {
			for _, t := range link.values[it.Next()].texts {
				if seq, ok := f.c.ids[t.raw]; ok {
					out.Add(seq)
				}
			}
		}
		return out, nil
	}
	if link := f.s.link(f.c, other); link != nil { // our documents refer to theirs
		for seq, v := range link.values {
			for _, t := range v.texts {
				if to, ok := other.ids[t.raw]; ok && rows.Contains(to) {
					out.Add(seq)
				}
			}
		}
		return out, nil
	}
	return nil, fail(400, "Failed to join on `"+other.name+"`: No reference field found.")
}

// link is the field of from that refers to documents of to.
func (s *Server) link(from, to *collection) *field {
	for _, f := range from.links {
		if name, _, _ := strings.Cut(f.Reference, "."); s.resolve(name) == to {
			return f
		}
	}
	return nil
}

// condition evaluates `field:value`.
func (f *filtering) condition(leaf string) (*roaring.Bitmap, *failure) {
	name, rest, _ := strings.Cut(leaf, ":")
	name, rest = strings.TrimSpace(name), strings.TrimSpace(rest)
	if strings.Count(rest, "`")%2 == 1 {
		f.s.violate("odd number of backticks in the filter %.80q: such a value can not be expressed", leaf)
	}
	if name == "id" {
		return f.ids(rest)
	}
	fd := f.c.fields[name]
	switch {
	case fd == nil:
		return nil, fail(400, "Could not find a filter field named `"+name+"` in the schema.")
	case !fd.Index:
		return nil, fail(400, "Cannot filter on non-indexed field `"+name+"`.")
	}
	switch fd.scalar() {
	case "string":
		return f.strings(fd, rest)
	case "geopoint":
		return f.geo(fd, rest)
	case "bool":
		return f.bools(fd, rest)
	}
	return f.numbers(fd, rest)
}

// operators splits `!=[a,b]` into negation, equality and the values. The
// backticks around a value are gone, what was inside is verbatim.
func operators(rest string) (not, equal bool, values []string, list bool) {
	if strings.HasPrefix(rest, "!") {
		not, rest = true, rest[1:]
	}
	if strings.HasPrefix(rest, "=") {
		equal, rest = true, rest[1:]
	}
	rest = strings.TrimSpace(rest)
	if !strings.HasPrefix(rest, "[") || !strings.HasSuffix(rest, "]") {
		return not, equal, []string{rest}, false
	}
	return not, equal, listed(rest[1 : len(rest)-1]), true
}

// listed splits at commas outside of backticks.
func listed(inner string) []string {
	var out []string
	quoted, start := false, 0
	for i := 0; i <= len(inner); i++ {
		switch {
		case i == len(inner), inner[i] == ',' && !quoted:
			if v := strings.TrimSpace(inner[start:i]); v != "" {
				out = append(out, v)
			}
			start = i + 1
		case inner[i] == '`':
			quoted = !quoted
		}
	}
	return out
}

func unquote(v string) string { return strings.ReplaceAll(v, "`", "") }

func (f *filtering) ids(rest string) (*roaring.Bitmap, *failure) {
	not, _, values, list := operators(rest)
	out := roaring.New()
	if !list && slices.Contains(values, "*") {
		out = f.c.all.Clone()
		values = nil
	}
	for _, v := range values {
		id := unquote(v)
		if id == "" {
			return nil, fail(400, "Error with filter field `id`: Filter value cannot be empty.")
		}
		if seq, ok := f.c.ids[id]; ok {
			out.Add(seq)
		}
	}
	return f.negate(out, not), nil
}

// negate gives the rest of the collection, documents without the field
// included.
func (f *filtering) negate(found *roaring.Bitmap, not bool) *roaring.Bitmap {
	if not {
		return roaring.AndNot(f.c.all, found)
	}
	return found
}
