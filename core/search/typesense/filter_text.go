package typesense

import (
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxExpansion is how many fields a pattern of a multi_match may stand for.
const maxExpansion = 2048

func (v *view) match(q *search.Match, sp *mapping.Space) (op, error) {
	var ops []op
	for _, c := range v.columns(sp, q.Field) {
		if c.Field.Family != mapping.Text {
			ops = append(ops, v.exactly(sp, c, q.Text, q.Boost))
			continue
		}
		p, err := v.matchText(sp, c, q)
		if err != nil {
			return nil, err
		}
		ops = append(ops, p)
	}
	return anyOf(ops), nil
}

// matchText matches the tokens of a text in one column.
func (v *view) matchText(sp *mapping.Space, c column, q *search.Match) (op, error) {
	a, err := v.analyzer(c, q.Analyzer, q.Path)
	if err != nil {
		return nil, err
	}
	ops, err := v.words(sp, c, a, q)
	switch {
	case err != nil:
		return nil, err
	case len(ops) == 0 && q.ZeroAll:
		return &constantOp{all{}, q.Boost}, nil
	case len(ops) == 0:
		return wordless, nil
	}
	return counted(ops, q.And, q.MinShould, q.Boost), nil
}

// analyzer gives the one with the name, or that of searches in the field.
func (v *view) analyzer(c column, name, path string) (*analysis.Analyzer, error) {
	if name == "" {
		return c.Field.Search, nil
	}
	a, err := v.gen.analyzer(name)
	if err != nil {
		return nil, problem.Field(problem.Invalid, path, "%s", problem.From(err).Detail)
	}
	return a, nil
}

// words gives one op per position of the analyzed text; synonyms at the same
// position are alternatives.
func (v *view) words(sp *mapping.Space, c column, a *analysis.Analyzer, q *search.Match) ([]op, error) {
	terms, tokens := a.Terms(q.Text.Text)
	var out []op
	for i := 0; i < len(tokens); {
		var same []op
		pos := tokens[i].Pos
		last := q.LastPrefix && pos == tokens[len(tokens)-1].Pos
		for ; i < len(tokens) && tokens[i].Pos == pos; i++ {
			p, err := v.word(sp, c, terms[i], q, last)
			if err != nil {
				return nil, err
			}
			same = append(same, p)
		}
		out = append(out, anyOf(same))
	}
	return out, nil
}

func (v *view) word(sp *mapping.Space, c column, text string, q *search.Match, prefix bool) (op, error) {
	switch {
	case prefix:
		t, err := begins(c, text, q.Info())
		return &constantOp{t, 1}, err
	case q.Fuzzy != nil:
		return v.similar(sp, c, text, q.Fuzzy, 1, q.Info())
	}
	return v.run.newTerm(&termOp{v: v, sp: sp, col: c, text: text, boost: 1, c: ofTerms(c, []string{text})}), nil
}

// begins holds for objects with a term that starts with the text.
func begins(c column, text string, q *search.Clause) (cond, error) {
	code, ok := "", false
	switch {
	case text == "":
		return &exists{c.Field.Path}, nil
	case c.Field.Family == mapping.Text:
		code, ok = EncodeTokenPrefix(text)
	default:
		code, ok = EncodeKeywordPrefix(text)
	}
	if !ok {
		return nil, refuse(q, "a prefix of more than about 100 characters")
	}
	return &test{f: c.Field, column: c.Name, prefix: text, code: code, begins: true}, nil
}

// counted combines the words of a text by operator and minimum.
func counted(ops []op, and bool, minimum *search.Minimum, boost float64) op {
	if and || len(ops) == 1 { // a minimum counts optional clauses only
		return &sumOp{c: both(condsOf(ops)...), must: ops, boost: boost}
	}
	n := 1
	if minimum != nil {
		n = max(minimum.Of(len(ops)), 1)
	}
	return &sumOp{c: need(n, condsOf(ops)), should: ops, boost: boost}
}
