package typesense

import (
	"strconv"

	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// keyOf decodes a value of a facet.
func (r *run) keyOf(s set, c column, code string) (bucketing.Key, error) {
	f := c.Field
	if f.Family.Numeric() {
		return bucketing.NumberKey(f.Family, DecodeNumber(wholeOf(code))), nil
	}
	if text, ok := DecodeKeyword(code); ok {
		return bucketing.TextKey(text), nil
	}
	// Of a long value there is only the hash: a document has it whole.
	filter := ofSpace(s.sp, &expr{text: c.Name + ":=" + code, c: all{}}).String()
	e := entry{FilterBy: filter, SortBy: fieldOrder + ":asc"}
	objects, err := s.v.first(s.sp, e)
	if err != nil {
		return bucketing.Key{}, err
	}
	for _, o := range objects {
		for _, v := range o.values(c.Name) {
			if EncodeKeyword(v.text) == code {
				return bucketing.TextKey(v.text), nil
			}
		}
	}
	return bucketing.TextKey(code), nil
}

// first gives the first object that a search finds.
func (v *view) first(sp *mapping.Space, e entry) ([]*object, error) {
	e.Collection, e.IncludeFields, e.PerPage = v.gen.collection(sp.Path), "id,"+fieldRoot, 1
	answer, err := v.run.one(e)
	if err != nil || len(answer.Hits) == 0 {
		return nil, err
	}
	f, err := answer.Hits[0].fields()
	if err != nil {
		return nil, err
	}
	root := f.Root
	if sp.Parent == nil {
		root = f.ID
	}
	docs, err := v.byIDs([]string{root})
	var out []*object
	for _, d := range docs {
		for _, o := range d.objects {
			if o.id == f.ID {
				out = append(out, o)
			}
		}
	}
	return out, err
}

func wholeOf(code string) int64 {
	n, err := strconv.ParseInt(code, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func numberOf(code string) float64 { return float64(wholeOf(code)) }

// hasKey holds for objects with the value in any of the columns.
func hasKey(columns []column, k bucketing.Key) cond {
	var list []cond
	for _, c := range columns {
		switch f := c.Field.Family; {
		case !f.Numeric() && k.Family == mapping.Keyword:
			list = append(list, &test{f: keywordField, column: listName(c), terms: []string{k.Text}})
		case f == k.Family || f == mapping.Long && k.Family == mapping.Double:
			list = append(list, &test{f: c.Field, column: c.Name, spans: []span{point(k.Num)}})
		}
	}
	return either(list...)
}

// listName gives the column with the values that can be listed.
func listName(c column) string {
	if c.Field.Family == mapping.Text {
		return listColumnOf(c.Field)
	}
	return c.Name
}

// without holds for objects that have no value in the columns.
func without(columns []column) cond {
	var list []cond
	for _, c := range columns {
		if c.Field.Family.Numeric() {
			list = append(list, &test{f: c.Field, column: c.Name, spans: []span{everyNumber()}})
		} else {
			list = append(list, &test{f: keywordField, column: listName(c), code: "v", begins: true})
		}
	}
	return negated(either(list...))
}
