package typesense

import (
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// reader gives the value of a candidate for one sort key.
type reader func(c *candidate) sortable

// sortReader makes the reader of a key for the objects of a space: documents,
// or nested ones.
func (v *view) sortReader(key *search.SortKey, base *mapping.Space) (reader, error) {
	switch key.Field {
	case "_score":
		return func(c *candidate) sortable { return sortable{num: c.score, state: isNumber} }, nil
	case "_doc":
		return func(c *candidate) sortable { return sortable{num: float64(c.doc.order), state: isNumber} }, nil
	case indexField:
		return func(*candidate) sortable { return sortable{text: v.gen.index, state: isText} }, nil
	}
	f := &fold{key: key, low: low(key), base: base, spaces: []*mapping.Space{base}}
	if key.NestedPath != "" && key.NestedPath != base.Path {
		f.spaces = v.inner(base, key.NestedPath)
	}
	for _, sp := range f.spaces {
		f.columns = append(f.columns, slices.DeleteFunc(slices.Clone(v.columns(sp, key.Field)), func(c column) bool {
			return !listed(c.Field) || (c.Field.Family == mapping.Geo) != (key.Geo != nil)
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
	return f.read, nil
}

// low tells whether the least of several values counts, else the greatest.
func low(key *search.SortKey) bool {
	return key.Mode == search.SortMin || key.Mode == search.SortDefault && !key.Desc
}

// fold makes one of the values of a document.
type fold struct {
	key     *search.SortKey
	base    *mapping.Space // of the objects that are sorted
	low     bool
	spaces  []*mapping.Space
	columns [][]column // by space
	filters []cond

	sum  float64
	n    int
	best sortable
}

func (f *fold) read(c *candidate) sortable {
	f.sum, f.n, f.best = 0, 0, sortable{}
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
	switch {
	case f.n == 0:
		return f.absent()
	case f.key.Mode == search.SortSum:
		return sortable{num: f.sum, state: isNumber}
	case f.key.Mode == search.SortAvg:
		return sortable{num: f.sum / float64(f.n), state: isNumber}
	}
	return f.best
}

func (f *fold) object(o *object, columns []column) {
	for _, c := range columns {
		switch {
		case c.Field.Family.Numeric():
			for _, w := range o.values(c.Name) {
				n := w.num
				if f.key.Geo != nil {
					n = nearest(f.key.Geo, n)
				}
				f.sum += n
				f.take(sortable{num: n, state: isNumber})
			}
		case c.Field.Family == mapping.Keyword:
			for _, w := range o.values(c.Name) {
				f.take(sortable{text: w.text, state: isText})
			}
		case c.Field.Listed:
			for _, term := range o.tokens(c.Field, c.Name).terms {
				f.take(sortable{text: term, state: isText})
			}
		}
	}
}

func (f *fold) take(s sortable) {
	f.n++
	if f.n == 1 || (s.compare(&f.best, false) < 0) == f.low {
		f.best = s
	}
}

// absent is what a document without a value is sorted by.
func (f *fold) absent() sortable {
	switch {
	case f.key.Geo != nil:
		return sortable{num: math.Inf(1), state: isNumber}
	case f.key.MissingFirst:
		return sortable{state: absentFirst}
	case f.key.Missing == nil:
		return sortable{state: absentLast}
	}
	numeric := false
	for _, list := range f.columns {
		for _, c := range list {
			numeric = numeric || c.Field.Family.Numeric()
			if c.Field.Family != mapping.Date || f.key.Missing.Kind != search.StringValue {
				continue
			}
			if ms, ok := c.Field.Format.Millis(f.key.Missing.Text, time.UTC, false); ok {
				return sortable{num: float64(ms), state: isNumber}
			}
		}
	}
	if n, ok := f.key.Missing.Number(); ok && (numeric || f.key.Missing.Kind == search.NumberValue) {
		return sortable{num: n, state: isNumber}
	}
	return sortable{text: f.key.Missing.Text, state: isText}
}
