package embedded

import (
	"iter"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

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

// reader gives the values of documents, asked for in ascending order, for one
// sort key in one view.
type reader func(doc uint32) sortable

// sortReader makes the reader of a key for documents.
func (v *view) sortReader(key *search.SortKey, scores []float32) (reader, error) {
	return v.readerIn(key, v.seg.root(), scores)
}

// readerIn makes the reader of a key for the objects of a space: documents,
// or nested ones. scores may be nil if no key wants them.
func (v *view) readerIn(key *search.SortKey, base *space, scores []float32) (reader, error) {
	switch key.Field {
	case "_score":
		return func(doc uint32) sortable { return sortable{num: float64(scores[doc]), state: isNumber} }, nil
	case "_doc":
		return func(doc uint32) sortable { return sortable{num: float64(v.before + doc), state: isNumber} }, nil
	case indexField:
		return func(uint32) sortable { return sortable{text: v.x.name, state: isText} }, nil
	}
	spaces := []*space{base}
	if key.NestedPath != "" && key.NestedPath != base.of.Path {
		spaces = v.seg.inside(base, key.NestedPath)
	}
	filters := make([]*roaring.Bitmap, len(spaces))
	if key.NestedFilter != nil {
		for i, sp := range spaces {
			o, err := v.compile(key.NestedFilter, sp)
			if err != nil {
				return nil, err
			}
			filters[i] = o.match()
		}
	}
	return v.values(key, base, spaces, filters), nil
}

// values reads a field in the objects of spaces inside base, or in base itself.
func (v *view) values(key *search.SortKey, base *space, spaces []*space, filters []*roaring.Bitmap) reader {
	f := &fold{key: key, base: base, low: key.Mode == search.SortMin || key.Mode == search.SortDefault && !key.Desc}
	for i, sp := range spaces {
		src := source{sp: sp}
		if filters != nil {
			src.filter = filters[i]
		}
		for _, fam := range v.families(sp, key.Field) {
			if !fam.listed() || (fam.field.Family == mapping.Geo) != (key.Geo != nil) {
				continue
			}
			src.nums = append(src.nums, cursor[float64]{c: &fam.nums})
			src.ords = append(src.ords, cursor[uint32]{c: &fam.ords})
			src.families = append(src.families, fam)
		}
		f.sources = append(f.sources, src)
	}
	return f.read
}

// checkSort refuses keys that no view can sort by.
func (r *run) checkSort(key *search.SortKey) error {
	if key.Geo != nil {
		return nil
	}
	text, other, keyword := false, false, false
	for f := range r.named(key.Field) {
		if f.field.Family == mapping.Geo {
			return problem.Field(problem.Invalid, key.Path, "the field %q has points, which have no order; use _geo_distance", key.Field)
		}
		text = text || !f.listed()
		other = other || f.listed()
		keyword = keyword || f.listed() && !f.field.Family.Numeric()
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

// named gives the fields of a path in any space of any view.
func (r *run) named(path string) iter.Seq[*family] {
	return func(yield func(*family) bool) {
		for _, v := range r.views {
			for _, sp := range v.seg.spaces {
				if sp == nil {
					continue
				}
				for _, f := range v.families(sp, path) {
					if !yield(f) {
						return
					}
				}
			}
		}
	}
}
