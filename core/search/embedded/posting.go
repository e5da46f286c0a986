package embedded

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// fewMax is how many objects a posting list may hold for its bitmap to be made
// anew for every query. That of a longer one is kept.
const fewMax = 32

// growing is the ascending list of objects that hold a term, and how often each
// does, while it is written: a text has about a hundred tokens, and each costs
// the places in memory that it touches. The last object is in place, those
// before it are a log of differences; the bitmap is made when a query asks.
type growing struct {
	one  uint32 // the last object
	n    uint32 // how many objects; 0 when the term occurs nowhere
	tf   uint32 // how often the term occurs in the last object
	prev uint32 // the object before the last one
	more *list  // nil while n < 2
}

// list holds the objects of a term but the last one.
type list struct {
	// log has for each object the difference to the one before it, doubled, as
	// a varint. An odd one is followed by the number of occurrences, else that
	// is 1.
	log   []byte
	asked atomic.Pointer[known]
}

// posting is what readers see of a term: its objects in ascending order, and
// how often each holds it.
type posting struct {
	one, tf, n uint32                 // the last object, its occurrences, how many objects
	log        []byte                 // the objects before it, see list
	asked      *atomic.Pointer[known] // where the bitmap is kept; not nil if n > fewMax
}

// seen gives what readers see.
func (p *growing) seen() posting {
	out := posting{one: p.one, tf: p.tf, n: p.n}
	if p.more != nil {
		out.log, out.asked = p.more.log, &p.more.asked
	}
	return out
}

// known is the bitmap of the first n objects, and where the log goes on.
type known struct {
	bitmap *roaring.Bitmap // never changed
	n      uint32
	at     int
	last   uint32 // the last object that was read from the log
}

// add appends an object, which is not below the last one, and counts one
// occurrence of the term.
func (p *growing) add(object uint32) { p.addTimes(object, 1) }

func (p *growing) addTimes(object, times uint32) {
	if p.n > 0 && p.one == object {
		p.tf += times
		return
	}
	if p.n > 0 {
		if p.more == nil {
			p.more = &list{log: make([]byte, 0, 8)}
		}
		d := uint64(p.one-p.prev) << 1
		if p.tf == 1 {
			p.more.log = binary.AppendUvarint(p.more.log, d)
		} else {
			p.more.log = binary.AppendUvarint(binary.AppendUvarint(p.more.log, d|1), uint64(p.tf))
		}
		p.prev = p.one
	}
	p.n++
	p.one, p.tf = object, times
}

// logReader walks the log from a place in it.
type logReader struct {
	log  []byte
	at   int
	last uint32
}

func (r *logReader) next() (object, tf uint32, ok bool) {
	if r.at >= len(r.log) {
		return 0, 0, false
	}
	d := r.uvarint()
	tf = 1
	if d&1 == 1 {
		tf = uint32(r.uvarint())
	}
	r.last += uint32(d >> 1)
	return r.last, tf, true
}

// uvarint is binary.Uvarint with the usual case of one byte in front.
func (r *logReader) uvarint() uint64 {
	if b := r.log[r.at]; b < 0x80 {
		r.at++
		return uint64(b)
	}
	v, n := binary.Uvarint(r.log[r.at:])
	r.at += n
	return v
}

// bitmap gives the objects as a bitmap that must not be changed.
func (p posting) bitmap() *roaring.Bitmap {
	switch {
	case p.n == 0:
		return roaring.New()
	case p.n == 1:
		return roaring.BitmapOf(p.one)
	case p.n <= fewMax:
		b := roaring.New()
		p.into(b)
		return b
	}
	old := p.asked.Load()
	if old != nil && old.n == p.n {
		return old.bitmap
	}
	k := &known{n: p.n}
	r := logReader{log: p.log}
	if old != nil {
		k.bitmap, r.at, r.last = old.bitmap.Clone(), old.at, old.last
	} else {
		k.bitmap = roaring.New()
	}
	addAll(k.bitmap, &r)
	k.at, k.last = r.at, r.last
	k.bitmap.Add(p.one)
	p.asked.Store(k) // readers that do this at once all store the same
	return k.bitmap
}

// addAll adds what is left to read to a bitmap.
func addAll(b *roaring.Bitmap, r *logReader) {
	var buf [256]uint32
	for n := 0; ; {
		o, _, ok := r.next()
		if ok {
			buf[n] = o
			n++
		}
		if n == len(buf) || !ok {
			b.AddMany(buf[:n])
			n = 0
		}
		if !ok {
			return
		}
	}
}

// into adds the objects to a bitmap.
func (p posting) into(b *roaring.Bitmap) {
	switch {
	case p.n == 0:
	case p.n == 1:
		b.Add(p.one)
	case p.n > fewMax:
		b.Or(p.bitmap())
	default:
		addAll(b, &logReader{log: p.log})
		b.Add(p.one)
	}
}

// live counts the objects that are in alive.
func (p posting) live(alive *roaring.Bitmap) int {
	if p.n > fewMax {
		return int(p.bitmap().AndCardinality(alive))
	}
	n := 0
	p.each(func(object, _ uint32) {
		if alive.Contains(object) {
			n++
		}
	})
	return n
}

// each calls f with every object and how often the term occurs in it.
func (p posting) each(f func(object, tf uint32)) {
	if p.n == 0 {
		return
	}
	r := logReader{log: p.log}
	for o, tf, ok := r.next(); ok; o, tf, ok = r.next() {
		f(o, tf)
	}
	f(p.one, p.tf)
}

// gone stands for the new number of an object that is no more.
const gone = ^uint32(0)
