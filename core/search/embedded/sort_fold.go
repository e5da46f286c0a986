package embedded

import (
	"math"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

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
	base    *space // of the objects that are sorted
	low     bool   // the least value counts, else the greatest
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
		if src.sp != f.base {
			from, to = src.sp.spanIn(f.base, doc)
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

// spanIn gives the range of the objects inside an object of the space outer, at
// any depth.
func (sp *space) spanIn(outer *space, object uint32) (from, to uint32) {
	if sp.parent == outer {
		return sp.down(object)
	}
	outerFrom, outerTo := sp.parent.spanIn(outer, object)
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
				if f.key.Geo != nil {
					n = nearest(f.key.Geo, n)
				}
				f.sum += n
				f.take(sortable{num: n, state: isNumber})
			}
			continue
		}
		for _, ord := range src.ords[i].seek(object) {
			f.take(sortable{text: fam.dict.term(ord), state: isText})
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
	case f.key.Geo != nil:
		return sortable{num: math.Inf(1), state: isNumber}
	case f.key.MissingFirst:
		return sortable{state: absentFirst}
	case f.key.Missing == nil:
		return sortable{state: absentLast}
	}
	if ms, ok := f.missingDate(); ok {
		return sortable{num: ms, state: isNumber}
	}
	if n, ok := f.key.Missing.Number(); ok && (f.numeric() || f.key.Missing.Kind == search.NumberValue) {
		return sortable{num: n, state: isNumber}
	}
	return sortable{text: f.key.Missing.Text, state: isText}
}

// missingDate reads what stands in for a value as a date of the field.
func (f *fold) missingDate() (float64, bool) {
	if f.key.Missing.Kind != search.StringValue {
		return 0, false
	}
	for _, src := range f.sources {
		for _, fam := range src.families {
			if fam.field.Family != mapping.Date {
				continue
			}
			if ms, ok := fam.field.Format.Millis(f.key.Missing.Text, time.UTC, false); ok {
				return float64(ms), true
			}
		}
	}
	return 0, false
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
