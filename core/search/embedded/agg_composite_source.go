package embedded

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// compositeSource is one source and the values found so far.
type compositeSource struct {
	bucketing.Source
	families [][]*family
	values   []bucketing.SourceValue // by number; the first is null
	ids      map[bucketing.SourceValue]uint32
	now      []uint32 // numbers of the values of the object at hand
}

func (r *run) compositeSource(a *search.Agg, def *search.CompositeSource, sets []set) (s compositeSource, err error) {
	s = compositeSource{values: []bucketing.SourceValue{{}}, ids: map[bucketing.SourceValue]uint32{}}
	if s.families, err = bucketing.SourceColumns(a, def, familiesOf(sets, def.Field)); err != nil {
		return s, err
	}
	s.Source, err = bucketing.NewSource(a, def, mapping.FieldsOf(s.families...), r.now)
	return s, err
}

// reader gives what finds the numbers of the values of an object.
func (s *compositeSource) reader(i int, in set) func(object uint32) {
	if s.OfIndex() {
		id := s.id(s.Text(in.v.x.name))
		return func(uint32) {
			if in.sp == in.v.seg.root() {
				s.now = append(s.now, id)
			}
		}
	}
	var each []func(object uint32)
	for _, f := range s.families[i] {
		if f.field.Family.Numeric() {
			k := cursor[float64]{c: &f.nums}
			each = append(each, func(object uint32) {
				for _, v := range k.seek(object) {
					s.add(s.id(s.Number(f.field.Family, v)))
				}
			})
			continue
		}
		known := make([]uint32, f.dict.size()) // 0 is null, which no string is
		k := cursor[uint32]{c: &f.ords}
		each = append(each, func(object uint32) {
			for _, ord := range k.seek(object) {
				if known[ord] == 0 {
					known[ord] = s.id(s.Text(f.dict.term(ord)))
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

func (s *compositeSource) id(v bucketing.SourceValue) uint32 {
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
