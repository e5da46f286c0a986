package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// compositeSource is one source.
type compositeSource struct {
	bucketing.Source
	columns [][]column
}

func (r *run) compositeSource(a *search.Agg, def *search.CompositeSource, sets []set) (s compositeSource, err error) {
	if s.columns, err = bucketing.SourceColumns(a, def, columnsOf(sets, def.Field)); err != nil {
		return s, err
	}
	s.Source, err = bucketing.NewSource(a, def, mapping.FieldsOf(s.columns...), r.now)
	return s, err
}

// of gives the values of an object of a set.
func (s *compositeSource) of(set int, o *object) []bucketing.SourceValue {
	var out []bucketing.SourceValue
	add := func(v bucketing.SourceValue) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if s.OfIndex() && o.up == nil {
		add(s.Text(o.doc.view.gen.index))
	}
	for _, c := range s.columns[set] {
		switch {
		case c.Field.Family == mapping.Text:
			for _, term := range o.tokens(c.Field, c.Name).terms {
				add(s.Text(term))
			}
		case !c.Field.Family.Numeric():
			for _, w := range o.values(c.Name) {
				add(s.Text(w.text))
			}
		default:
			for _, w := range o.values(c.Name) {
				add(s.Number(c.Field.Family, w.num))
			}
		}
	}
	if len(out) == 0 && s.Missing {
		add(bucketing.SourceValue{})
	}
	return out
}
