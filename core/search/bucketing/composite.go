package bucketing

import (
	"cmp"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Source is one source of a composite aggregation.
type Source struct {
	*search.CompositeSource
	fields iter.Seq[*mapping.Field]
	hist   *Histogram // nil for the values themselves
	print  Printer
	now    time.Time
}

// SourceValue is one value of a source; the zero value is null.
type SourceValue struct {
	rank rank
	num  float64
	text string
}

// SourceColumns keeps of each list the columns from which a source takes its
// values.
func SourceColumns[C mapping.Column](a *search.Agg, def *search.CompositeSource, lists [][]C) ([][]C, error) {
	if def.Histogram == nil {
		return Listable(lists, def.Field, a.Path+".sources")
	}
	return Numeric(lists, def.Field, a.Path+".sources")
}

// NewSource makes a source over the fields of its columns.
func NewSource(a *search.Agg, def *search.CompositeSource, fields iter.Seq[*mapping.Field], now time.Time) (Source, error) {
	s := Source{CompositeSource: def, fields: fields, now: now}
	if def.Histogram == nil {
		return s, nil
	}
	s.hist = &Histogram{HistogramAgg: def.Histogram}
	if def.Histogram.Dates && def.Histogram.Format != "" {
		var err error
		s.print.zone = def.Histogram.Zone
		if s.print.date, err = dates.Parse(def.Histogram.Format); err != nil {
			return s, problem.Field(problem.Invalid, a.Path+".sources", "%s", err)
		}
	}
	return s, nil
}

// ReadAfter reads the values of the after key as those of the sources.
func ReadAfter(a *search.Agg, body *search.CompositeAgg, source func(i int) *Source) ([]SourceValue, error) {
	var out []SourceValue
	for i, v := range body.After {
		value, ok := source(i).read(v)
		if !ok {
			return nil, problem.Field(problem.Invalid, a.Path+".after."+body.Sources[i].Name, "%q is no key of this source", v.Text)
		}
		out = append(out, value)
	}
	return out, nil
}

func (s *Source) read(v search.Value) (SourceValue, bool) {
	if v.Kind == search.NullValue {
		return SourceValue{}, true
	}
	n, number := v.Number()
	if s.hist != nil {
		if s.print.date != nil {
			ms, err := mapping.DateOf(s.print.date, v, s.now, s.hist.Zone, false)
			return SourceValue{rank: rankNumber, num: ms}, err == nil
		}
		return SourceValue{rank: rankNumber, num: n}, number
	}
	dated, numeric := false, false
	for f := range s.fields {
		dated = dated || f.Family == mapping.Date
		numeric = numeric || f.Family == mapping.Long || f.Family == mapping.Double
		if f.Family != mapping.Date || v.Kind != search.StringValue {
			continue
		}
		if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
			return SourceValue{rank: rankDate, num: float64(ms)}, true
		}
	}
	switch {
	case v.Kind == search.BoolValue:
		return SourceValue{rank: rankFlag, num: mapping.Flag(v.Text == "true")}, true
	case v.Kind == search.StringValue:
		return s.Text(v.Text), true
	case dated && !numeric:
		return SourceValue{rank: rankDate, num: n}, true
	}
	return SourceValue{rank: rankNumber, num: n}, number
}

// OfIndex tells that the values are the names of the indices.
func (s *Source) OfIndex() bool { return s.Field == mapping.IndexField && s.hist == nil }

// Text makes the value of a string.
func (s *Source) Text(text string) SourceValue { return SourceValue{rank: rankText, text: text} }

// Number makes the value of a number of a family.
func (s *Source) Number(f mapping.Family, n float64) SourceValue {
	switch {
	case s.hist != nil:
		return SourceValue{rank: rankNumber, num: s.hist.Floor(n)}
	case f == mapping.Boolean:
		return SourceValue{rank: rankFlag, num: n}
	case f == mapping.Date:
		return SourceValue{rank: rankDate, num: n}
	}
	return SourceValue{rank: rankNumber, num: n}
}

// Compare orders values of the source.
func (s *Source) Compare(a, b SourceValue) int {
	if (a.rank == rankNull) != (b.rank == rankNull) {
		first := s.MissingOrder == search.MissingFirst || s.MissingOrder == search.MissingDefault && !s.Desc
		if (a.rank == rankNull) == first {
			return -1
		}
		return 1
	}
	n := cmp.Or(int(a.rank)-int(b.rank), cmp.Compare(a.num, b.num), strings.Compare(a.text, b.text))
	if s.Desc {
		return -n
	}
	return n
}

// Shown gives a value as a key.
func (s *Source) Shown(v SourceValue) search.CompositeKey {
	switch v.rank {
	case rankNull:
		return search.CompositeKey{}
	case rankFlag:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num}, Bool: true}
	case rankText:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: strings.Clone(v.text)}}
	}
	if s.print.date != nil {
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: s.print.Text(v.num)}}
	}
	whole := v.rank == rankDate || s.hist != nil && s.hist.Dates
	if s.hist == nil && v.rank == rankNumber {
		whole = !s.fractions() && v.num == math.Trunc(v.num)
	}
	return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num, Whole: whole}}
}

// fractions tells whether the field holds doubles.
func (s *Source) fractions() bool {
	for f := range s.fields {
		if f.Family == mapping.Double {
			return true
		}
	}
	return false
}
