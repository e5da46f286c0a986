package typesense

import (
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/words"
)

// maxTerms is how many different values a clause may look through to find the
// terms that it stands for.
const maxTerms = 10_000

func (v *view) prefix(q *search.Prefix, sp *mapping.Space) (op, error) {
	if q.Field == indexField {
		return v.named(sp, q.Boost, func(name string) bool { return strings.HasPrefix(name, q.Value) }), nil
	}
	p := words.Prefix(q.Value)
	p.Fold = q.CaseInsensitive
	return v.expand(p, q.Field, sp, q.Info(), q.Analysis)
}

func (v *view) wildcard(q *search.Wildcard, sp *mapping.Space) (op, error) {
	p := words.ParsePattern(q.Pattern)
	p.Fold = q.CaseInsensitive
	if q.Field == indexField {
		return v.named(sp, q.Boost, p.Matches), nil
	}
	return v.expand(p, q.Field, sp, q.Info(), q.Analysis)
}

// expand matches the terms of a field that a pattern matches. A plain prefix
// is left to the server.
func (v *view) expand(whole words.Pattern, field string, sp *mapping.Space, q *search.Clause, how search.PartAnalysis) (op, error) {
	whole = whole.Folded()
	var list []cond
	for _, c := range v.columns(sp, field) {
		if c.Field.Family.Numeric() {
			continue
		}
		p := whole.In(c.Field, how)
		literal := ""
		if !p.Fold {
			literal = p.Literal()
		}
		if len(p.Parts) == 1 && p.Parts[0].Star { // any term at all
			list = append(list, &exists{c.Field.Path})
			continue
		}
		if len(p.Parts) == 2 && p.Parts[1].Star && literal != "" {
			t, err := begins(c, literal, q)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
			continue
		}
		terms, err := v.run.terms(v, sp, c, literal, q, p.Matches)
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
