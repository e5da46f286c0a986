package embedded

import (
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/words"
)

// leaf says how a clause without clauses inside finds its matches.
func (x *explainer) leaf(q search.Query, at []spot, s *search.Step) {
	terms := map[string]bool{}
	switch q := q.(type) {
	case *search.MatchAll:
		s.Does = "matches everything"
	case *search.MatchNone:
		s.Does = "matches nothing"
	case *search.IDs:
		s.Does = "looks the ids up"
	case *search.Exists:
		s.Does = "joins the sets of documents that have a value in the field or below it"
	case *search.Term:
		x.lookup(q.Field, at, s)
	case *search.Terms:
		x.lookup(q.Field, at, s)
	case *search.Range:
		x.lookup(q.Field, at, s)
		s.Does = strings.Replace(s.Does, "looks the value up in the dictionary", "reads the dictionary in its order between the bounds", 1)
	case *search.Match:
		x.analyzed(q.Field, q.Analyzer, q.Text.Text, q.Path, at, s)
		if q.Fuzzy != nil {
			s.Does += ", and words near to them"
		}
		if q.LastPrefix {
			s.Does += ", the last one as the beginning of words"
		}
	case *search.MatchPhrase:
		x.analyzed(q.Field, q.Analyzer, q.Text.Text, q.Path, at, s)
		s.Does += ", then compares their positions"
	case *search.MultiMatch:
		for _, f := range x.expanded(q.Fields, q.Path, at) {
			x.analyzed(f.Name, q.Analyzer, q.Text.Text, q.Path, at, s)
		}
		s.Does = "looks for each word in any of the fields that are analyzed alike, as if they were one"
	case *search.Prefix:
		p := words.Prefix(q.Value)
		p.Fold = q.CaseInsensitive
		x.pattern(q.Field, p, q.Analysis, at, s)
	case *search.Wildcard:
		p := words.ParsePattern(q.Pattern)
		p.Fold = q.CaseInsensitive
		x.pattern(q.Field, p, q.Analysis, at, s)
	case *search.Regexp:
		x.lookup(q.Field, at, s)
		s.Does = "tries the expression on the terms of the dictionary that begin as it does"
	case *search.Fuzzy:
		var found []*family
		found, s.Fields = x.families(q.Field, at)
		for _, f := range found {
			if f.field.Family.Numeric() {
				continue
			}
			for _, n := range x.run.nearby(f, q.Value, &q.Fuzziness) {
				terms[n.text] = true
			}
		}
		noteTerms(s, terms)
		s.Does = "measures how far the terms of the dictionary are from the word and takes the nearest"
	case *search.GeoDistance, *search.GeoBox:
		s.Does = "compares every point of the field"
	default:
		s.Does = "is evaluated"
	}
}

// lookup says how a value is found in a field.
func (x *explainer) lookup(field string, at []spot, s *search.Step) {
	if field == indexField {
		s.Does = "compares the name of the index and its aliases"
		return
	}
	found, names := x.families(field, at)
	s.Fields = names
	columns, dictionaries := false, false
	for _, f := range found {
		if f.field.Family.Numeric() {
			columns = true
		} else {
			dictionaries = true
		}
	}
	switch {
	case columns && dictionaries:
		s.Does = "looks the value up in the dictionary of the words, and compares the numbers of the column"
	case columns:
		s.Does = "compares the numbers of the column"
	case dictionaries:
		s.Does = "looks the value up in the dictionary and takes the list of its documents"
	default:
		s.Does = "finds no field " + field + ": matches nothing"
	}
}

// analyzed says which words are looked for in a field.
func (x *explainer) analyzed(field, analyzer, text, path string, at []spot, s *search.Step) {
	terms := map[string]bool{}
	for _, t := range s.Terms {
		terms[t] = true
	}
	words := false
	for _, p := range at {
		for _, f := range p.v.families(p.sp, field) {
			if f.field.Family != mapping.Text {
				continue
			}
			words = true
			if a, err := p.v.analyzer(f, analyzer, path); err == nil {
				found, _ := a.Terms(text)
				for _, t := range found {
					terms[t] = true
				}
			}
		}
	}
	before := s.Fields
	x.lookup(field, at, s)
	s.Fields = append(before, s.Fields...)
	if words {
		noteTerms(s, terms)
		if s.Does = "looks the words up that the analyzer makes of the text"; len(terms) == 0 {
			s.Does = "finds no word in the text"
		}
	}
}

// pattern says which terms of the dictionary a pattern stands for.
func (x *explainer) pattern(field string, whole words.Pattern, how search.PartAnalysis, at []spot, s *search.Step) {
	x.lookup(field, at, s)
	if len(s.Fields) == 0 {
		return
	}
	whole = whole.Folded()
	terms := map[string]bool{}
	found, _ := x.families(field, at)
	literal := ""
	for _, f := range found {
		if f.field.Family.Numeric() {
			continue
		}
		p := whole.In(f.field, how)
		if literal = ""; !p.Fold {
			literal = p.Literal()
		}
		for _, ord := range f.dict.prefixed(literal) {
			if t := f.dict.term(ord); p.Matches(t) {
				terms[t] = true
			}
		}
	}
	noteTerms(s, terms)
	s.Does = "reads the whole dictionary and takes the terms that fit"
	if literal != "" {
		s.Does = "reads the part of the dictionary that begins with " + literal + " and takes the terms that fit"
	}
}
