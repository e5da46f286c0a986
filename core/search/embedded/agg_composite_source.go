package embedded

import (
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// compositeSource is one source and the values found so far.
type compositeSource struct {
	def      *search.CompositeSource
	families [][]*family
	hist     *histogram // nil for the values themselves
	print    printer
	values   []compositeValue // by number; the first is null
	ids      map[compositeValue]uint32
	now      []uint32 // numbers of the values of the object at hand
}

// compositeValue is one value; its rank keeps kinds apart and in order.
type compositeValue struct {
	rank int8
	num  float64
	text string
}

// The ranks, as terms are ordered.
const (
	rankNull int8 = iota
	rankFlag
	rankNumber
	rankDate
	rankText
)

func (r *run) compositeSource(a *search.Agg, def *search.CompositeSource, sets []set) (s compositeSource, err error) {
	s = compositeSource{def: def, values: []compositeValue{{}}, ids: map[compositeValue]uint32{}}
	where := a.Path + ".sources"
	if def.Histogram == nil {
		s.families, err = aggregable(sets, def.Field, where)
		return s, err
	}
	if s.families, _, err = numbers(&search.Agg{Path: where}, def.Field, sets); err != nil {
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

func (s *compositeSource) read(r *run, v search.Value) (compositeValue, bool) {
	if v.Kind == search.NullValue {
		return compositeValue{}, true
	}
	n, isNumber := v.Number()
	if s.hist != nil {
		if s.print.date != nil {
			ms, err := (&view{run: r}).date(s.print.date, v, s.hist.body.Zone, false)
			return compositeValue{rank: rankNumber, num: ms}, err == nil
		}
		return compositeValue{rank: rankNumber, num: n}, isNumber
	}
	dated, numeric := false, false
	for _, list := range s.families {
		for _, f := range list {
			dated = dated || f.field.Family == mapping.Date
			numeric = numeric || f.field.Family == mapping.Long || f.field.Family == mapping.Double
			if f.field.Family != mapping.Date || v.Kind != search.StringValue {
				continue
			}
			if ms, ok := f.field.Format.Millis(v.Text, time.UTC, false); ok {
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
	return compositeValue{rank: rankNumber, num: n}, isNumber
}

// reader gives what finds the numbers of the values of an object.
func (s *compositeSource) reader(i int, in set) func(object uint32) {
	if s.def.Field == indexField && s.hist == nil {
		id := s.id(compositeValue{rank: rankText, text: in.v.x.name})
		return func(uint32) {
			if in.sp == in.v.seg.root() {
				s.now = append(s.now, id)
			}
		}
	}
	var each []func(object uint32)
	for _, f := range s.families[i] {
		if f.field.Family.Numeric() {
			rank := map[mapping.Family]int8{mapping.Boolean: rankFlag, mapping.Date: rankDate}[f.field.Family]
			if rank == 0 || s.hist != nil {
				rank = rankNumber
			}
			k := cursor[float64]{c: &f.nums}
			each = append(each, func(object uint32) {
				for _, v := range k.seek(object) {
					if s.hist != nil {
						v = s.hist.floor(v)
					}
					s.add(s.id(compositeValue{rank: rank, num: v}))
				}
			})
			continue
		}
		known := make([]uint32, f.dict.size()) // 0 is null, which no string is
		k := cursor[uint32]{c: &f.ords}
		each = append(each, func(object uint32) {
			for _, ord := range k.seek(object) {
				if known[ord] == 0 {
					known[ord] = s.id(compositeValue{rank: rankText, text: f.dict.term(ord)})
				}
				s.add(known[ord])
			}
		})
	}
	return func(object uint32) {
		for _, f := range each {
			f(object)
		}
	}
}

func (s *compositeSource) id(v compositeValue) uint32 {
	id, ok := s.ids[v]
	if !ok {
		id = uint32(len(s.values))
		s.ids[v] = id
		s.values = append(s.values, v)
	}
	return id
}

func (s *compositeSource) add(id uint32) {
	if len(s.now) > 64 || !slices.Contains(s.now, id) { // doubles are found later too
		s.now = append(s.now, id)
	}
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
	case a.text != b.text:
		n = int(oneIf(a.text > b.text)) - int(oneIf(a.text < b.text))
	}
	if s.def.Desc {
		return -n
	}
	return n
}

// write gives a value as a key.
func (s *compositeSource) write(id uint32) search.CompositeKey {
	v := s.values[id]
	switch v.rank {
	case rankNull:
		return search.CompositeKey{}
	case rankFlag:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num}, Bool: true}
	case rankText:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: string([]byte(v.text))}}
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
	for _, list := range s.families {
		for _, f := range list {
			if f.field.Family == mapping.Double {
				return true
			}
		}
	}
	return false
}
