package typesense

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// bucketKey is the key of a bucket: a string, or a number with its family, in
// which long and double are the same.
type bucketKey struct {
	family mapping.Family
	text   string
	num    float64
}

// compare orders keys: numbers before strings.
func (k bucketKey) compare(o bucketKey) int {
	return cmp.Or(cmp.Compare(k.rank(), o.rank()), cmp.Compare(k.num, o.num), strings.Compare(k.text, o.text))
}

func (k bucketKey) rank() int {
	switch k.family {
	case mapping.Boolean:
		return 0
	case mapping.Date:
		return 2
	case mapping.Keyword, mapping.Text:
		return 3
	}
	return 1
}

// keyOf decodes a value of a facet.
func (r *run) keyOf(s set, c column, code string) (bucketKey, error) {
	f := c.Field
	if f.Family.Numeric() {
		k := bucketKey{family: f.Family, num: DecodeNumber(wholeOf(code))}
		if f.Family == mapping.Long {
			k.family = mapping.Double
		}
		return k, nil
	}
	if text, ok := DecodeKeyword(code); ok {
		return bucketKey{family: mapping.Keyword, text: text}, nil
	}
	// Of a long value there is only the hash: a document has it whole.
	filter := ofSpace(s.sp, &expr{text: c.Name + ":=" + code, c: all{}}).String()
	e := entry{FilterBy: filter, SortBy: fieldOrder + ":asc"}
	objects, err := s.v.first(s.sp, e)
	if err != nil {
		return bucketKey{}, err
	}
	for _, o := range objects {
		for _, v := range o.values(c.Name) {
			if EncodeKeyword(v.text) == code {
				return bucketKey{family: mapping.Keyword, text: v.text}, nil
			}
		}
	}
	return bucketKey{family: mapping.Keyword, text: code}, nil
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
func hasKey(columns []column, k bucketKey) cond {
	var list []cond
	for _, c := range columns {
		switch f := c.Field.Family; {
		case !f.Numeric() && k.family == mapping.Keyword:
			list = append(list, &test{f: keywordField, column: listName(c), terms: []string{k.text}})
		case f == k.family || f == mapping.Long && k.family == mapping.Double:
			list = append(list, &test{f: c.Field, column: c.Name, spans: []span{point(k.num)}})
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

// missingKey gives the key that stands for objects without a value. It is a
// number if the field has numbers and the value is one.
func missingKey(v search.Value, columns [][]column) bucketKey {
	for _, list := range columns {
		for _, c := range list {
			f := c.Field
			if !f.Family.Numeric() {
				continue
			}
			if b, ok := v.Bool(); ok && f.Family == mapping.Boolean {
				k := bucketKey{family: mapping.Boolean}
				if b {
					k.num = 1
				}
				return k
			}
			if f.Family == mapping.Date {
				if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
					return bucketKey{family: mapping.Date, num: float64(ms)}
				}
			}
			if n, ok := v.Number(); ok {
				family := f.Family
				if family == mapping.Long {
					family = mapping.Double
				}
				return bucketKey{family: family, num: n}
			}
		}
	}
	return bucketKey{family: mapping.Keyword, text: v.Text}
}
