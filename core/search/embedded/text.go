package embedded

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxExpansion is how many fields a pattern of a multi_match may stand for.
const maxExpansion = 2048

func (v *view) matchClause(q *search.Match, sp *space) (op, error) {
	var ops []op
	for _, f := range v.families(sp, q.Field) {
		if f.field.Family != mapping.Text {
			ops = append(ops, v.exactly(f, q.Text, float32(q.Boost)))
			continue
		}
		o, err := v.matchText(f, q, sp)
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return v.either(sp, ops), nil
}

// matchText matches the tokens of a text in one family.
func (v *view) matchText(f *family, q *search.Match, sp *space) (op, error) {
	analyzer := f.field.Search
	if q.Analyzer != "" {
		var err error
		if analyzer, err = v.x.set.Load().Get(q.Analyzer); err != nil {
			return nil, problem.Field(problem.Invalid, q.Path, "%s", problem.From(err).Detail)
		}
	}
	ops := v.words(f, analyzer, q.Text.Text, sp)
	switch {
	case len(ops) == 0 && q.ZeroAll:
		return &every{sp, float32(q.Boost)}, nil
	case len(ops) == 0:
		return none{}, nil
	}
	o := &boolean{run: v.run, sp: sp, boost: float32(q.Boost)}
	switch {
	case q.And || len(ops) == 1: // a minimum counts optional clauses only
		o.must = ops
	default:
		o.should, o.need = ops, 1
		if q.MinShould != nil {
			o.need = max(q.MinShould.Of(len(ops)), 1)
		}
	}
	return o, nil
}

// words gives one op per position of the analyzed text; synonyms at the same
// position are alternatives.
func (v *view) words(f *family, a *analysis.Analyzer, text string, sp *space) []op {
	terms, tokens := a.Terms(text)
	var out []op
	for i := 0; i < len(tokens); {
		var same []op
		pos := tokens[i].Pos
		for ; i < len(tokens) && tokens[i].Pos == pos; i++ {
			if p := f.posting(terms[i]); p != nil {
				same = append(same, &term{v: v, f: f, p: p, text: terms[i], boost: 1})
			}
		}
		out = append(out, v.either(sp, same))
	}
	return out
}

func (v *view) multiMatch(q *search.MultiMatch, sp *space) (op, error) {
	o := &best{run: v.run, sp: sp, tie: float32(q.TieBreaker), boost: float32(q.Boost)}
	if q.MostFields {
		o.tie = 1
	}
	fields, err := v.expandFields(q, sp)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		inner, err := v.matchClause(&search.Match{
			Clause: search.Clause{Name: q.Name, Path: q.Path, Boost: f.Boost},
			Field:  f.Name, Text: q.Text, And: q.And, MinShould: q.MinShould, Analyzer: q.Analyzer, ZeroAll: q.ZeroAll,
		}, sp)
		if err != nil {
			return nil, err
		}
		o.ops = append(o.ops, inner)
	}
	if len(o.ops) == 0 {
		return none{}, nil
	}
	return o, nil
}

// expandFields replaces patterns by the fields of the space that they match.
// Fields whose names start with "_" are only matched by patterns that do.
func (v *view) expandFields(q *search.MultiMatch, sp *space) ([]search.WeightedField, error) {
	fields := q.Fields
	if len(fields) == 0 {
		fields = []search.WeightedField{{Name: "*", Boost: 1}}
	}
	var out []search.WeightedField
	for _, f := range fields {
		if !strings.Contains(f.Name, "*") {
			out = append(out, f)
			continue
		}
		var names []string
		for key := range v.seg.byPath {
			if key.space == sp.of.ID && search.MatchPattern(f.Name, key.path) && (!strings.HasPrefix(key.path, "_") || f.Name[0] == '_') {
				names = append(names, key.path)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			out = append(out, search.WeightedField{Name: name, Boost: f.Boost})
		}
	}
	if len(out) > maxExpansion {
		return nil, problem.Field(problem.Invalid, q.Path, "multi_match: the fields stand for %d fields, more than %d", len(out), maxExpansion)
	}
	return out, nil
}
