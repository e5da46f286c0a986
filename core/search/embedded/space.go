package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// space is one space of numbers: the documents, or the objects of one nested
// path.
type space struct {
	of     *mapping.Space
	parent *space
	kids   []*space
	n      uint32          // objects so far
	live   *roaring.Bitmap // objects that are not deleted
	up     []uint32        // number of the object around each object
	first  []uint32        // first object of each outer object, as far as there are any
	texts  []*family       // text fields of the space, which have statistics
}

// within tells whether the space lies inside outer, at any depth.
func (sp *space) within(outer *space) bool {
	for p := sp.parent; p != nil; p = p.parent {
		if p == outer {
			return true
		}
	}
	return false
}

// add gives a new object of the space its number.
func (sp *space) add(outer uint32) uint32 {
	object := sp.n
	sp.n++
	sp.live.Add(object)
	if sp.parent != nil {
		for len(sp.first) <= int(outer) {
			sp.first = append(sp.first, object)
		}
		sp.up = append(sp.up, outer)
	}
	return object
}

// down gives the range of the objects inside an outer object.
func (sp *space) down(outer uint32) (from, to uint32) {
	i := int(outer)
	if i >= len(sp.first) {
		return sp.n, sp.n
	}
	if i+1 == len(sp.first) {
		return sp.first[i], sp.n
	}
	return sp.first[i], sp.first[i+1]
}
