package typesense

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Documents that only have to be scored or sorted are read without their
// sources: the columns that matter are enough, and they are small. They are
// objects like others, with the values of those columns.

// needs are the columns that a search has to look at.
type needs struct {
	columns map[string]*mapping.Field
	paths   bool // the list of paths
	more    bool // something that only the source has
}

// needsOf gives what the keys of a sort and the scores of a view look at.
func (v *view) needsOf(keys []search.SortKey, scored bool) *needs {
	n := &needs{columns: map[string]*mapping.Field{}}
	if scored {
		n.op(v.query)
	}
	for i := range keys {
		key := &keys[i]
		if key.Field == "_score" || key.Field == "_doc" || key.Field == indexField {
			continue
		}
		// A column has a number once that a document has twice.
		if key.NestedPath != "" || key.NestedFilter != nil || key.Mode == search.SortSum || key.Mode == search.SortAvg {
			n.more = true
		}
		for _, c := range v.columns(v.root(), key.Field) {
			switch {
			case c.Field.Family == mapping.Text && c.Field.Listed:
				n.more = true
			case c.Field.Listable():
				n.columns[c.Name] = c.Field
			}
		}
	}
	return n
}

func (n *needs) op(p op) {
	n.cond(p.cond())
	switch p := p.(type) {
	case *constantOp:
	case *termOp:
		n.columns[p.col.Name] = p.col.Field
	case *sumOp:
		for _, k := range slices.Concat(p.must, p.should) {
			n.op(k)
		}
	case *bestOp:
		for _, k := range p.ops {
			n.op(k)
		}
	case *lessOp:
		n.op(p.positive)
		n.op(p.negative)
	default:
		n.more = true
	}
}

func (n *needs) cond(c cond) {
	switch c := c.(type) {
	case all, nothing:
	case and:
		for _, k := range c {
			n.cond(k)
		}
	case or:
		for _, k := range c {
			n.cond(k)
		}
	case not:
		n.cond(c.c)
	case *atLeast:
		for _, k := range c.list {
			n.cond(k)
		}
	case *test:
		n.columns[c.column] = c.f
	case *exists:
		n.paths = true
	default:
		n.more = true
	}
}

// fields is what to ask the server for.
func (n *needs) fields() string {
	names := []string{"id", fieldOrder}
	if n.paths {
		names = append(names, fieldPaths)
	}
	for name, f := range n.columns {
		names = append(names, name)
		if f.Family == mapping.Text {
			names = append(names, lengthColumnOf(f))
		}
	}
	return strings.Join(names, ",")
}

// errHashed tells that a column has only the hash of a value.
var errHashed = errors.New("a value is too long for its column")

// parts makes documents of columns.
func (v *view) parts(hits []rawHit, n *needs) ([]*document, error) {
	out := make([]*document, len(hits))
	for i := range hits {
		var row map[string]json.RawMessage
		f, err := hits[i].fields()
		if err == nil {
			err = json.Unmarshal(hits[i].Document, &row)
		}
		if err != nil {
			return nil, problem.Wrap(err, problem.Internal, "an answer of the search engine cannot be read")
		}
		d := &document{view: v, id: f.ID, order: f.Order}
		o := &object{doc: d, space: v.root(), id: f.ID, vals: map[string][]value{}, words: map[string]*tokens{}}
		d.objects = []*object{o}
		if err := o.read(row, n); err != nil {
			return nil, err
		}
		out[i] = d
	}
	return out, nil
}

// read takes the values of columns out of a row.
func (o *object) read(row map[string]json.RawMessage, n *needs) error {
	if n.paths {
		var codes []string
		if err := json.Unmarshal(row[fieldPaths], &codes); err != nil {
			return err
		}
		for _, code := range codes {
			path, ok := DecodeKeyword(code)
			if !ok {
				return errHashed
			}
			o.paths = append(o.paths, path)
		}
	}
	for name, f := range n.columns {
		raw, ok := row[name]
		if f.Family == mapping.Text {
			if err := o.readText(name, raw, row[lengthColumnOf(f)]); err != nil {
				return err
			}
			continue
		}
		if !ok {
			continue
		}
		if f.Family.Numeric() {
			var numbers []int64
			if err := json.Unmarshal(raw, &numbers); err != nil {
				return err
			}
			for _, code := range numbers {
				o.vals[name] = append(o.vals[name], value{num: DecodeNumber(code)})
			}
			continue
		}
		var codes []string
		if err := json.Unmarshal(raw, &codes); err != nil {
			return err
		}
		for _, code := range codes {
			text, ok := DecodeKeyword(code)
			if !ok {
				return errHashed
			}
			o.vals[name] = append(o.vals[name], value{text: text})
		}
	}
	return nil
}

// readText takes the tokens of a text, of which the places are not known.
func (o *object) readText(name string, raw, length json.RawMessage) error {
	w := &tokens{}
	o.words[name] = w
	if raw == nil {
		return nil
	}
	var texts []string
	var lengths []int64
	if err := errors.Join(json.Unmarshal(raw, &texts), json.Unmarshal(length, &lengths)); err != nil {
		return err
	}
	for _, text := range texts {
		for code := range strings.SplitSeq(text, " ") {
			term, ok := DecodeToken(code)
			if !ok {
				return errHashed
			}
			w.terms = append(w.terms, term)
		}
	}
	for _, n := range lengths {
		w.length += int(n)
	}
	return nil
}

// complete reads the documents of a page of which only columns are known. One
// that is gone meanwhile is left out.
func (r *run) complete(list []candidate) ([]candidate, error) {
	found := make([]map[string]*document, len(r.views))
	err := r.each(len(r.views), func(i int) error {
		var ids []string
		for k := range list {
			if d := list[k].doc; d.view == r.views[i] && d.raw == nil {
				ids = append(ids, d.id)
			}
		}
		docs, err := r.views[i].byIDs(ids)
		found[i] = map[string]*document{}
		for _, d := range docs {
			found[i][d.id] = d
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := list[:0:0]
	for _, c := range list {
		if c.doc.raw == nil {
			whole := found[slices.Index(r.views, c.doc.view)][c.doc.id]
			if whole == nil {
				continue
			}
			c.doc, c.at = whole, whole.objects[0]
		}
		out = append(out, c)
	}
	return out, nil
}
