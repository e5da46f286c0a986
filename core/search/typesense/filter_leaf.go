package typesense

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

const indexField = mapping.IndexField

func (v *view) term(q *search.Term, sp *mapping.Space) (op, error) {
	if q.Field == indexField {
		return v.named(sp, q.Boost, func(name string) bool { return name == q.Value.Text }), nil
	}
	var ops []op
	for _, c := range v.columns(sp, q.Field) {
		if !q.CaseInsensitive || c.Field.Family.Numeric() {
			ops = append(ops, v.exactly(sp, c, q.Value, q.Boost))
			continue
		}
		terms, err := v.run.terms(v, sp, c, "", q.Info(), func(t string) bool { return strings.EqualFold(t, q.Value.Text) })
		if err != nil {
			return nil, err
		}
		ops = append(ops, &constantOp{ofTerms(c, terms), q.Boost})
	}
	return anyOf(ops), nil
}

// ofTerms holds for objects with any of the terms.
func ofTerms(c column, terms []string) cond {
	if len(terms) == 0 {
		return nothing{}
	}
	return &test{f: c.Field, column: c.Name, terms: terms}
}

// exactly matches one value in one column.
func (v *view) exactly(sp *mapping.Space, c column, value search.Value, boost float64) op {
	if c.Field.Family.Numeric() {
		s, ok := v.point(c.Field, value)
		if !ok {
			return none()
		}
		return &constantOp{&test{f: c.Field, column: c.Name, spans: []span{s}}, boost}
	}
	if c.Field.Path == mapping.IDField {
		return &constantOp{ofTerms(c, []string{value.Text}), boost}
	}
	return v.run.newTerm(&termOp{v: v, sp: sp, col: c, text: value.Text, boost: boost, c: ofTerms(c, []string{value.Text})})
}

// point gives the numbers that a value means in a numeric field: one, or for a
// date without all its parts a span.
func (v *view) point(f *mapping.Field, value search.Value) (span, bool) {
	low, high, ok := f.Exactly(value, v.run.now)
	return span{low: low, high: high}, ok
}

func (v *view) terms(q *search.Terms, sp *mapping.Space) (op, error) {
	if q.Field == indexField {
		return v.named(sp, q.Boost, func(name string) bool {
			return slices.ContainsFunc(q.Values, func(w search.Value) bool { return w.Text == name })
		}), nil
	}
	var list []cond
	for _, c := range v.columns(sp, q.Field) {
		t := &test{f: c.Field, column: c.Name}
		for _, value := range q.Values {
			if !c.Field.Family.Numeric() {
				t.terms = append(t.terms, value.Text)
			} else if s, ok := v.point(c.Field, value); ok {
				t.spans = append(t.spans, s)
			}
		}
		list = append(list, t)
	}
	return &constantOp{either(list...), q.Boost}, nil
}

func (v *view) rangeClause(q *search.Range, sp *mapping.Space) (op, error) {
	var list []cond
	var failed error
	strings := false
	for _, c := range v.columns(sp, q.Field) {
		if !c.Field.Family.Numeric() {
			strings = true
			terms, err := v.run.terms(v, sp, c, "", q.Info(), between(q))
			if err != nil {
				return nil, err
			}
			list = append(list, ofTerms(c, terms))
			continue
		}
		s, err := c.Field.Span(q, v.run.now)
		if err != nil {
			failed = err
			continue
		}
		list = append(list, &test{f: c.Field, column: c.Name, spans: []span{{s.Low, s.High, s.OpenLow, s.OpenHigh}}})
	}
	if failed != nil && !strings {
		return nil, problem.Field(problem.Invalid, q.Path, "range on %s: %s", q.Field, failed)
	}
	return &constantOp{either(list...), q.Boost}, nil
}

// between tells whether a term is between the bounds, in byte order.
func between(q *search.Range) func(t string) bool {
	return func(t string) bool {
		return (q.GT == nil || t > q.GT.Text) && (q.GTE == nil || t >= q.GTE.Text) &&
			(q.LT == nil || t < q.LT.Text) && (q.LTE == nil || t <= q.LTE.Text)
	}
}
