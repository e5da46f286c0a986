package embedded

import (
	"cmp"
	"math"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/scoring"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// scored changes the scores of another op by functions. A score that is not a
// number stands for an error (see run.fault).
type scored struct {
	run   *run
	sp    *space
	q     *search.FunctionScore
	inner op
	fns   []function
	made  *roaring.Bitmap
}

// function is one function in one space. open gives a reader of its values for
// ascending objects, nil if it is only a weight.
type function struct {
	filter *roaring.Bitmap // nil for all
	weight float64
	open   func() func(object uint32) float64
}

func (v *view) functionScore(q *search.FunctionScore, sp *space) (op, error) {
	o := &scored{run: v.run, sp: sp, q: q}
	var err error
	if o.inner, err = v.compile(q.Query, sp); err != nil {
		return nil, err
	}
	for i := range q.Functions {
		from := &q.Functions[i]
		f := function{weight: from.Weight}
		if from.Filter != nil {
			only, err := v.compile(from.Filter, sp)
			if err != nil {
				return nil, err
			}
			f.filter = only.match()
		}
		switch body := from.Body.(type) {
		case nil:
		case *search.FieldFactor:
			f.open, err = v.fieldFactor(body, sp, from.Path)
		case *search.RandomScore:
			f.open = v.randomScore(body, sp)
		case *search.Decay:
			f.open, err = v.decay(body, sp, from.Path)
		default:
			err = problem.Field(problem.Invalid, from.Path, "this function is not supported by this engine")
		}
		if err != nil {
			return nil, err
		}
		o.fns = append(o.fns, f)
	}
	return o, nil
}

func (o *scored) match() *roaring.Bitmap {
	if o.q.MinScore == nil {
		return o.inner.match()
	}
	if o.made == nil {
		scores := o.run.floats(o.sp.n)
		o.add(scores, o.inner.match(), 1)
		o.made = roaring.New()
		each(o.inner.match(), func(object uint32) {
			if float64(scores[object]) >= *o.q.MinScore {
				o.made.Add(object)
			}
		})
		o.run.release(scores)
	}
	return o.made
}

func (o *scored) score(acc []float32, factor float32, _ bool) { o.add(acc, o.match(), factor) }

func (o *scored) add(acc []float32, objects *roaring.Bitmap, factor float32) {
	own := o.run.floats(o.sp.n)
	o.inner.score(own, float32(o.q.Boost), false)
	values := make([]func(uint32) float64, len(o.fns))
	for i := range o.fns {
		if o.fns[i].open != nil {
			values[i] = o.fns[i].open()
		}
	}
	n, late := 0, false
	each(objects, func(object uint32) {
		if n++; n&4095 == 0 {
			late = late || o.run.ctx.Err() != nil
		}
		if late { // the search ends with the error of its context
			return
		}
		s := float64(own[object])
		if len(o.fns) > 0 {
			s = scoring.Boosted(o.q.BoostMode, s, min(o.value(values, object), o.q.MaxBoost))
		}
		acc[object] += factor * float32(s)
	})
	o.run.release(own)
}

// value combines the functions for an object; 1 if none holds.
func (o *scored) value(values []func(uint32) float64, object uint32) float64 {
	mix := scoring.NewMix(o.q.ScoreMode)
	for i := range o.fns {
		f := &o.fns[i]
		if f.filter != nil && !f.filter.Contains(object) {
			continue
		}
		s := f.weight
		if values[i] != nil {
			s *= values[i](object)
		}
		if !mix.Add(s, f.weight) {
			break
		}
	}
	return mix.Value()
}

// numbers gives the columns of the numbers of a field; points only if asked.
func (v *view) numbers(field string, sp *space, points bool) []*family {
	var out []*family
	for _, f := range v.families(sp, field) {
		if f.field.Family.Numeric() && (points || f.field.Family != mapping.Geo) {
			out = append(out, f)
		}
	}
	return out
}

func (v *view) fieldFactor(b *search.FieldFactor, sp *space, path string) (func() func(uint32) float64, error) {
	list := v.numbers(b.Field, sp, false)
	if strings := len(v.families(sp, b.Field)); len(list) == 0 && strings > 0 {
		return nil, problem.Field(problem.Invalid, path, "the field %q has no numbers", b.Field)
	}
	return func() func(uint32) float64 {
		cursors := make([]cursor[float64], len(list))
		for i, f := range list {
			cursors[i] = cursor[float64]{c: &f.nums}
		}
		return func(object uint32) float64 {
			least := math.Inf(1)
			for i := range cursors {
				for _, n := range cursors[i].seek(object) {
					least = min(least, n)
				}
			}
			s, err := scoring.Factor(b, path, least)
			if err != nil {
				v.run.fault = cmp.Or(v.run.fault, err)
				return math.NaN()
			}
			return s
		}
	}, nil
}

// randomScore hashes what a document is known by, so that it stays the same
// whatever is written meanwhile.
func (v *view) randomScore(b *search.RandomScore, sp *space) func() func(uint32) float64 {
	seed := b.Seed
	if seed == "" {
		seed = strconv.FormatInt(v.run.now.UnixNano(), 36)
	}
	start := hashed(fnvOffset, seed)
	return func() func(uint32) float64 {
		if b.Field != "" && b.Field != mapping.IDField {
			read := v.firstText(b.Field, sp)
			return func(object uint32) float64 { return scoring.Fraction(hashed(start, read(object))) }
		}
		root := v.seg.root()
		var names []*family
		for _, path := range []string{mapping.TypeField, mapping.IDField} {
			names = append(names, v.families(root, path)...)
		}
		cursors := make([]cursor[uint32], len(names))
		for i, f := range names {
			cursors[i] = cursor[uint32]{c: &f.ords}
		}
		return func(object uint32) float64 {
			doc, h := sp.outer(root, object), start
			for i, f := range names {
				for _, ord := range cursors[i].seek(doc) {
					h = hashed(h, f.dict.term(ord))
				}
			}
			return scoring.Fraction(h + uint64(sp.offset(object)))
		}
	}
}

// fnvOffset and fnvPrime are those of FNV-1a in 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hashed goes on with a hash over a text and its end.
func hashed(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h * fnvPrime
}

// firstText reads the least value of a field as text, for ascending objects.
func (v *view) firstText(field string, sp *space) func(object uint32) string {
	key := &search.SortKey{Field: field}
	read := v.values(key, sp, []*space{sp}, nil)
	return func(object uint32) string {
		s := read(object)
		if s.State == sorting.IsNumber {
			return strconv.FormatFloat(s.Num, 'g', -1, 64)
		}
		return s.Text
	}
}
