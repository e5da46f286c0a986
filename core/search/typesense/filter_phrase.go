package typesense

import (
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxPhrase is how many words a phrase may have.
const maxPhrase = 256

// phraseOp matches objects that hold words in their order, or moved by slop in
// all. The server finds those that hold all of the words, and the sources say
// whether they stand as they should.
type phraseOp struct {
	v     *view
	sp    *mapping.Space
	col   column
	words []phraseWord
	slop  int
	boost float64
	c     cond
}

// phraseWord is one place of a phrase: any of the terms.
type phraseWord struct {
	terms []string
	at    int // its position in the phrase
}

func (p *phraseOp) cond() cond { return p.c }

func (v *view) matchPhrase(q *search.MatchPhrase, sp *mapping.Space) (op, error) {
	var ops []op
	for _, c := range v.columns(sp, q.Field) {
		if c.Field.Family != mapping.Text {
			ops = append(ops, v.exactly(sp, c, q.Text, q.Boost))
			continue
		}
		p, err := v.phraseText(sp, c, q)
		if err != nil {
			return nil, err
		}
		ops = append(ops, p)
	}
	return anyOf(ops), nil
}

func (v *view) phraseText(sp *mapping.Space, c column, q *search.MatchPhrase) (op, error) {
	a, err := v.analyzer(c, q.Analyzer, q.Path)
	if err != nil {
		return nil, err
	}
	terms, tokens := a.Terms(q.Text.Text)
	p := &phraseOp{v: v, sp: sp, col: c, slop: q.Slop, boost: q.Boost}
	for i, t := range tokens {
		if n := len(p.words); n > 0 && p.words[n-1].at == int(t.Pos) {
			p.words[n-1].terms = append(p.words[n-1].terms, terms[i])
			continue
		}
		p.words = append(p.words, phraseWord{terms: []string{terms[i]}, at: int(t.Pos)})
	}
	n := len(p.words)
	switch {
	case n == 0 && q.ZeroAll:
		return &constantOp{all{}, q.Boost}, nil
	case n == 0:
		return wordless, nil
	case n > maxPhrase:
		return nil, refuse(q.Info(), "a phrase of more than %d words", maxPhrase)
	}
	if q.Prefix {
		last := &p.words[n-1]
		if last.terms, err = v.run.startingWith(sp, c.Field, last.terms, q.MaxExpansions, q.Info()); err != nil {
			return nil, err
		}
	}
	return p.bind(), nil
}

// bind makes the condition. One word needs no look at the sources.
func (p *phraseOp) bind() op {
	var list []cond
	var ops []op
	for _, w := range p.words {
		if len(w.terms) == 0 {
			return none()
		}
		list = append(list, ofTerms(p.col, w.terms))
		for _, text := range w.terms {
			ops = append(ops, p.v.run.newTerm(&termOp{v: p.v, sp: p.sp, col: p.col, text: text, boost: p.boost, c: ofTerms(p.col, []string{text})}))
		}
	}
	if len(p.words) == 1 {
		return anyOf(ops)
	}
	p.c = &verified{p.sp, both(list...), func(o *object) bool { return p.frequency(o) > 0 }, "phrase"}
	return p
}

// startingWith gives the first terms, up to most, that start with one of the
// texts in any index of the search.
func (r *run) startingWith(sp *mapping.Space, f *mapping.Field, texts []string, most int, q *search.Clause) ([]string, error) {
	found := map[string]bool{}
	for _, a := range r.alike(sp, f) {
		for _, text := range texts {
			list, err := r.terms(a.v, a.sp, a.col, text, q, func(term string) bool { return len(term) >= len(text) && term[:len(text)] == text })
			if err != nil {
				return nil, err
			}
			for _, t := range list[:min(len(list), most)] {
				found[t] = true
			}
		}
	}
	out := sortedKeys(found)
	return out[:min(len(out), most)], nil
}

// frequency is how often the phrase occurs, less for each step that its words
// are moved.
func (p *phraseOp) frequency(o *object) float64 {
	t := o.tokens(p.col.Field, p.col.Name)
	found := make([][]int, len(p.words))
	for i, w := range p.words {
		for k, term := range t.terms {
			if slices.Contains(w.terms, term) {
				found[i] = append(found[i], t.places[k]-w.at)
			}
		}
		if len(found[i]) == 0 {
			return 0
		}
		slices.Sort(found[i])
		found[i] = slices.Compact(found[i])
	}
	if p.slop == 0 {
		return together(found)
	}
	return p.near(found)
}

// together counts the positions that are in all lists.
func together(found [][]int) float64 {
	n := 0.0
	for _, at := range found[0] {
		in := true
		for _, list := range found[1:] {
			if _, in = slices.BinarySearch(list, at); !in {
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
// each at a place of its own, and are no wider than slop.
func (p *phraseOp) near(found [][]int) float64 {
	starts := slices.Concat(found...)
	slices.Sort(starts)
	freq, lastEnd := 0.0, math.MaxInt
	for _, start := range slices.Backward(slices.Compact(starts)) {
		end, ok := p.window(found, start)
		if !ok || end >= lastEnd {
			continue
		}
		lastEnd = end
		if end-start <= p.slop {
			freq += 1 / float64(1+end-start)
		}
	}
	return freq
}

// window gives each word, in turn, the first free place from start on.
func (p *phraseOp) window(found [][]int, start int) (end int, ok bool) {
	var taken []int
	end = start
	for i, list := range found {
		k, _ := slices.BinarySearch(list, start)
		for k < len(list) && slices.Contains(taken, list[k]+p.words[i].at) {
			k++
		}
		if k == len(list) {
			return 0, false
		}
		taken = append(taken, list[k]+p.words[i].at)
		end = max(end, list[k])
	}
	return end, true
}

func (p *phraseOp) score(o *object) float64 {
	s := p.v.run.statsOf(p.sp, p.col.Field)
	sum := 0.0
	for _, w := range p.words {
		for _, text := range w.terms {
			if df := p.v.run.frequency(p.sp, p.col.Field, text); df > 0 {
				sum += idf(s.objects, df)
			}
		}
	}
	freq := p.frequency(o)
	return p.boost * sum * (k1 + 1) * freq / (freq + s.norm(o.tokens(p.col.Field, p.col.Name).length))
}
