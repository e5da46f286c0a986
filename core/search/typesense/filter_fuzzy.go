package typesense

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/words"
)

func (v *view) fuzzy(q *search.Fuzzy, sp *mapping.Space) (op, error) {
	var ops []op
	for _, c := range v.columns(sp, q.Field) {
		if c.Field.Family.Numeric() {
			ops = append(ops, v.exactly(sp, c, search.String(q.Value), q.Boost))
			continue
		}
		p, err := v.similar(sp, c, q.Value, &q.Fuzziness, q.Boost, q.Info())
		if err != nil {
			return nil, err
		}
		ops = append(ops, p)
	}
	return anyOf(ops), nil
}

// nearby is a term near another, and what it is worth.
type nearby struct {
	text  string
	worth float64
}

// similar matches the terms of a column that are near a word. They are weighed
// as if each was as frequent as the most frequent of them.
func (v *view) similar(sp *mapping.Space, c column, word string, z *search.Fuzziness, boost float64, q *search.Clause) (op, error) {
	list, err := v.run.nearby(sp, c.Field, word, z, q)
	if err != nil {
		return nil, err
	}
	df := func() float64 {
		n := 0.0
		for _, t := range list {
			n = max(n, v.run.frequency(sp, c.Field, t.text))
		}
		return n
	}
	var ops []op
	for _, t := range list {
		ops = append(ops, v.run.newTerm(&termOp{v: v, sp: sp, col: c, text: t.text, boost: boost * t.worth, df: df, c: ofTerms(c, []string{t.text})}))
	}
	return anyOf(ops), nil
}

// nearby finds the terms of all indices, the nearest first.
func (r *run) nearby(sp *mapping.Space, f *mapping.Field, word string, z *search.Fuzziness, q *search.Clause) ([]nearby, error) {
	edits := z.Of(word)
	runes := []rune(word)
	same := string(runes[:min(z.PrefixLength, len(runes))])
	found := map[string]float64{}
	alike := r.alike(sp, f)
	lists := make([][]string, len(alike))
	err := r.each(len(alike), func(i int) (err error) {
		d := words.Distance{To: runes, Most: edits, Swap: !z.NoTranspositions}
		near := func(term string) bool {
			_, ok := d.From(term)
			return ok && strings.HasPrefix(term, same)
		}
		a := alike[i]
		if f.Family == mapping.Text && !f.Listed && edits > 0 {
			lists[i], err = r.typos(a, word, edits, near, q)
		} else if edits == 0 {
			lists[i] = []string{word}
		} else {
			lists[i], err = r.terms(a.v, a.sp, a.col, same, q, near)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d := words.Distance{To: runes, Most: edits, Swap: !z.NoTranspositions}
	for _, list := range lists {
		for _, text := range list {
			n, _ := d.From(text)
			found[text] = 1 - float64(n)/float64(max(min(len(runes), utf8.RuneCountInString(text)), 1))
		}
	}
	var out []nearby
	for text, worth := range found {
		out = append(out, nearby{text, worth})
	}
	slices.SortFunc(out, func(a, b nearby) int { return cmp.Or(cmp.Compare(b.worth, a.worth), strings.Compare(a.text, b.text)) })
	return out[:min(len(out), z.MaxExpansions)], nil
}

// typos gives the terms of a text that are near a word: the server finds the
// documents, and their sources have the terms. Two letters that changed places
// are two edits to the server.
func (r *run) typos(a alike, word string, edits int, near func(string) bool, q *search.Clause) ([]string, error) {
	code := EncodeToken(word)
	if code != word { // of other letters the server would count the symbols
		return r.termsOfTexts(a.v, a.sp, a.col, &exists{a.col.Field.Path}, q, near)
	}
	filter, err := a.v.filter(a.sp, all{})
	if err != nil {
		return nil, err
	}
	docs, err := a.v.fetch(a.sp, entry{Q: word, QueryBy: a.col.Name, FilterBy: filter, NumTypos: min(edits+1, 2), MinLen1Typo: 1, MinLen2Typo: 1,
		TypoTokensThreshold: 1_000_000, MaxCandidates: 10_000, ExhaustiveSearch: true}, q, "fuzzy")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, o := range docs {
		for _, term := range o.tokens(a.col.Field, a.col.Name).terms {
			if !found[term] && near(term) {
				found[term] = true
			}
		}
	}
	return sortedKeys(found), nil
}
