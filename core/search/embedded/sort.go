package embedded

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// reader gives the values of documents, asked for in ascending order, for one
// sort key in one view.
type reader func(doc uint32) sorting.Value

// sortReader makes the reader of a key for documents.
func (v *view) sortReader(key *search.SortKey, scores []float32) (reader, error) {
	return v.readerIn(key, v.seg.root(), scores)
}

// readerIn makes the reader of a key for the objects of a space: documents,
// or nested ones. scores may be nil if no key wants them.
func (v *view) readerIn(key *search.SortKey, base *space, scores []float32) (reader, error) {
	switch key.Field {
	case "_score":
		return func(doc uint32) sorting.Value { return sorting.Number(float64(scores[doc])) }, nil
	case "_doc":
		return func(doc uint32) sorting.Value { return sorting.Number(float64(v.before + doc)) }, nil
	case indexField:
		return func(uint32) sorting.Value { return sorting.Text(v.x.name) }, nil
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
	var sources []source
	for i, sp := range spaces {
		src := source{sp: sp}
		if filters != nil {
			src.filter = filters[i]
		}
		for _, fam := range v.families(sp, key.Field) {
			if !fam.field.Listable() || (fam.field.Family == mapping.Geo) != (key.Geo != nil) {
				continue
			}
			src.nums = append(src.nums, cursor[float64]{c: &fam.nums})
			src.ords = append(src.ords, cursor[uint32]{c: &fam.ords})
			src.families = append(src.families, fam)
		}
		sources = append(sources, src)
	}
	return newFold(key, base, sources).read
}

// fields gives the fields of a path in any space of any view.
func (r *run) fields(path string) iter.Seq[*mapping.Field] {
	return func(yield func(*mapping.Field) bool) {
		for f := range r.named(path) {
			if !yield(f.field) {
				return
			}
		}
	}
}

// named gives the families of a path in any space of any view.
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
