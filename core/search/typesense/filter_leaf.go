package typesense

import (
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

const indexField = "_index"

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
	switch f.Family {
	case mapping.Boolean:
		b, ok := value.Bool()
		n := 0.0
		if b {
			n = 1
		}
		return point(n), ok
	case mapping.Date:
		from, err := v.run.date(f.Format, value, time.UTC, false)
		if err != nil {
			return span{}, false
		}
		to, err := v.run.date(f.Format, value, time.UTC, true)
		return span{low: from, high: to}, err == nil
	}
	n, ok := value.Number()
	return point(n), ok && f.Family != mapping.Geo
}

// date reads a date in milliseconds, with date math.
func (r *run) date(f *dates.Format, value search.Value, loc *time.Location, up bool) (float64, error) {
	if value.Kind == search.NumberValue {
		if unit, ok := f.Epoch(); ok {
			return float64(int64(value.Num)) * float64(unit), nil
		}
	}
	ms, err := f.Math(value.Text, r.now, loc, up)
	return float64(ms), err
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
		s, err := v.bounds(c.Field, q)
		if err != nil {
			failed = err
			continue
		}
		list = append(list, &test{f: c.Field, column: c.Name, spans: []span{s}})
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

// bounds reads the bounds of a range for a numeric field. Of gt and gte, if
// both are given, the narrower one counts; so of lt and lte.
func (v *view) bounds(f *mapping.Field, q *search.Range) (span, error) {
	read, err := v.reader(f, q)
	if err != nil {
		return span{}, err
	}
	out := everyNumber()
	for _, in := range []struct {
		value           *search.Value
		up, open, upper bool
	}{{q.GT, true, true, false}, {q.GTE, false, false, false}, {q.LT, false, true, true}, {q.LTE, true, false, true}} {
		if in.value == nil {
			continue
		}
		n, err := read(*in.value, in.up)
		switch {
		case err != nil:
			return span{}, err
		case in.upper && n < out.high:
			out.high, out.openHigh = n, in.open
		case !in.upper && n > out.low:
			out.low, out.openLow = n, in.open
		}
	}
	return out, nil
}

// reader gives how the bounds of a range are read for a field. up is for dates:
// parts that are not given take their last value.
func (v *view) reader(f *mapping.Field, q *search.Range) (func(value search.Value, up bool) (float64, error), error) {
	if f.Family != mapping.Date {
		return func(value search.Value, _ bool) (float64, error) {
			if s, ok := v.point(f, value); ok {
				return s.low, nil
			}
			return 0, problem.New(problem.Invalid, "%q is no number", value.Text)
		}, nil
	}
	format, loc := f.Format, time.UTC
	var err error
	if q.Format != "" {
		if format, err = dates.Parse(q.Format); err != nil {
			return nil, err
		}
	}
	if q.TimeZone != "" {
		if loc, err = dates.ParseZone(q.TimeZone); err != nil {
			return nil, err
		}
	}
	return func(value search.Value, up bool) (float64, error) { return v.run.date(format, value, loc, up) }, nil
}
