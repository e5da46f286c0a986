package embedded

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// fewMax is how many objects a posting list holds as a plain array, before it
// becomes a bitmap.
const fewMax = 32

// posting is the ascending list of objects that hold a term. Most terms occur
// once, so the object is stored in place.
type posting struct {
	one  uint32 // the only object, or the last one
	n    uint32 // 0 when the term occurs nowhere
	more *list  // nil while n < 2 and the term occurs once in its object
}

// list holds the objects of a term that occurs in several of them, or several
// times in one.
type list struct {
	few  []uint32
	many *roaring.Bitmap // instead of few when there are more than fewMax
	tf   []uint16        // how often, in the order of objects; nil means once each
}

// add appends an object, which is not below the last one, and counts one
// occurrence of the term.
func (p *posting) add(object uint32) {
	if p.n > 0 && p.one == object {
		p.again()
		return
	}
	p.n++
	if p.n == 1 {
		p.one = object
		return
	}
	if p.more == nil {
		p.more = &list{few: append(make([]uint32, 0, 4), p.one)}
	}
	l := p.more
	if l.tf != nil {
		l.tf = append(l.tf, 1)
	}
	switch {
	case l.many != nil:
		l.many.Add(object)
	case len(l.few) < fewMax:
		l.few = append(l.few, object)
	default:
		l.many = roaring.BitmapOf(l.few...)
		l.many.Add(object)
		l.few = nil
	}
	p.one = object
}

// again counts another occurrence in the last object.
func (p *posting) again() {
	if p.more == nil {
		p.more = &list{few: append(make([]uint32, 0, 2), p.one)}
	}
	l := p.more
	if l.tf == nil {
		l.tf = make([]uint16, p.n, p.n+4)
		for i := range l.tf {
			l.tf[i] = 1
		}
	}
	if k := len(l.tf) - 1; l.tf[k] < 1<<16-1 {
		l.tf[k]++
	}
}

// bitmap gives the objects as a bitmap that must not be changed.
func (p *posting) bitmap() *roaring.Bitmap {
	switch {
	case p.n == 0:
		return roaring.New()
	case p.more == nil:
		return roaring.BitmapOf(p.one)
	case p.more.many != nil:
		return p.more.many
	}
	return roaring.BitmapOf(p.more.few...)
}

// into adds the objects to a bitmap.
func (p *posting) into(b *roaring.Bitmap) {
	switch {
	case p.n == 0:
	case p.more == nil:
		b.Add(p.one)
	case p.more.many != nil:
		b.Or(p.more.many)
	default:
		b.AddMany(p.more.few)
	}
}

// live counts the objects that are in alive.
func (p *posting) live(alive *roaring.Bitmap) int {
	switch {
	case p.n == 0:
		return 0
	case p.more == nil:
		if alive.Contains(p.one) {
			return 1
		}
		return 0
	case p.more.many != nil:
		return int(p.more.many.AndCardinality(alive))
	}
	n := 0
	for _, o := range p.more.few {
		if alive.Contains(o) {
			n++
		}
	}
	return n
}

// each calls f with every object and how often the term occurs in it.
func (p *posting) each(f func(object uint32, tf uint16)) {
	if p.n == 0 {
		return
	}
	if p.more == nil {
		f(p.one, 1)
		return
	}
	l := p.more
	count := func(i int) uint16 {
		if l.tf == nil {
			return 1
		}
		return l.tf[i]
	}
	if l.many == nil {
		for i, o := range l.few {
			f(o, count(i))
		}
		return
	}
	var buf [512]uint32
	it := l.many.ManyIterator()
	for i := 0; ; {
		n := it.NextMany(buf[:])
		if n == 0 {
			return
		}
		for _, o := range buf[:n] {
			f(o, count(i))
			i++
		}
	}
}

// renumber gives the posting with new numbers, without the objects that have
// none; to is indexed by the old ones.
func (p *posting) renumber(to []uint32) posting {
	var out posting
	p.each(func(object uint32, tf uint16) {
		if to[object] == gone {
			return
		}
		out.add(to[object])
		if tf > 1 {
			out.again()
			out.more.tf[len(out.more.tf)-1] = tf
		}
	})
	if out.more != nil {
		out.more.few = slices.Clip(out.more.few)
		if out.more.many != nil {
			out.more.many.RunOptimize()
		}
	}
	return out
}

// gone stands for the new number of an object that is no more.
const gone = ^uint32(0)
