package embedded

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxPhrase is how many words a phrase may have: each costs time per position
// of every candidate.
const maxPhrase = 256

// phrase matches objects that hold words in their order, or moved by slop in
// all.
type phrase struct {
	v     *view
	f     *family
	words []word
	slop  int
	boost float32
	made  *roaring.Bitmap
	freqs []float32 // of the objects of made, in their order
}

// word is one place of a phrase: any of the terms.
type word struct {
	terms []string
	ords  []uint32
	at    int // its position in the phrase
}

func (v *view) matchPhrase(q *search.MatchPhrase, sp *space) (op, error) {
	var ops []op
	for _, f := range v.families(sp, q.Field) {
		if f.field.Family != mapping.Text {
			ops = append(ops, v.exactly(f, q.Text, float32(q.Boost)))
			continue
		}
		o, err := v.phraseText(f, q, sp)
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return v.either(sp, ops), nil
}

func (v *view) phraseText(f *family, q *search.MatchPhrase, sp *space) (op, error) {
	analyzer, err := v.analyzer(f, q.Analyzer, q.Path)
	if err != nil {
		return nil, err
	}
	terms, tokens := analyzer.Terms(q.Text.Text)
	o := &phrase{v: v, f: f, slop: q.Slop, boost: float32(q.Boost)}
	for i, t := range tokens {
		if n := len(o.words); n > 0 && o.words[n-1].at == int(t.Pos) {
			o.words[n-1].terms = append(o.words[n-1].terms, terms[i])
			continue
		}
		o.words = append(o.words, word{terms: []string{terms[i]}, at: int(t.Pos)})
	}
	n := len(o.words)
	switch {
	case n == 0 && q.ZeroAll:
		return &every{sp, o.boost}, nil
	case n == 0:
		return wordless{}, nil
	case n > maxPhrase:
		return nil, problem.Field(problem.Invalid, q.Path, "%s: a phrase of more than %d words", q.Name, maxPhrase)
	}
	if q.Prefix {
		o.words[n-1].terms = v.run.startingWith(f.field, o.words[n-1].terms, q.MaxExpansions)
	}
	return o.bind(sp), nil
}

// bind finds the ordinals of the terms. One word needs no positions.
func (o *phrase) bind(sp *space) op {
	var ops []op
	for i := range o.words {
		w := &o.words[i]
		for _, text := range w.terms {
			if ord, ok := o.f.dict.find(text); ok {
				w.ords = append(w.ords, ord)
				p := o.f.at(ord)
				ops = append(ops, &term{v: o.v, f: o.f, p: &p, text: text, boost: o.boost})
			}
		}
		if len(w.ords) == 0 {
			return none{}
		}
	}
	if len(o.words) == 1 {
		return o.v.either(sp, ops)
	}
	return o
}

// startingWith gives the first terms, up to most, that start with one of the
// texts in any segment of the search and that a live object holds.
func (r *run) startingWith(f *mapping.Field, texts []string, most int) []string {
	var all []string
	for fam := range r.alike(f) {
		for _, text := range texts {
			found := 0
			for _, ord := range fam.dict.prefixed(text) {
				if found == most {
					break
				}
				if t := fam.dict.term(ord); r.statsOf(f, t).df > 0 {
					all = append(all, t)
					found++
				}
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(most, len(all))]
}

func (o *phrase) match() *roaring.Bitmap {
	if o.made == nil {
		o.find()
	}
	return o.made
}

// find looks at the objects that hold a term of every word.
func (o *phrase) find() {
	sets := make([]*roaring.Bitmap, len(o.words))
	places := map[uint32][]int{} // words that a term may be
	filter := uint64(0)          // ordinals that are in places, modulo 64
	for i, w := range o.words {
		sets[i] = roaring.New()
		for _, ord := range w.ords {
			o.f.at(ord).into(sets[i])
			places[ord] = append(places[ord], i)
			filter |= 1 << (ord & 63)
		}
	}
	o.made = roaring.New()
	found := make([][]int, len(o.words))
	row := 0
	each(roaring.FastAnd(sets...), func(object uint32) {
		if row++; row&1023 == 0 && o.v.run.ctx.Err() != nil {
			return
		}
		for i := range found {
			found[i] = found[i][:0]
		}
		at, _ := o.f.length.find(object)
		o.f.words.each(at, func(ord uint32, pos int) {
			if filter&(1<<(ord&63)) == 0 {
				return
			}
			for _, i := range places[ord] {
				found[i] = append(found[i], pos-o.words[i].at)
			}
		})
		freq := 0.0
		if o.slop == 0 {
			freq = together(found)
		} else {
			freq = o.near(found)
		}
		if freq > 0 {
			o.made.Add(object)
			o.freqs = append(o.freqs, float32(freq))
		}
	})
}

// together counts the positions that are in all lists.
func together(found [][]int) float64 {
	n := 0.0
	for _, p := range found[0] {
		in := true
		for _, list := range found[1:] {
			if _, in = slices.BinarySearch(list, p); !in {
				break
			}
		}
		if in {
			n++
		}
	}
	return n
}

// near adds up 1/(1+width) over the narrowest windows that hold every word,
// each at a place of its own, and are no wider than slop. found has the
// positions of each word less its position in the phrase.
func (o *phrase) near(found [][]int) float64 {
	var starts []int
	for _, list := range found {
		starts = append(starts, list...)
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	freq, lastEnd := 0.0, math.MaxInt
	taken := make([]int, 0, len(found))
	for _, start := range slices.Backward(starts) {
		end, ok := o.window(found, start, &taken)
		if !ok || end >= lastEnd {
			continue
		}
		lastEnd = end
		if end-start <= o.slop {
			freq += 1 / float64(1+end-start)
		}
	}
	return freq
}

// window gives each word, in turn, the first free place from start on.
func (o *phrase) window(found [][]int, start int, taken *[]int) (end int, ok bool) {
	*taken = (*taken)[:0]
	end = start
	for i, list := range found {
		k, _ := slices.BinarySearch(list, start)
		for k < len(list) && slices.Contains(*taken, list[k]+o.words[i].at) {
			k++
		}
		if k == len(list) {
			return 0, false
		}
		*taken = append(*taken, list[k]+o.words[i].at)
		end = max(end, list[k])
	}
	return end, true
}

func (o *phrase) score(acc []float32, factor float32, _ bool) {
	o.match()
	sum := 0.0
	var s *termStats
	for _, w := range o.words {
		for _, text := range w.terms {
			s = o.v.run.statsOf(o.f.field, text)
			if s.df > 0 {
				sum += idf(float64(s.objects), float64(s.df))
			}
		}
	}
	w := float64(factor*o.boost) * sum * (k1 + 1)
	perToken := k1 * b * float64(s.objects) / math.Max(float64(s.tokens), 1)
	lengths := cursor[uint32]{c: &o.f.length}
	i := 0
	each(o.made, func(object uint32) {
		freq := float64(o.freqs[i])
		i++
		acc[object] += float32(w * freq / (freq + k1*(1-b) + perToken*float64(lengths.seek(object)[0])))
	})
}
