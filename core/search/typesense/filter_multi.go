package typesense

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (v *view) multiMatch(q *search.MultiMatch, sp *mapping.Space) (op, error) {
	fields, err := v.expandFields(q.Fields, q.Path, sp)
	if err != nil {
		return nil, err
	}
	tie := q.TieBreaker
	switch q.Type {
	case search.CrossFields:
		return v.crossFields(q, fields, sp)
	case search.MostFields, search.BoolPrefix:
		tie = 1
	}
	list := make([]search.Query, len(fields))
	for i, f := range fields {
		list[i] = q.In(f)
	}
	ops, err := v.compileAll(list, sp)
	if err != nil {
		return nil, err
	}
	for i, f := range slices.Backward(fields) {
		if len(v.columns(sp, f.Name)) == 0 { // what is not there says nothing of the words
			ops = slices.Delete(ops, i, i+1)
		}
	}
	if len(ops) > 0 && !slices.ContainsFunc(ops, hasWords) {
		return wordless, nil
	}
	return best(ops, tie, q.Boost), nil
}

// expandFields replaces patterns by the fields of the space that they match.
// Fields whose names start with "_" are only matched by patterns that do.
func (v *view) expandFields(fields []search.WeightedField, path string, sp *mapping.Space) ([]search.WeightedField, error) {
	if len(fields) == 0 {
		fields = []search.WeightedField{{Name: "*", Boost: 1}}
	}
	var out []search.WeightedField
	for _, f := range fields {
		if !strings.Contains(f.Name, "*") {
			out = append(out, f)
			continue
		}
		for _, name := range v.gen.paths(sp.Path) {
			if search.MatchPattern(f.Name, name) && (!strings.HasPrefix(name, "_") || f.Name[0] == '_') && v.placed(sp, name) {
				out = append(out, search.WeightedField{Name: name, Boost: f.Boost})
			}
		}
	}
	if len(out) > maxExpansion {
		return nil, problem.Field(problem.Invalid, path, "the fields stand for %d fields, more than %d", len(out), maxExpansion)
	}
	return out, nil
}

// eachField is the best of one clause on several fields.
func (v *view) eachField(q *search.Each, sp *mapping.Space) (op, error) {
	fields, err := v.expandFields(q.Fields, q.Path, sp)
	if err != nil {
		return nil, err
	}
	found := make([]op, len(fields))
	err = v.run.each(len(fields), func(i int) (err error) {
		found[i], err = v.compile(q.In(fields[i]), sp)
		if q.Lenient && problem.Is(err, problem.Invalid) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(p op) bool { return p == nil })
	return best(found, q.TieBreaker, q.Boost), nil
}

// crossFields looks for each word in any of the fields that share an analyzer,
// as if they were one field. Fields that are not text take the whole value.
func (v *view) crossFields(q *search.MultiMatch, fields []search.WeightedField, sp *mapping.Space) (op, error) {
	var ops []op
	var order []*analysis.Analyzer
	groups := map[*analysis.Analyzer][]member{}
	for _, wf := range fields {
		for _, c := range v.columns(sp, wf.Name) {
			if c.Field.Family != mapping.Text {
				ops = append(ops, v.exactly(sp, c, q.Text, wf.Boost))
				continue
			}
			a, err := v.analyzer(c, q.Analyzer, q.Path)
			if err != nil {
				return nil, err
			}
			if groups[a] == nil {
				order = append(order, a)
			}
			groups[a] = append(groups[a], member{c, wf.Boost})
		}
	}
	for _, a := range order {
		words := v.blended(groups[a], a, q, sp)
		switch {
		case len(words) > 0:
			ops = append(ops, counted(words, q.And, q.MinShould, 1))
		case q.ZeroAll:
			ops = append(ops, &constantOp{all{}, 1})
		}
	}
	return best(ops, q.TieBreaker, q.Boost), nil
}

// member is a field of a cross_fields search.
type member struct {
	col   column
	boost float64
}

// blended gives one op per position of the text: the best field for it, all of
// them weighed as if the term were as frequent as where it is most frequent.
func (v *view) blended(group []member, a *analysis.Analyzer, q *search.MultiMatch, sp *mapping.Space) []op {
	terms, tokens := a.Terms(q.Text.Text)
	var out []op
	for i := 0; i < len(tokens); {
		var same []op
		pos := tokens[i].Pos
		for ; i < len(tokens) && tokens[i].Pos == pos; i++ {
			text := terms[i]
			df := func() float64 {
				n := 0.0
				for _, m := range group {
					n = max(n, v.run.frequency(sp, m.col.Field, text))
				}
				return n
			}
			var one []op
			for _, m := range group {
				one = append(one, v.run.newTerm(&termOp{v: v, sp: sp, col: m.col, text: text, boost: m.boost, df: df, c: ofTerms(m.col, []string{text})}))
			}
			same = append(same, best(one, q.TieBreaker, 1))
		}
		out = append(out, anyOf(same))
	}
	return out
}
