package typesense

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// compositeSource is one source.
type compositeSource struct {
	def     *search.CompositeSource
	columns [][]column
	hist    *histogram // nil for the values themselves
	print   printer
}

// compositeValue is one value; its rank keeps kinds apart and in order.
type compositeValue struct {
	rank int8
	num  float64
	text string
}

func (r *run) compositeSource(a *search.Agg, def *search.CompositeSource, sets []set) (s compositeSource, err error) {
	s = compositeSource{def: def}
	where := a.Path + ".sources"
	if def.Histogram == nil {
		s.columns, err = listable(sets, def.Field, where)
		return s, err
	}
	if s.columns, _, err = numeric(&search.Agg{Path: where}, def.Field, sets); err != nil {
		return s, err
	}
	s.hist = &histogram{body: def.Histogram}
	if def.Histogram.Dates && def.Histogram.Format != "" {
		s.print.zone = def.Histogram.Zone
		if s.print.date, err = dates.Parse(def.Histogram.Format); err != nil {
			return s, problem.Field(problem.Invalid, where, "%s", err)
		}
	}
	return s, nil
}

// read reads a value of the after key as one of the source.
func (s *compositeSource) read(r *run, v search.Value) (compositeValue, bool) {
	if v.Kind == search.NullValue {
		return compositeValue{}, true
	}
	n, number := v.Number()
	if s.hist != nil {
		if s.print.date != nil {
			ms, err := r.date(s.print.date, v, s.hist.body.Zone, false)
			return compositeValue{rank: rankNumber, num: ms}, err == nil
		}
		return compositeValue{rank: rankNumber, num: n}, number
	}
	dated, numeric := false, false
	for _, list := range s.columns {
		for _, c := range list {
			dated = dated || c.Field.Family == mapping.Date
			numeric = numeric || c.Field.Family == mapping.Long || c.Field.Family == mapping.Double
			if c.Field.Family != mapping.Date || v.Kind != search.StringValue {
				continue
			}
			if ms, ok := c.Field.Format.Millis(v.Text, time.UTC, false); ok {
				return compositeValue{rank: rankDate, num: float64(ms)}, true
			}
		}
	}
	switch {
	case v.Kind == search.BoolValue:
		return compositeValue{rank: rankFlag, num: float64(oneIf(v.Text == "true"))}, true
	case v.Kind == search.StringValue:
		return compositeValue{rank: rankText, text: v.Text}, true
	case dated && !numeric:
		return compositeValue{rank: rankDate, num: n}, true
	}
	return compositeValue{rank: rankNumber, num: n}, number
}

// of gives the values of an object of a set.
func (s *compositeSource) of(set int, o *object) []compositeValue {
	var out []compositeValue
	add := func(v compositeValue) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if s.def.Field == indexField && s.hist == nil && o.up == nil {
		add(compositeValue{rank: rankText, text: o.doc.view.gen.index})
	}
	for _, c := range s.columns[set] {
		switch {
		case c.Field.Family == mapping.Text:
			for _, term := range o.tokens(c.Field, c.Name).terms {
				add(compositeValue{rank: rankText, text: term})
			}
		case !c.Field.Family.Numeric():
			for _, w := range o.values(c.Name) {
				add(compositeValue{rank: rankText, text: w.text})
			}
		default:
			for _, w := range o.values(c.Name) {
				add(s.number(c.Field.Family, w.num))
			}
		}
	}
	if len(out) == 0 && s.def.Missing {
		add(compositeValue{})
	}
	return out
}

func (s *compositeSource) number(f mapping.Family, n float64) compositeValue {
	switch {
	case s.hist != nil:
		return compositeValue{rank: rankNumber, num: s.hist.floor(n)}
	case f == mapping.Boolean:
		return compositeValue{rank: rankFlag, num: n}
	case f == mapping.Date:
		return compositeValue{rank: rankDate, num: n}
	}
	return compositeValue{rank: rankNumber, num: n}
}

func (s *compositeSource) compare(a, b compositeValue) int {
	if (a.rank == rankNull) != (b.rank == rankNull) {
		first := s.def.MissingOrder == search.MissingFirst || s.def.MissingOrder == search.MissingDefault && !s.def.Desc
		if (a.rank == rankNull) == first {
			return -1
		}
		return 1
	}
	n := int(a.rank) - int(b.rank)
	switch {
	case n != 0:
	case a.num != b.num:
		n = int(oneIf(a.num > b.num)) - int(oneIf(a.num < b.num))
	default:
		n = strings.Compare(a.text, b.text)
	}
	if s.def.Desc {
		return -n
	}
	return n
}

// write gives a value as a key.
func (s *compositeSource) write(v compositeValue) search.CompositeKey {
	switch v.rank {
	case rankNull:
		return search.CompositeKey{}
	case rankFlag:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num}, Bool: true}
	case rankText:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: v.text}}
	}
	if s.print.date != nil {
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: s.print.text(v.num)}}
	}
	whole := v.rank == rankDate || s.hist != nil && s.hist.body.Dates
	if s.hist == nil && v.rank == rankNumber {
		whole = !s.fractions() && v.num == math.Trunc(v.num)
	}
	return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num, Whole: whole}}
}

// fractions tells whether the field holds doubles.
func (s *compositeSource) fractions() bool {
	return slices.ContainsFunc(s.columns, func(list []column) bool {
		return slices.ContainsFunc(list, func(c column) bool { return c.Field.Family == mapping.Double })
	})
}
