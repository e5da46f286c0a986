package embedded

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// member is a field of a cross_fields search.
type member struct {
	f     *family
	boost float32
}

// crossFields looks for each word in any of the fields that share an analyzer,
// as if they were one field. Fields that are not text take the whole value.
func (v *view) crossFields(q *search.MultiMatch, fields []search.WeightedField, sp *space) (op, error) {
	o := &best{run: v.run, sp: sp, tie: float32(q.TieBreaker), boost: float32(q.Boost)}
	var order []*analysis.Analyzer
	groups := map[*analysis.Analyzer][]member{}
	for _, wf := range fields {
		for _, f := range v.families(sp, wf.Name) {
			if f.field.Family != mapping.Text {
				o.ops = append(o.ops, v.exactly(f, q.Text, float32(wf.Boost)))
				continue
			}
			a, err := v.analyzer(f, q.Analyzer, q.Path)
			if err != nil {
				return nil, err
			}
			if groups[a] == nil {
				order = append(order, a)
			}
			groups[a] = append(groups[a], member{f, float32(wf.Boost)})
		}
	}
	for _, a := range order {
		ops := v.blended(groups[a], a, q, sp)
		if len(ops) == 0 {
			if q.ZeroAll {
				o.ops = append(o.ops, &every{sp, 1})
			}
			continue
		}
		o.ops = append(o.ops, v.counted(ops, q.And, q.MinShould, 1, sp))
	}
	if len(o.ops) == 0 {
		return none{}, nil
	}
	return o, nil
}

// blended gives one op per position of the text: the best field for it, all of
// them weighed as if the term were as frequent as where it is most frequent.
func (v *view) blended(group []member, a *analysis.Analyzer, q *search.MultiMatch, sp *space) []op {
	terms, tokens := a.Terms(q.Text.Text)
	var out []op
	for i := 0; i < len(tokens); {
		var same []op
		pos := tokens[i].Pos
		for ; i < len(tokens) && tokens[i].Pos == pos; i++ {
			df := int64(0)
			for _, m := range group {
				df = max(df, v.run.statsOf(m.f.field, terms[i]).df)
			}
			one := &best{run: v.run, sp: sp, tie: float32(q.TieBreaker), boost: 1}
			for _, m := range group {
				if p := m.f.posting(terms[i]); p != nil {
					one.ops = append(one.ops, &term{v: v, f: m.f, p: p, text: terms[i], boost: m.boost, df: df})
				}
			}
			if len(one.ops) > 0 {
				same = append(same, one)
			}
		}
		out = append(out, v.either(sp, same))
	}
	return out
}

// counted combines the words of a text by operator and minimum.
func (v *view) counted(ops []op, and bool, minimum *search.Minimum, boost float32, sp *space) op {
	o := &boolean{run: v.run, sp: sp, boost: boost}
	if and || len(ops) == 1 { // a minimum counts optional clauses only
		o.must = ops
		return o
	}
	o.should, o.need = ops, 1
	if minimum != nil {
		o.need = max(minimum.Of(len(ops)), 1)
	}
	return o
}
