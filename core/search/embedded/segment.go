package embedded

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// segment is the searchable form of documents. Numbers of documents and of
// nested objects only grow; deleted ones leave the live bitmaps. It is guarded
// by the lock of its index. While it is merged nothing is added to it, so that
// all but the live bitmaps and the sums of lengths is read without the lock.
type segment struct {
	spaces   []*space // by ID of the mapping's space; nil where nothing is yet
	families []*family
	byPath   map[pathKey][]*family
	refs     []int64 // by document number
	stamps   []int64 // by document number
	dead     int     // deleted documents
	made     int     // families
	mapped   bool    // its arrays lie in a file
}

type pathKey struct {
	space int // ID
	path  string
}

func newSegment() *segment {
	s := &segment{byPath: map[pathKey][]*family{}}
	s.spaces = []*space{{of: &mapping.Space{}, live: roaring.New()}}
	return s
}

func (s *segment) root() *space { return s.spaces[0] }

// spaceOf gives the segment's side of a space, made if need be.
func (s *segment) spaceOf(m *mapping.Space) *space {
	for len(s.spaces) <= m.ID {
		s.spaces = append(s.spaces, nil)
	}
	if sp := s.spaces[m.ID]; sp != nil {
		return sp
	}
	sp := &space{of: m, live: roaring.New(), parent: s.spaceOf(m.Parent)}
	sp.parent.kids = append(sp.parent.kids, sp)
	s.spaces[m.ID] = sp
	return sp
}

// inside gives the spaces of a nested path that lie inside outer. There may be
// several, because content types may nest the same path below different ones.
func (s *segment) inside(outer *space, path string) []*space {
	var out []*space
	for _, sp := range s.spaces {
		if sp != nil && sp.of.Path == path && sp.within(outer) {
			out = append(out, sp)
		}
	}
	return out
}

// family gives the segment's side of a field, made if need be.
func (s *segment) family(f *mapping.Field) *family {
	for len(s.families) <= f.ID {
		s.families = append(s.families, nil)
	}
	if fam := s.families[f.ID]; fam != nil {
		return fam
	}
	fam := newFamily(f)
	s.put(fam)
	return fam
}

func (s *segment) put(fam *family) {
	f := fam.field
	s.made++
	for len(s.families) <= f.ID {
		s.families = append(s.families, nil)
	}
	s.families[f.ID] = fam
	if f.Family == mapping.Text {
		sp := s.root()
		if f.Space.Parent != nil {
			sp = s.spaceOf(f.Space)
		}
		sp.texts = append(sp.texts, fam)
	}
	key := pathKey{f.Space.ID, f.Path}
	s.byPath[key] = append(s.byPath[key], fam)
}

// find gives the number of a live document.
func (s *segment) find(key search.Key) (uint32, bool) {
	ids := s.byPath[pathKey{0, mapping.IDField}]
	types := s.byPath[pathKey{0, mapping.TypeField}]
	if len(ids) == 0 || len(types) == 0 {
		return 0, false
	}
	p := ids[0].posting(key.OUUID)
	ord, ok := types[0].dict.find(key.Type)
	if p == nil || !ok {
		return 0, false
	}
	found, number := false, uint32(0)
	p.each(func(doc, _ uint32) {
		if s.root().live.Contains(doc) && types[0].ords.get(doc)[0] == ord {
			found, number = true, doc
		}
	})
	return number, found
}

// key gives the key of a document.
func (s *segment) key(doc uint32) search.Key {
	return keyIn(s.byPath[pathKey{0, mapping.TypeField}][0], s.byPath[pathKey{0, mapping.IDField}][0], doc)
}

// keyIn gives the key of a document of a segment with these families.
func keyIn(types, ids *family, doc uint32) search.Key {
	get := func(f *family) string { return strings.Clone(f.dict.term(f.ords.get(doc)[0])) }
	return search.Key{Type: get(types), OUUID: get(ids)}
}

// seal ends the writing of a segment, which is to be merged.
func (s *segment) seal() {
	for _, f := range s.families {
		if f != nil {
			f.vias = nil
		}
	}
}

// align gives a segment the families and spaces that another one has, without
// values, so that a query is understood in the same way in both.
func (s *segment) align(to *segment) {
	if s.made == to.made {
		return
	}
	for _, fam := range to.families {
		if fam != nil {
			s.spaceOfField(fam.field)
			s.family(fam.field)
		}
	}
}

func (s *segment) spaceOfField(f *mapping.Field) {
	if f.Space.Parent != nil {
		s.spaceOf(f.Space)
	}
}

// remove deletes a document and its nested objects.
func (s *segment) remove(doc uint32) {
	s.dead++
	s.drop(s.root(), doc)
}

func (s *segment) drop(sp *space, object uint32) {
	sp.live.Remove(object)
	for _, f := range sp.texts {
		f.remove(object)
	}
	for _, kid := range sp.kids {
		from, to := kid.down(object)
		for o := from; o < to; o++ {
			s.drop(kid, o)
		}
	}
}
