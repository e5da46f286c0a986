package typesense

import (
	"cmp"
	"hash/fnv"
	"math"
	"strconv"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/scoring"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// numbersOf gives the columns of the numbers of a field; points only if asked.
func (v *view) numbersOf(field string, sp *mapping.Space, points bool) (out []column, others bool) {
	for _, c := range v.columns(sp, field) {
		if c.Field.Family.Numeric() && (points || c.Field.Family != mapping.Geo) {
			out = append(out, c)
		} else {
			others = true
		}
	}
	return out, others
}

// blame notes the first error of a score, which is one of the request.
func (r *run) blame(err error) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = cmp.Or(r.fault, err)
	return math.NaN()
}

func (v *view) fieldFactor(b *search.FieldFactor, sp *mapping.Space, path string) (func(*object) float64, error) {
	list, others := v.numbersOf(b.Field, sp, false)
	if len(list) == 0 && others {
		return nil, problem.Field(problem.Invalid, path, "the field %q has no numbers", b.Field)
	}
	return func(o *object) float64 {
		least := math.Inf(1)
		for _, c := range list {
			for _, w := range o.values(c.Name) {
				least = math.Min(least, w.num)
			}
		}
		s, err := scoring.Factor(b, path, least)
		if err != nil {
			return v.run.blame(err)
		}
		return s
	}, nil
}

// randomScore hashes what a document is known by, so that it stays the same
// whatever is written meanwhile.
func (v *view) randomScore(b *search.RandomScore, sp *mapping.Space) (func(*object) float64, error) {
	seed := b.Seed
	if seed == "" {
		seed = strconv.FormatInt(v.run.now.UnixNano(), 36)
	}
	text := func(o *object) string { return o.doc.key.Type + ":" + o.doc.key.OUUID + ":" + strconv.Itoa(o.offset()) }
	if b.Field != "" && b.Field != mapping.IDField {
		read, err := v.sortReader(&search.SortKey{Field: b.Field}, sp)
		if err != nil {
			return nil, err
		}
		text = func(o *object) string {
			s := read(&candidate{doc: o.doc, at: o})
			if s.State == sorting.IsNumber {
				return strconv.FormatFloat(s.Num, 'g', -1, 64)
			}
			return s.Text
		}
	}
	return func(o *object) float64 {
		h := fnv.New64a()
		h.Write([]byte(seed))
		h.Write([]byte{0})
		h.Write([]byte(text(o)))
		return scoring.Fraction(h.Sum64())
	}, nil
}
