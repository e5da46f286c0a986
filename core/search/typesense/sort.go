package typesense

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// sortable is the value of a document for a sort key. Its state orders
// documents with a value between those without that come first and last.
type sortable struct {
	text  string
	num   float64
	state int8
}

// The states of a sortable. Numbers come before strings.
const (
	absentFirst int8 = iota
	isNumber
	isText
	absentLast
)

func (a *sortable) compare(b *sortable, desc bool) int {
	if a.state != b.state {
		c := int(a.state) - int(b.state)
		if desc && a.state != absentFirst && a.state != absentLast && b.state != absentFirst && b.state != absentLast {
			return -c
		}
		return c
	}
	c := 0
	switch {
	case a.state == isText:
		c = strings.Compare(a.text, b.text)
	case a.state != isNumber:
	case a.num < b.num:
		c = -1
	case a.num > b.num:
		c = 1
	}
	if desc {
		return -c
	}
	return c
}

// infinity is how the distance of a document without a point is written.
const infinity = "Infinity"

// value is how a hit shows it. whole tells that numbers are integers.
func (a *sortable) value(whole bool) search.SortValue {
	switch a.state {
	case isText:
		return search.SortValue{Kind: search.StringValue, Text: a.text}
	case isNumber:
		if math.IsInf(a.num, 1) {
			return search.SortValue{Kind: search.StringValue, Text: infinity}
		}
		return search.SortValue{Kind: search.NumberValue, Num: a.num, Whole: whole && a.num == float64(int64(a.num))}
	}
	return search.SortValue{}
}

func compareHits(keys []search.SortKey, a, b []sortable) int {
	for i := range keys {
		if c := a[i].compare(&b[i], keys[i].Desc); c != 0 {
			return c
		}
	}
	return 0
}

// sortBy writes the sort of the server; false if it cannot sort so.
func (v *view) sortBy(keys []search.SortKey) (string, bool) {
	var parts []string
	for i := range keys {
		part, ok := v.sortPart(&keys[i])
		if !ok {
			return "", false
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) < 3 {
		parts = append(parts, fieldOrder+":asc")
	}
	return strings.Join(parts, ","), len(parts) <= 3
}

// sortPart writes one key; empty if all documents are equal by it.
func (v *view) sortPart(key *search.SortKey) (string, bool) {
	direction := ":asc"
	if key.Desc {
		direction = ":desc"
	}
	switch key.Field {
	case "_score":
		_, same := constantScore(v.query)
		return "", same
	case "_doc":
		return fieldOrder + direction, true
	case indexField:
		return "", true
	}
	if key.Geo != nil || key.NestedPath != "" || key.Missing != nil || key.Mode == search.SortSum || key.Mode == search.SortAvg {
		return "", false
	}
	numbers, words := false, false
	for _, c := range v.columns(v.root(), key.Field) {
		numbers = numbers || c.Field.Family.Numeric()
		words = words || listed(c.Field) && !c.Field.Family.Numeric()
	}
	if !numbers && !words {
		return "", true
	}
	low := low(key)
	name := SortName(numbers, key.Field, !low)
	if words {
		// Only documents with several values have the greatest by itself.
		name = SortName(false, key.Field, false)
		if numbers || !low && v.gen.has("", SortName(false, key.Field, true)) {
			return "", false
		}
	}
	missing := "last"
	if key.MissingFirst {
		missing = "first"
	}
	return name + "(missing_values:" + missing + ")" + direction, true
}

// listed tells whether values of a field can be listed, for sorts and
// aggregations.
func listed(f *mapping.Field) bool { return f.Family != mapping.Text || f.Listed }

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

// named gives the fields of a path in any space of any index.
func (r *run) named(path string) []*mapping.Field {
	var out []*mapping.Field
	for _, v := range r.views {
		for _, space := range []string{"", "rows"} {
			for _, c := range v.gen.columns(space, path) {
				out = append(out, c.Field)
			}
		}
	}
	return out
}

// checkSort refuses keys that no index can be sorted by.
func (r *run) checkSort(key *search.SortKey) error {
	if key.Geo != nil {
		return nil
	}
	text, other, keyword := false, false, false
	for _, f := range r.named(key.Field) {
		if f.Family == mapping.Geo {
			return problem.Field(problem.Invalid, key.Path, "the field %q has points, which have no order; use _geo_distance", key.Field)
		}
		text = text || !listed(f)
		other = other || listed(f)
		keyword = keyword || listed(f) && !f.Family.Numeric()
	}
	if text && !other {
		return problem.Field(problem.Invalid, key.Path,
			"the field %q is text, which has no order; use a keyword, such as %q", key.Field, key.Field+".keyword")
	}
	if keyword && (key.Mode == search.SortSum || key.Mode == search.SortAvg) {
		return problem.Field(problem.Invalid, key.Path, "the mode %q needs numbers, and %q has strings", key.Mode, key.Field)
	}
	return nil
}

// wholeSort tells whether the values of a key are integers.
func (r *run) wholeSort(key *search.SortKey) bool {
	if key.Geo != nil || key.Field == "_score" || key.Mode == search.SortAvg {
		return false
	}
	for _, f := range r.named(key.Field) {
		if f.Family == mapping.Double {
			return false
		}
	}
	return true
}

// after reads the values of search_after, one per sort key; nil without any.
func (r *run) after(keys []search.SortKey) ([]sortable, error) {
	if r.req.After == nil {
		return nil, nil
	}
	if len(r.req.After) != len(r.req.Sort) || r.req.From > 0 {
		return nil, problem.Field(problem.Invalid, "search_after", "search_after needs a value per sort key, and from must be 0")
	}
	out := make([]sortable, len(keys))
	for i := range keys {
		var err error
		if out[i], err = r.position(&keys[i], r.req.After[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// position gives where a value stands in the order of a key.
func (r *run) position(key *search.SortKey, v search.Value) (sortable, error) {
	if key.Geo != nil {
		n, ok := v.Number()
		if v.Text == infinity {
			n, ok = math.Inf(1), true
		}
		if !ok {
			return sortable{}, problem.Field(problem.Invalid, "search_after", "%q is no distance", v.Text)
		}
		return sortable{num: n, state: isNumber}, nil
	}
	if v.Kind == search.NullValue {
		if key.MissingFirst {
			return sortable{state: absentFirst}, nil
		}
		return sortable{state: absentLast}, nil
	}
	numeric, text := key.Field == "_score" || key.Field == "_doc", key.Field == indexField
	for _, f := range r.named(key.Field) {
		if f.Family == mapping.Date && v.Kind == search.StringValue {
			if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
				return sortable{num: float64(ms), state: isNumber}, nil
			}
		}
		numeric = numeric || f.Family.Numeric()
		text = text || !f.Family.Numeric()
	}
	if n, ok := v.Number(); ok && (!text || numeric && v.Kind == search.NumberValue) {
		return sortable{num: n, state: isNumber}, nil
	}
	if numeric && !text {
		return sortable{}, problem.Field(problem.Invalid, "search_after", "%q is no value of %q", v.Text, key.Field)
	}
	return sortable{text: v.Text, state: isText}, nil
}
