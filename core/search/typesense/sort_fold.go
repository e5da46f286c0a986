package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// reader gives the value of a candidate for one sort key.
type reader func(c *candidate) sorting.Value

// sortReader makes the reader of a key for the objects of a space: documents,
// or nested ones.
func (v *view) sortReader(key *search.SortKey, base *mapping.Space) (reader, error) {
	switch key.Field {
	case "_score":
		return func(c *candidate) sorting.Value { return sorting.Number(c.score) }, nil
	case "_doc":
		return func(c *candidate) sorting.Value { return sorting.Number(float64(c.doc.order)) }, nil
	case indexField:
		return func(*candidate) sorting.Value { return sorting.Text(v.gen.index) }, nil
	}
	f := &fold{base: base, spaces: []*mapping.Space{base}}
	if key.NestedPath != "" && key.NestedPath != base.Path {
		f.spaces = v.inner(base, key.NestedPath)
	}
	for _, sp := range f.spaces {
		f.columns = append(f.columns, slices.DeleteFunc(slices.Clone(v.columns(sp, key.Field)), func(c column) bool {
			return !c.Field.Listable() || (c.Field.Family == mapping.Geo) != (key.Geo != nil)
		}))
		var filter cond = all{}
		if key.NestedFilter != nil {
			p, err := v.compile(key.NestedFilter, sp)
			if err != nil {
				return nil, err
			}
			filter = p.cond()
		}
		f.filters = append(f.filters, filter)
	}
	f.Fold = sorting.NewFold(key, mapping.FieldsOf(f.columns...))
	return f.read, nil
}

// fold makes one of the values of a document.
type fold struct {
	sorting.Fold
	base    *mapping.Space // of the objects that are sorted
	spaces  []*mapping.Space
	columns [][]column // by space
	filters []cond
}

func (f *fold) read(c *candidate) sorting.Value {
	f.Reset()
	for i, sp := range f.spaces {
		objects := []*object{c.at}
		if sp != f.base {
			objects = c.at.within(sp)
		}
		for _, o := range objects {
			if f.filters[i].holds(o) {
				f.object(o, f.columns[i])
			}
		}
	}
	return f.Value()
}

func (f *fold) object(o *object, columns []column) {
	for _, c := range columns {
		switch {
		case c.Field.Family.Numeric():
			for _, w := range o.values(c.Name) {
				f.Number(w.num)
			}
		case c.Field.Family == mapping.Keyword:
			for _, w := range o.values(c.Name) {
				f.Text(w.text)
			}
		case c.Field.Listed:
			for _, term := range o.tokens(c.Field, c.Name).terms {
				f.Text(term)
			}
		}
	}
}
