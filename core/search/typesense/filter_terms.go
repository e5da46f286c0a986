package typesense

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxTerms is how many different values a clause may look through to find the
// terms that it stands for.
const maxTerms = 10_000

func (v *view) prefix(q *search.Prefix, sp *mapping.Space) (op, error) {
	if q.Field == indexField {
		return v.named(sp, q.Boost, func(name string) bool { return strings.HasPrefix(name, q.Value) }), nil
	}
	p := pattern{parts: []piece{{text: q.Value}, {star: true}}, fold: q.CaseInsensitive}
	return v.expand(p, q.Field, sp, q.Info(), q.Analysis)
}

func (v *view) wildcard(q *search.Wildcard, sp *mapping.Space) (op, error) {
	p := parsePattern(q.Pattern)
	p.fold = q.CaseInsensitive
	if q.Field == indexField {
		return v.named(sp, q.Boost, p.matches), nil
	}
	return v.expand(p, q.Field, sp, q.Info(), q.Analysis)
}

// expand matches the terms of a field that a pattern matches. A plain prefix
// is left to the server.
func (v *view) expand(whole pattern, field string, sp *mapping.Space, q *search.Clause, how search.PartAnalysis) (op, error) {
	whole = whole.folded()
	var list []cond
	for _, c := range v.columns(sp, field) {
		if c.Field.Family.Numeric() {
			continue
		}
		p := whole.inField(c.Field, how)
		literal := ""
		if !p.fold {
			literal = p.literal()
		}
		if len(p.parts) == 1 && p.parts[0].star { // any term at all
			list = append(list, &exists{c.Field.Path})
			continue
		}
		if len(p.parts) == 2 && p.parts[1].star && literal != "" {
			t, err := begins(c, literal, q)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
			continue
		}
		terms, err := v.run.terms(v, sp, c, literal, q, p.matches)
		if err != nil {
			return nil, err
		}
		list = append(list, ofTerms(c, terms))
	}
	return &constantOp{either(list...), q.Boost}, nil
}

func (v *view) regexp(q *search.Regexp, sp *mapping.Space) (op, error) {
	text, err := lucene.RE2(q.Pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	flags := "s"
	if q.CaseInsensitive {
		flags = "si"
	}
	text = "(?" + flags + ":" + text + ")"
	free, err := regexp.Compile(text)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	whole, err := regexp.Compile(`\A` + text + `\z`)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	if q.Field == indexField {
		return v.named(sp, q.Boost, whole.MatchString), nil
	}
	literal, _ := free.LiteralPrefix()
	var list []cond
	for _, c := range v.columns(sp, q.Field) {
		if c.Field.Family.Numeric() {
			continue
		}
		terms, err := v.run.terms(v, sp, c, literal, q.Info(), whole.MatchString)
		if err != nil {
			return nil, err
		}
		list = append(list, ofTerms(c, terms))
	}
	return &constantOp{either(list...), q.Boost}, nil
}

// terms gives the terms of a column that start with a literal and that holds
// accepts. Those of keywords are the values of a facet; those of a text are in
// the sources of the documents.
func (r *run) terms(v *view, sp *mapping.Space, c column, literal string, q *search.Clause, holds func(term string) bool) ([]string, error) {
	where, err := begins(c, literal, q)
	if err != nil {
		where = &exists{c.Field.Path} // the literal is too long for the server
	}
	list := c.Name
	if c.Field.Family == mapping.Text {
		if !c.Field.Listed {
			return r.termsOfTexts(v, sp, c, where, q, holds)
		}
		list = listColumnOf(c.Field)
	}
	filter, err := v.filter(sp, where)
	if err != nil {
		return nil, err
	}
	answer, err := r.one(entry{Collection: v.gen.collection(sp.Path), FilterBy: filter, FacetBy: list, MaxFacetValues: maxTerms + 1})
	if err != nil {
		return nil, err
	}
	counts := facetCounts(answer)
	if len(counts) > maxTerms {
		return nil, refuse(q, "to look through more than %d values of %q", maxTerms, c.Field.Path)
	}
	var out []string
	for _, n := range counts {
		if term, ok := DecodeKeyword(n.Value); ok && strings.HasPrefix(term, literal) && holds(term) {
			out = append(out, term)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (r *run) termsOfTexts(v *view, sp *mapping.Space, c column, where cond, q *search.Clause, holds func(term string) bool) ([]string, error) {
	docs, err := v.objects(sp, where, q, "the terms of a text")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, o := range docs {
		for _, term := range o.tokens(c.Field, c.Name).terms {
			if !found[term] && holds(term) {
				found[term] = true
			}
		}
	}
	return sortedKeys(found), nil
}

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
		d := distance{to: runes, most: edits, swap: !z.NoTranspositions}
		near := func(term string) bool {
			_, ok := d.from(term)
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
	d := distance{to: runes, most: edits, swap: !z.NoTranspositions}
	for _, list := range lists {
		for _, text := range list {
			n, _ := d.from(text)
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

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// facetCounts gives the counts of the one facet of an answer.
func facetCounts(r rawResult) []rawCount {
	if len(r.FacetCounts) == 0 {
		return nil
	}
	return r.FacetCounts[0].Counts
}
