package embedded

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// boolean combines ops.
type boolean struct {
	run                           *run
	sp                            *space
	must, should, mustNot, filter []op
	need                          int // of should
	boost                         float32
	made                          *roaring.Bitmap
}

// skipWordless leaves out the ops of texts without a word and gives how many
// others there are.
func (o *boolean) skipWordless() (left int) {
	for _, list := range []*[]op{&o.must, &o.should, &o.mustNot, &o.filter} {
		*list = slices.DeleteFunc(*list, isWordless)
		left += len(*list)
	}
	return left
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
