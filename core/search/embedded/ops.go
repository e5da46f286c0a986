package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// op is a compiled clause, bound to one space of one segment.
type op interface {
	// match gives the objects that match; deleted ones may be among them. The
	// bitmap belongs to others and must not be changed.
	match() *roaring.Bitmap
	// score adds the score of the clause, times factor, for each object that
	// matches. Without exact it may also add to objects that do not, because
	// the caller will not look at them.
	score(acc []float32, factor float32, exact bool)
}

// none matches nothing.
type none struct{}

// wordless is none for a text of which an analyzer left no word.
type wordless struct{ none }

func isWordless(o op) bool {
	_, is := o.(wordless)
	return is
}

func (none) match() *roaring.Bitmap               { return roaring.New() }
func (none) score(_ []float32, _ float32, _ bool) {}

// every matches all objects of a space.
type every struct {
	sp    *space
	boost float32
}

func (o *every) match() *roaring.Bitmap { return o.sp.live }

func (o *every) score(acc []float32, factor float32, _ bool) {
	for i := range acc {
		acc[i] += factor * o.boost
	}
}

// constant matches a set of objects and gives each the same score.
type constant struct {
	set   *roaring.Bitmap
	boost float32
}

func (o *constant) match() *roaring.Bitmap { return o.set }

func (o *constant) score(acc []float32, factor float32, _ bool) {
	each(o.set, func(object uint32) { acc[object] += factor * o.boost })
}

// best matches what any op matches and scores the best of them plus tie times
// the others.
type best struct {
	run   *run
	sp    *space
	ops   []op
	tie   float32
	boost float32
	made  *roaring.Bitmap
}

func (o *best) match() *roaring.Bitmap {
	if o.made == nil {
		o.made = union(o.ops)
	}
	return o.made
}

func (o *best) score(acc []float32, factor float32, _ bool) {
	factor *= o.boost
	if len(o.ops) == 1 || o.tie == 1 {
		for _, c := range o.ops {
			c.score(acc, factor, true)
		}
		return
	}
	top, sum, one := o.run.floats(o.sp.n), o.run.floats(o.sp.n), o.run.floats(o.sp.n)
	for _, c := range o.ops {
		c.score(one, 1, false)
		each(c.match(), func(object uint32) {
			top[object] = max(top[object], one[object])
			sum[object] += one[object]
		})
		clear(one)
	}
	each(o.match(), func(object uint32) {
		acc[object] += factor * (top[object] + o.tie*(sum[object]-top[object]))
	})
	o.run.release(top)
	o.run.release(sum)
	o.run.release(one)
}

// each calls f with the objects of a bitmap in order.
func each(b *roaring.Bitmap, f func(object uint32)) {
	var buf [512]uint32
	it := b.ManyIterator()
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		for _, object := range buf[:n] {
			f(object)
		}
	}
}
