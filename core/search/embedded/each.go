package embedded

import (
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

func (v *view) eachField(q *search.Each, sp *space) (op, error) {
	fields, err := v.expandFields(q.Fields, q.Path, sp)
	if err != nil {
		return nil, err
	}
	o := &best{run: v.run, sp: sp, tie: float32(q.TieBreaker), boost: float32(q.Boost)}
	for _, f := range fields {
		inner, err := v.compile(q.In(f), sp)
		if err != nil {
			if q.Lenient && problem.Is(err, problem.Invalid) {
				continue
			}
			return nil, err
		}
		o.ops = append(o.ops, inner)
	}
	if len(o.ops) == 0 {
		return none{}, nil
	}
	return o, nil
}

// part gives how a part of a word is looked for in a family.
func (f *family) part(text string, how search.PartAnalysis) string {
	if how == search.PartVerbatim || f.field.Family != mapping.Text || text == "" {
		return text
	}
	if how == search.PartAnalyzed {
		if terms, _ := f.field.Search.Terms(text); len(terms) == 1 {
			return terms[0]
		}
	}
	return f.field.Search.Normalize(text)
}

// inFamily does so with the texts of a pattern.
func (p pattern) inFamily(f *family, how search.PartAnalysis) *pattern {
	if how == search.PartVerbatim || f.field.Family != mapping.Text {
		return &p
	}
	parts := make([]piece, len(p.parts))
	for i, x := range p.parts {
		x.text = f.part(x.text, how)
		if p.fold {
			x.text = strings.ToLower(x.text)
		}
		parts[i] = x
	}
	p.parts = parts
	return &p
}
