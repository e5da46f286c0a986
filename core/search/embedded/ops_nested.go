package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
)

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
