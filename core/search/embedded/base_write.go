package embedded

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// origin is a segment that goes into a base, as it was when the writing began:
// nothing is added to it any more, and what is deleted meanwhile is deleted in
// the base afterwards.
type origin struct {
	seg      *segment
	spaces   []*space // as in seg, to which empty ones may be added
	families []*family
	live     []*roaring.Bitmap // by ID of the space
	to       [][]uint32        // by ID of the space: new number of each object
}

// freeze takes the state of a segment, which the caller has locked.
func freeze(s *segment) *origin {
	o := &origin{seg: s, spaces: slices.Clone(s.spaces), families: slices.Clone(s.families)}
	o.live, o.to = make([]*roaring.Bitmap, len(s.spaces)), make([][]uint32, len(s.spaces))
	for id, sp := range s.spaces {
		if sp != nil {
			o.live[id] = sp.live.Clone()
		}
	}
	return o
}

// move gives the live objects of a space numbers in out; those around them have
// got theirs.
func (o *origin) move(out *segment, sp *space) {
	to := make([]uint32, sp.n)
	o.to[sp.of.ID] = to
	fresh := out.root()
	if sp.parent != nil {
		fresh = out.spaceOf(sp.of)
	}
	live := o.live[sp.of.ID]
	for i := range to {
		to[i] = gone
	}
	each(live, func(old uint32) {
		outer := uint32(0)
		if sp.parent != nil {
			outer = o.to[sp.parent.of.ID][sp.up[old]]
		}
		to[old] = fresh.add(outer)
	})
}

// base writes segments as one.
type base struct {
	w       *baseWriter
	d       *directory
	origins []*origin
	spaces  map[int]int // by ID: place in the directory
	terms   termsWriter
	longest int
}

// writeBase writes the segments behind each other, without what is deleted,
// and gives the header. d has what is known of the index.
func writeBase(w *baseWriter, d *directory, origins []*origin) ([]byte, error) {
	b := &base{w: w, d: d, origins: origins, spaces: map[int]int{}}
	w.write(make([]byte, headerSize))
	w.sum = 0
	shape := newSegment()
	for _, o := range origins {
		for _, sp := range o.spaces { // a space has a higher ID than the one around it
			if sp != nil {
				o.move(shape, sp)
			}
		}
	}
	var refs, stamps []int64
	for _, o := range origins {
		for old, doc := range o.to[0] {
			if doc != gone {
				refs, stamps = append(refs, o.seg.refs[old]), append(stamps, o.seg.stamps[old])
			}
		}
	}
	d.Refs, d.Stamps = put(w, refs), put(w, stamps)
	b.space(shape.root(), -1)
	families := 0
	for _, o := range origins {
		families = max(families, len(o.families))
	}
	for id := range families {
		b.field(id)
	}
	ords := make([]uint32, b.longest)
	for i := range ords {
		ords[i] = uint32(i)
	}
	d.Ords = put(w, ords)
	return w.finish(d)
}

// space writes a space and those inside it.
func (b *base) space(sp *space, parent int) {
	at := len(b.d.Spaces)
	b.spaces[sp.of.ID] = at
	b.d.Spaces = append(b.d.Spaces, spaceEntry{Path: sp.of.Path, Parent: parent, N: sp.n, Up: put(b.w, sp.up), First: put(b.w, sp.first)})
	for _, kid := range sp.kids {
		b.space(kid, at)
	}
}

// field writes the families with the ID of all origins as one.
func (b *base) field(id int) {
	families := make([]*family, len(b.origins))
	var f *mapping.Field
	for i, o := range b.origins {
		if id < len(o.families) && o.families[id] != nil {
			families[i] = o.families[id]
			f = families[i].field
		}
	}
	if f == nil || b.w.err != nil {
		return
	}
	place, ok := b.spaces[f.Space.ID]
	if !ok { // no object is left in the space
		return
	}
	e := fieldEntry{Space: place, Path: f.Path, Family: uint8(f.Family), Listed: f.Listed}
	if f.Analyzer != nil {
		e.Analyzer, e.Search = f.Analyzer.Name(), f.Search.Name()
	}
	if f.Format != nil {
		e.Format = f.Format.String()
	}
	has := roaring.New()
	if f.Family.Numeric() {
		b.numbers(&e, families, has)
	} else {
		b.strings(&e, families, has)
	}
	bytes, err := has.ToBytes()
	if err != nil && b.w.err == nil {
		b.w.err = err
	}
	e.Has = put(b.w, bytes)
	b.d.Fields = append(b.d.Fields, e)
}

// to gives the new numbers of the objects of a family.
func (b *base) to(i int, f *family) []uint32 { return b.origins[i].to[f.field.Space.ID] }

func (b *base) numbers(e *fieldEntry, families []*family, has *roaring.Bitmap) {
	var nums column[float64]
	for i, f := range families {
		if f != nil {
			f.nums.renumber(&nums, b.to(i, f), func(v float64) float64 { return v })
		}
	}
	fill(has, &nums)
	e.Nums = putColumn(b.w, &nums)
}

// strings writes a text or keyword.
func (b *base) strings(e *fieldEntry, families []*family, has *roaring.Bitmap) {
	fresh := b.merge(families)
	t := &b.terms
	if uint64(len(t.arena)) > math.MaxUint32 && b.w.err == nil {
		b.w.err = damaged("the terms of %s are longer than 4 GiB", e.Path)
	}
	b.longest = max(b.longest, len(t.ends)-1)
	e.Terms, e.Ends, e.Logs, e.Starts, e.Many = put(b.w, t.arena), put(b.w, t.ends), put(b.w, t.logs), put(b.w, t.starts), put(b.w, t.many)
	var ords, lengths column[uint32]
	var words sequence
	for i, f := range families {
		if f == nil {
			continue
		}
		to := b.to(i, f)
		f.ords.renumber(&ords, to, func(ord uint32) uint32 { return fresh[i][ord] })
		f.words.renumber(&words, &f.length, to, fresh[i])
		f.length.renumber(&lengths, to, func(n uint32) uint32 {
			e.Tokens += int64(n)
			e.Holds++
			return n
		})
	}
	if mapping.Family(e.Family) == mapping.Text {
		fill(has, &lengths)
	} else {
		fill(has, &ords)
	}
	e.Ords, e.Lengths = putColumn(b.w, &ords), putColumn(b.w, &lengths)
	e.Words, e.Rows = put(b.w, words.log), put(b.w, words.starts)
}

// merge brings the terms of families into one order, without those that nothing
// holds, and gives their new ordinals.
func (b *base) merge(families []*family) [][]uint32 {
	b.terms.reset()
	fresh := make([][]uint32, len(families))
	left := make([][]uint32, len(families)) // ordinals to come, in the order of their terms
	for i, f := range families {
		if f != nil {
			fresh[i], left[i] = make([]uint32, f.dict.size()), f.dict.order()
		}
	}
	scratch := &list{}
	var same []int // families that have the term
	for {
		term, some := "", false
		for i, f := range families {
			if len(left[i]) == 0 {
				continue
			}
			if t := f.dict.term(left[i][0]); !some || t < term {
				term, some = t, true
			}
		}
		if !some {
			return fresh
		}
		scratch.log = scratch.log[:0]
		p := growing{more: scratch}
		same = same[:0]
		for i, f := range families {
			if len(left[i]) > 0 && f.dict.term(left[i][0]) == term {
				to := b.to(i, f)
				f.at(left[i][0]).each(func(object, tf uint32) {
					if to[object] != gone {
						p.addTimes(to[object], tf)
					}
				})
				same = append(same, i)
			}
		}
		ord := gone
		if p.n > 0 {
			ord = b.terms.add(term, &p)
		}
		for _, i := range same {
			fresh[i][left[i][0]] = ord
			left[i] = left[i][1:]
		}
	}
}

func putColumn[T uint32 | float64](w *baseWriter, c *column[T]) columnEntry {
	return columnEntry{Rows: c.rows, Objs: put(w, c.objs), Off: put(w, c.off), Vals: put(w, c.vals)}
}
