package dsl

import (
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/lucene"
)

// stringQuery is a query_string or simple_query_string on its way to clauses.
type stringQuery struct {
	p      *parser
	o      *object
	name   string
	text   search.MultiMatch // what words become, without their text
	quoted string            // analyzer of phrases
	slop   int
	fuzzy  search.Fuzziness
	parts  search.PartAnalysis
	zone   string
	weak   bool // errors of single fields do not count
	lead   bool // wildcards may stand first
}

func (p *parser) queryString(name string, o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	text, err := o.must("query", name)
	if err != nil {
		return nil, err
	}
	s := &stringQuery{p: p, o: o, name: name}
	if err := s.common(); err != nil {
		return nil, err
	}
	var tree *lucene.Node
	if name == "query_string" {
		if err := s.full(); err != nil {
			return nil, err
		}
		if tree, err = lucene.Parse(text, s.text.And); err != nil {
			return nil, o.get("query").bad("query_string: %s", err)
		}
	} else {
		s.text.Type = search.MostFields
		if flags, err := o.text("flags", "ALL"); err != nil || flags != "ALL" {
			return nil, o.get("flags").bad("simple_query_string supports only the flags ALL")
		}
		tree = lucene.ParseSimple(text, s.text.And)
	}
	if tree == nil {
		return &search.MatchNone{Clause: c}, nil
	}
	q, err := s.compile(tree, true)
	if err != nil {
		return nil, err
	}
	return &search.Bool{Clause: c, Must: []search.Query{q}}, nil
}

// common reads the parameters that both kinds have.
func (s *stringQuery) common() (err error) {
	o := s.o
	if n := o.get("fields"); n != nil {
		if s.text.Fields, err = weighted(n); err != nil {
			return err
		}
	}
	op, err := o.text("default_operator", "or")
	if err != nil {
		return err
	}
	if s.text.And = strings.EqualFold(op, "and"); !s.text.And && !strings.EqualFold(op, "or") {
		return o.get("default_operator").bad("default_operator must be and or or")
	}
	if s.text.Analyzer, err = o.text("analyzer", ""); err != nil {
		return err
	}
	if s.text.MinShould, err = minimum(o); err != nil {
		return err
	}
	if s.weak, err = o.flag("lenient"); err != nil {
		return err
	}
	s.parts = search.PartNormalized
	if all, err := o.flag("analyze_wildcard"); err != nil {
		return err
	} else if all {
		s.parts = search.PartAnalyzed
	}
	s.lead = true
	s.fuzzy = search.Fuzziness{Edits: -1, Low: 3, High: 6, MaxExpansions: 50}
	if s.fuzzy.PrefixLength, err = o.whole("fuzzy_prefix_length", 0, 0, maxName); err != nil {
		return err
	}
	if s.fuzzy.MaxExpansions, err = o.whole("fuzzy_max_expansions", 50, 1, maxExpansions); err != nil {
		return err
	}
	if o.get("fuzzy_transpositions") != nil {
		swap, err := o.flag("fuzzy_transpositions")
		if err != nil {
			return err
		}
		s.fuzzy.NoTranspositions = !swap
	}
	o.get("auto_generate_synonyms_phrase_query") // phrases do not arise of themselves
	s.text.MaxExpansions = 50
	s.quoted = s.text.Analyzer
	return nil
}

// full reads the parameters that only query_string has.
func (s *stringQuery) full() (err error) {
	o := s.o
	if name, err := o.text("default_field", ""); err != nil {
		return err
	} else if name != "" {
		if len(s.text.Fields) > 0 {
			return o.get("default_field").bad("query_string takes fields or default_field, not both")
		}
		if s.text.Fields, err = weighted(o.get("default_field")); err != nil {
			return err
		}
	}
	kind, err := o.text("type", "best_fields")
	if err != nil {
		return err
	}
	if s.text.Type = search.MultiType(kind); s.text.Type != search.BestFields && s.text.Type != search.MostFields {
		return o.get("type").bad("query_string does not support the type %q", kind)
	}
	if s.text.TieBreaker, err = o.float("tie_breaker", 0); err != nil {
		return err
	}
	if s.slop, err = o.whole("phrase_slop", 0, 0, maxSlop); err != nil {
		return err
	}
	if s.quoted, err = o.text("quote_analyzer", s.text.Analyzer); err != nil {
		return err
	}
	if text, err := o.text("fuzziness", ""); err != nil {
		return err
	} else if text != "" {
		f, err := search.ParseFuzziness(text)
		if err != nil {
			return o.get("fuzziness").bad("%s", err)
		}
		s.fuzzy.Edits, s.fuzzy.Low, s.fuzzy.High = f.Edits, f.Low, f.High
	}
	if o.get("allow_leading_wildcard") != nil {
		if s.lead, err = o.flag("allow_leading_wildcard"); err != nil {
			return err
		}
	}
	if s.zone, err = o.text("time_zone", ""); err != nil {
		return err
	}
	if s.zone != "" {
		if _, err := dates.ParseZone(s.zone); err != nil {
			return o.get("time_zone").bad("%s", err)
		}
	}
	o.get("rewrite", "max_determinized_states")
	return nil
}

func (s *stringQuery) bad(format string, args ...any) error {
	return s.o.get("query").bad(s.name+": "+format, args...)
}

// compile gives the clause for a part of the query.
func (s *stringQuery) compile(n *lucene.Node, top bool) (search.Query, error) {
	if s.p.clauses++; s.p.clauses > maxClauses {
		return nil, s.bad("more than %d clauses", maxClauses)
	}
	c := search.Clause{Name: s.name, Path: s.o.path(), Boost: n.Boost}
	fields := s.text.Fields
	if n.Field != "" {
		if len(n.Field) > maxName {
			return nil, s.bad("a field name is longer than %d bytes", maxName)
		}
		fields = []search.WeightedField{{Name: n.Field, Boost: 1}}
	}
	switch n.Kind {
	case lucene.Group:
		return s.group(n, c, top)
	case lucene.Every:
		return &search.MatchAll{Clause: c}, nil
	case lucene.Words, lucene.Phrase, lucene.Fuzzy:
		return s.words(n, c, fields, top), nil
	case lucene.Exists:
		if len(fields) == 0 {
			return &search.MatchAll{Clause: c}, nil
		}
	}
	leaf, err := s.leaf(n)
	if err != nil {
		return nil, err
	}
	lenient := s.weak || len(fields) != 1 || strings.Contains(fields[0].Name, "*")
	return &search.Each{Clause: c, Fields: fields, Query: leaf, TieBreaker: s.text.TieBreaker, Lenient: lenient}, nil
}

func (s *stringQuery) group(n *lucene.Node, c search.Clause, top bool) (search.Query, error) {
	q := &search.Bool{Clause: c, SkipWordless: true}
	for _, part := range n.Clauses {
		inner, err := s.compile(part.Node, top && len(n.Clauses) == 1)
		if err != nil {
			return nil, err
		}
		switch part.Occur {
		case lucene.Must:
			q.Must = append(q.Must, inner)
		case lucene.MustNot:
			q.MustNot = append(q.MustNot, inner)
		default:
			q.Should = append(q.Should, inner)
		}
	}
	if len(n.Clauses) == 0 {
		return &search.MatchNone{Clause: c}, nil
	}
	if top && len(q.Should) > 1 {
		q.MinShould = s.text.MinShould
	}
	return q, nil
}

func (s *stringQuery) words(n *lucene.Node, c search.Clause, fields []search.WeightedField, top bool) search.Query {
	q := s.text
	q.Clause, q.Fields, q.Text = c, fields, search.String(n.Text)
	if !top {
		q.MinShould = nil
	}
	switch n.Kind {
	case lucene.Phrase:
		q.Type, q.Slop, q.Analyzer = search.Phrase, s.slop, s.quoted
		if n.Slop >= 0 {
			q.Slop = n.Slop
		}
	case lucene.Fuzzy:
		f := s.fuzzy
		if n.Edits >= 0 {
			f.Edits = n.Edits
		}
		q.Fuzzy = &f
	}
	return &q
}

// leaf gives the clause for one field, which is not set.
func (s *stringQuery) leaf(n *lucene.Node) (search.Query, error) {
	c := search.Clause{Name: s.name, Path: s.o.path(), Boost: 1}
	switch n.Kind {
	case lucene.Exists:
		return &search.Exists{Clause: c}, nil
	case lucene.Prefix:
		return &search.Prefix{Clause: c, Value: n.Text, Analysis: s.parts}, nil
	case lucene.Wildcard:
		if len(n.Text) > maxName || strings.Count(n.Text, "*") > 32 {
			return nil, s.bad("a pattern may have %d bytes and 32 stars", maxName)
		}
		if !s.lead && (n.Text[0] == '*' || n.Text[0] == '?') {
			return nil, s.bad("%q starts with a wildcard", n.Text)
		}
		return &search.Wildcard{Clause: c, Pattern: n.Text, Analysis: s.parts}, nil
	case lucene.Regexp:
		if _, err := lucene.RE2(n.Text); err != nil {
			return nil, s.bad("%s", err)
		}
		return &search.Regexp{Clause: c, Pattern: n.Text}, nil
	}
	q := &search.Range{Clause: c, TimeZone: s.zone}
	if n.Low != nil {
		v := search.String(*n.Low)
		if n.OpenLow {
			q.GT = &v
		} else {
			q.GTE = &v
		}
	}
	if n.High != nil {
		v := search.String(*n.High)
		if n.OpenHigh {
			q.LT = &v
		} else {
			q.LTE = &v
		}
	}
	return q, nil
}
