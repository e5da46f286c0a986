package embedded

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

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
	analyzer, err := v.analyzer(f, q.Analyzer, q.Path)
	if err != nil {
		return nil, err
	}
	ops := v.words(f, analyzer, q, sp)
	switch {
	case len(ops) == 0 && q.ZeroAll:
		return &every{sp, float32(q.Boost)}, nil
	case len(ops) == 0:
		return wordless{}, nil
	}
	return v.counted(ops, q.And, q.MinShould, float32(q.Boost), sp), nil
}

// analyzer gives the one with the name, or that of searches in the field.
func (v *view) analyzer(f *family, name, path string) (*analysis.Analyzer, error) {
	if name == "" {
		return f.field.Search, nil
	}
	a, err := v.x.set.Load().Get(name)
	if err != nil {
		return nil, problem.Field(problem.Invalid, path, "%s", problem.From(err).Detail)
	}
	return a, nil
}

// words gives one op per position of the analyzed text; synonyms at the same
// position are alternatives.
func (v *view) words(f *family, a *analysis.Analyzer, q *search.Match, sp *space) []op {
	terms, tokens := a.Terms(q.Text.Text)
	var out []op
	for i := 0; i < len(tokens); {
		var same []op
		pos := tokens[i].Pos
		last := q.LastPrefix && pos == tokens[len(tokens)-1].Pos
		for ; i < len(tokens) && tokens[i].Pos == pos; i++ {
			if last {
				same = append(same, f.startsWith(terms[i]))
				continue
			}
			if q.Fuzzy != nil {
				same = append(same, v.similar(f, terms[i], q.Fuzzy, 1, sp))
				continue
			}
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
	fields, err := v.expandFields(q.Fields, q.Path, sp)
	if err != nil {
		return nil, err
	}
	switch q.Type {
	case search.CrossFields:
		return v.crossFields(q, fields, sp)
	case search.MostFields, search.BoolPrefix:
		o.tie = 1
	}
	for _, f := range fields {
		inner, err := v.compile(ofField(q, f), sp)
		if err != nil {
			return nil, err
		}
		if len(v.families(sp, f.Name)) > 0 { // what is not there says nothing of the words
			o.ops = append(o.ops, inner)
		}
	}
	switch {
	case len(o.ops) == 0:
		return none{}, nil
	case !slices.ContainsFunc(o.ops, func(p op) bool { return !isWordless(p) }):
		return wordless{}, nil
	}
	return o, nil
}

// ofField gives the clause that a multi_match stands for in one field.
func ofField(q *search.MultiMatch, f search.WeightedField) search.Query {
	c := search.Clause{Name: q.Name, Path: q.Path, Boost: f.Boost}
	if q.Type == search.Phrase || q.Type == search.PhrasePrefix {
		return &search.MatchPhrase{Clause: c, Field: f.Name, Text: q.Text, Slop: q.Slop, Analyzer: q.Analyzer, ZeroAll: q.ZeroAll,
			Prefix: q.Type == search.PhrasePrefix, MaxExpansions: q.MaxExpansions}
	}
	return &search.Match{Clause: c, Field: f.Name, Text: q.Text, And: q.And, MinShould: q.MinShould,
		Analyzer: q.Analyzer, ZeroAll: q.ZeroAll, LastPrefix: q.Type == search.BoolPrefix, Fuzzy: q.Fuzzy}
}

// startsWith matches the terms with a prefix.
func (f *family) startsWith(prefix string) op {
	out := roaring.New()
	for _, ord := range f.dict.prefixed(prefix) {
		f.at(ord).into(out)
	}
	return &constant{out, 1}
}

// expandFields replaces patterns by the fields of the space that they match.
// Fields whose names start with "_" are only matched by patterns that do.
func (v *view) expandFields(fields []search.WeightedField, path string, sp *space) ([]search.WeightedField, error) {
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
		return nil, problem.Field(problem.Invalid, path, "the fields stand for %d fields, more than %d", len(out), maxExpansion)
	}
	return out, nil
}
