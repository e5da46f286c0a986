package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// family holds the values of one field in one segment. In a base its arrays lie
// in the base, and post is not used.
type family struct {
	field *mapping.Field
	has   *roaring.Bitmap // objects with a value

	dict dict           // of text and keyword
	post []growing      // by ordinal
	ords column[uint32] // of each object, without doubles; of text only if it is listed

	// Of text: how many tokens each object has, and their sum and the number
	// of objects, both without deleted ones.
	length column[uint32]
	words  sequence // of the rows of length
	tokens int64
	holds  int64

	nums column[float64] // of the numeric families

	vias map[*family]*via // while it is written
}

// maxTerm is the longest token of a text that is indexed, in bytes, as in
// Lucene.
const maxTerm = 32_766

// Of gives the field of which the family keeps the values.
func (f *family) Of() *mapping.Field { return f.field }

func newFamily(f *mapping.Field) *family { return &family{field: f, has: roaring.New()} }

// addKeyword adds a keyword of an object and gives its ordinal.
func (f *family) addKeyword(object uint32, term []byte) uint32 {
	ord := f.ord(term)
	if p := &f.post[ord]; p.n > 0 && p.one == object {
		return ord
	}
	f.has.Add(object)
	f.post[ord].add(object)
	f.ords.add(object, ord)
	return ord
}

// addText adds the tokens of one text of an object. ords are their ordinals,
// gone for those that are too long.
func (f *family) addText(object uint32, tokens []analysis.Token, ords []uint32) {
	n, last := uint32(0), ^uint32(0)
	row := f.length.lastRow(object)
	base := f.words.open(row == nil)
	for i, t := range tokens {
		ord := ords[i]
		if ord == gone {
			continue
		}
		p := &f.post[ord]
		if f.field.Listed && !(p.n > 0 && p.one == object) {
			f.ords.add(object, ord)
		}
		p.add(object)
		f.words.add(ord, base+int(t.Pos))
		if t.Pos != last { // synonyms at the same place count once
			n++
			last = t.Pos
		}
	}
	f.has.Add(object)
	if row != nil {
		row[0] += n
	} else {
		f.length.add(object, n)
		f.holds++
	}
	f.tokens += int64(n)
}

func (f *family) addNumber(object uint32, v float64) {
	f.has.Add(object)
	f.nums.add(object, v)
}

func (f *family) ord(term []byte) uint32 {
	ord := f.dict.add(term)
	if int(ord) == len(f.post) {
		f.post = append(f.post, growing{})
	}
	return ord
}

// remove takes a deleted object out of the statistics of a text.
func (f *family) remove(object uint32) {
	if row := f.length.get(object); row != nil {
		f.tokens -= int64(row[0])
		f.holds--
	}
}

// posting gives the posting list of a term, nil if there is none.
func (f *family) posting(term string) *posting {
	ord, ok := f.dict.find(term)
	if !ok {
		return nil
	}
	p := f.at(ord)
	return &p
}

// at gives the posting list of an ordinal.
func (f *family) at(ord uint32) posting {
	if f.dict.base != nil {
		return f.dict.base.at(ord)
	}
	return f.post[ord].seen()
}

// fill makes the set of the objects of a column.
func fill[T uint32 | float64](has *roaring.Bitmap, c *column[T]) {
	if c.objs == nil {
		has.AddRange(0, uint64(c.rows))
		return
	}
	has.AddMany(c.objs)
	has.RunOptimize()
}
