package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
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
	sorting.Fold
	base    *space // of the objects that are sorted
	sources []source
}

func newFold(key *search.SortKey, base *space, sources []source) *fold {
	var families [][]*family
	for i := range sources {
		families = append(families, sources[i].families)
	}
	return &fold{sorting.NewFold(key, mapping.FieldsOf(families...)), base, sources}
}

func (f *fold) read(doc uint32) sorting.Value {
	f.Reset()
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
	return f.Value()
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
				f.Number(n)
			}
			continue
		}
		for _, ord := range src.ords[i].seek(object) {
			f.Text(fam.dict.term(ord))
		}
	}
}
