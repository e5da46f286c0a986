package typesense

import (
	"hash/fnv"
	"math"
	"strconv"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
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
func (r *run) blame(path, format string, args ...any) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		r.fault = problem.Field(problem.Invalid, path, format, args...)
	}
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
		if math.IsInf(least, 1) {
			if b.Missing == nil {
				return v.run.blame(path, "a hit has no number in the field %q; give missing", b.Field)
			}
			least = *b.Missing
		}
		s := modified(b.Modifier, least*b.Factor)
		if s < 0 || math.IsNaN(s) || math.IsInf(s, 0) {
			return v.run.blame(path, "the field %q gives a score of %v, which must be a number and not below 0", b.Field, s)
		}
		return s
	}, nil
}

func modified(modifier string, n float64) float64 {
	switch modifier {
	case "log":
		return math.Log10(n)
	case "log1p":
		return math.Log10(n + 1)
	case "log2p":
		return math.Log10(n + 2)
	case "ln":
		return math.Log(n)
	case "ln1p":
		return math.Log1p(n)
	case "ln2p":
		return math.Log1p(n + 1)
	case "square":
		return n * n
	case "sqrt":
		return math.Sqrt(n)
	case "reciprocal":
		return 1 / n
	}
	return n
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
			if s.state == isNumber {
				return strconv.FormatFloat(s.num, 'g', -1, 64)
			}
			return s.text
		}
	}
	return func(o *object) float64 {
		h := fnv.New64a()
		h.Write([]byte(seed))
		h.Write([]byte{0})
		h.Write([]byte(text(o)))
		return float64(mix(h.Sum64())>>40) / (1 << 24)
	}, nil
}

// mix spreads the bits of a hash, of which FNV leaves the high ones alike.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
