package embedded

import (
	"iter"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
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

// sortReader makes the reader of a key. scores may be nil if no key wants them.
func (v *view) sortReader(key *search.SortKey, scores []float32) (reader, error) {
	switch key.Field {
	case "_score":
		return func(doc uint32) sortable { return sortable{num: float64(scores[doc]), state: isNumber} }, nil
	case "_doc":
		return func(doc uint32) sortable { return sortable{num: float64(doc), state: isNumber} }, nil
	case indexField:
		return func(uint32) sortable { return sortable{text: v.x.name, state: isText} }, nil
	}
	root := v.seg.root()
	spaces := []*space{root}
	if key.NestedPath != "" {
		spaces = v.seg.inside(root, key.NestedPath)
	}
	f := &fold{key: key, low: key.Mode == search.SortMin || key.Mode == search.SortDefault && !key.Desc}
	for _, sp := range spaces {
		src := source{sp: sp}
		if key.NestedFilter != nil {
			o, err := v.compile(key.NestedFilter, sp)
			if err != nil {
				return nil, err
			}
			src.filter = o.match()
		}
		for _, fam := range v.families(sp, key.Field) {
			if !fam.listed() {
				continue
			}
			src.nums = append(src.nums, cursor[float64]{c: &fam.nums})
			src.ords = append(src.ords, cursor[uint32]{c: &fam.ords})
			src.families = append(src.families, fam)
		}
		f.sources = append(f.sources, src)
	}
	return f.read, nil
}

// checkSort refuses keys that no view can sort by.
func (r *run) checkSort(key *search.SortKey) error {
	text, other, keyword := false, false, false
	for f := range r.named(key.Field) {
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

// source is one space from which a sort key takes values.
type source struct {
	sp       *space
	filter   *roaring.Bitmap
	families []*family
	nums     []cursor[float64]
	ords     []cursor[uint32]
}

// fold makes one of the values of a document.
type fold struct {
	key     *search.SortKey
	low     bool // the least value counts, else the greatest
	sources []source

	sum  float64
	n    int
	best sortable
}

func (f *fold) read(doc uint32) sortable {
	f.sum, f.n, f.best = 0, 0, sortable{}
	for i := range f.sources {
		src := &f.sources[i]
		from, to := doc, doc+1
		if src.sp.parent != nil {
			from, to = src.sp.spanOf(doc)
		}
		for object := from; object < to; object++ {
			if src.filter == nil || src.filter.Contains(object) {
				f.object(src, object)
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

// spanOf gives the range of the objects inside a document, at any depth.
func (sp *space) spanOf(doc uint32) (from, to uint32) {
	if sp.parent.parent == nil {
		return sp.down(doc)
	}
	outerFrom, outerTo := sp.parent.spanOf(doc)
	if outerFrom >= outerTo {
		return 0, 0
	}
	from, _ = sp.down(outerFrom)
	_, to = sp.down(outerTo - 1)
	return from, to
}

func (f *fold) object(src *source, object uint32) {
	for i, fam := range src.families {
		if fam.field.Family.Numeric() {
			for _, n := range src.nums[i].seek(object) {
				f.sum += n
				f.take(sortable{num: n, state: isNumber})
			}
			continue
		}
		for _, ord := range src.ords[i].seek(object) {
			f.take(sortable{text: fam.dict.terms[ord], state: isText})
		}
	}
}

func (f *fold) take(s sortable) {
	f.n++
	if f.n == 1 || (s.compare(&f.best, false) < 0) == f.low {
		f.best = s
	}
}

func (f *fold) absent() sortable {
	switch {
	case f.key.MissingFirst:
		return sortable{state: absentFirst}
	case f.key.Missing == nil:
		return sortable{state: absentLast}
	}
	if n, ok := f.key.Missing.Number(); ok && (f.numeric() || f.key.Missing.Kind == search.NumberValue) {
		return sortable{num: n, state: isNumber}
	}
	return sortable{text: f.key.Missing.Text, state: isText}
}

func (f *fold) numeric() bool {
	for _, src := range f.sources {
		for _, fam := range src.families {
			if fam.field.Family.Numeric() {
				return true
			}
		}
	}
	return false
}
