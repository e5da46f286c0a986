package embedded

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
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

// boolean combines ops.
type boolean struct {
	run                           *run
	sp                            *space
	must, should, mustNot, filter []op
	need                          int // of should
	boost                         float32
	made                          *roaring.Bitmap
}

func (o *boolean) match() *roaring.Bitmap {
	if o.made == nil {
		o.made = o.find()
	}
	return o.made
}

func (o *boolean) find() *roaring.Bitmap {
	parts := make([]*roaring.Bitmap, 0, len(o.must)+len(o.filter)+1)
	for _, list := range [][]op{o.must, o.filter} {
		for _, c := range list {
			parts = append(parts, c.match())
		}
	}
	switch {
	case o.need > len(o.should):
		return roaring.New()
	case o.need == 1:
		parts = append(parts, union(o.should))
	case o.need > 1:
		parts = append(parts, o.atLeast())
	case len(parts) == 0:
		parts = append(parts, o.sp.live)
	}
	slices.SortFunc(parts, func(a, b *roaring.Bitmap) int { return int(a.GetCardinality()) - int(b.GetCardinality()) })
	out, own := parts[0], false
	for _, p := range parts[1:] {
		if own {
			out.And(p)
		} else {
			out, own = roaring.And(out, p), true
		}
	}
	for _, c := range o.mustNot {
		if own {
			out.AndNot(c.match())
		} else {
			out, own = roaring.AndNot(out, c.match()), true
		}
	}
	return out
}

func union(list []op) *roaring.Bitmap {
	if len(list) == 1 {
		return list[0].match()
	}
	sets := make([]*roaring.Bitmap, len(list))
	for i, c := range list {
		sets[i] = c.match()
	}
	return roaring.FastOr(sets...)
}

// atLeast gives the objects that match at least need of the should clauses.
func (o *boolean) atLeast() *roaring.Bitmap {
	counts := make([]uint16, o.sp.n)
	for _, c := range o.should {
		each(c.match(), func(object uint32) { counts[object]++ })
	}
	out := roaring.New()
	each(union(o.should), func(object uint32) {
		if int(counts[object]) >= o.need {
			out.Add(object)
		}
	})
	return out
}

func (o *boolean) score(acc []float32, factor float32, exact bool) {
	if len(o.must)+len(o.should) == 0 {
		return
	}
	factor *= o.boost
	loose := len(o.must)+len(o.filter)+len(o.mustNot) > 0 || o.need > 1
	if !exact || !loose {
		o.add(acc, factor)
		return
	}
	// Scores of the parts count only where the whole matches.
	own := o.run.floats(o.sp.n)
	o.add(own, factor)
	each(o.match(), func(object uint32) { acc[object] += own[object] })
	o.run.release(own)
}

func (o *boolean) add(acc []float32, factor float32) {
	for _, c := range o.must {
		c.score(acc, factor, false)
	}
	for _, c := range o.should {
		c.score(acc, factor, true)
	}
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

// within matches objects that hold a nested object which matches.
type within struct {
	run   *run
	sp    *space
	inner []innerOp
	mode  search.ScoreMode
	boost float32
	made  *roaring.Bitmap
}

type innerOp struct {
	sp *space
	op op
}

func (o *within) match() *roaring.Bitmap {
	if o.made == nil {
		o.made = roaring.New()
		for _, in := range o.inner {
			o.made.AddMany(in.sp.lift(o.sp, in.op.match().ToArray()))
		}
	}
	return o.made
}

func (o *within) score(acc []float32, factor float32, _ bool) {
	factor *= o.boost
	if o.mode == search.ScoreNone {
		return
	}
	for _, in := range o.inner {
		scores := o.run.floats(in.sp.n)
		in.op.score(scores, 1, false)
		// All inner objects of an outer one stand side by side.
		current, sum, low, high, n := gone, float32(0), float32(0), float32(0), float32(0)
		flush := func() {
			if n == 0 {
				return
			}
			switch o.mode {
			case search.ScoreSum:
				acc[current] += factor * sum
			case search.ScoreMax:
				acc[current] += factor * high
			case search.ScoreMin:
				acc[current] += factor * low
			default:
				acc[current] += factor * sum / n
			}
		}
		each(in.op.match(), func(object uint32) {
			outer, s := in.sp.outer(o.sp, object), scores[object]
			if outer != current {
				flush()
				current, sum, low, high, n = outer, 0, s, s, 0
			}
			sum, low, high, n = sum+s, min(low, s), max(high, s), n+1
		})
		flush()
		o.run.release(scores)
	}
}

// outer gives the object of the space to that holds the object of sp.
func (sp *space) outer(to *space, object uint32) uint32 {
	for s := sp; s != to; s = s.parent {
		object = s.up[object]
	}
	return object
}

// lift gives the objects of the space to that hold any of the objects of sp,
// which are in order and become the result.
func (sp *space) lift(to *space, objects []uint32) []uint32 {
	for s := sp; s != to; s = s.parent {
		out := objects[:0]
		for _, object := range objects {
			if up := s.up[object]; len(out) == 0 || out[len(out)-1] != up {
				out = append(out, up)
			}
		}
		objects = out
	}
	return objects
}

// lower gives the objects of sp inside the objects of the space from, which
// are in order.
func (sp *space) lower(from *space, objects []uint32) []uint32 {
	if sp == from {
		return objects
	}
	objects = sp.parent.lower(from, objects)
	out := make([]uint32, 0, len(objects))
	for _, object := range objects {
		first, end := sp.down(object)
		for o := first; o < end; o++ {
			out = append(out, o)
		}
	}
	return out
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
