package embedded

import (
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// aggregable gives the families of a path of which values can be listed. A
// path that is only text has none, which is an error.
func aggregable(sets []set, path, where string) ([][]*family, error) {
	out := make([][]*family, len(sets))
	found, text, points := false, false, false
	for i, s := range sets {
		for _, f := range s.v.families(s.sp, path) {
			if f.field.Family == mapping.Geo {
				points = true
				continue
			}
			if !f.listed() {
				text = true
				continue
			}
			found = true
			out[i] = append(out[i], f)
		}
	}
	if points && !found {
		return nil, problem.Field(problem.Invalid, where, "the field %q has points, of which there are no aggregations", path)
	}
	if text && !found && path != indexField {
		return nil, problem.Field(problem.Invalid, where,
			"the field %q is text, of which only words are known; use a keyword, such as %q", path, path+".keyword")
	}
	return out, nil
}

// bucketKey is the key of a bucket: a string, or a number with its family, in
// which long and double are the same.
type bucketKey struct {
	family mapping.Family
	text   string
	num    float64
}

// result writes a key as Elasticsearch does.
func (t *table) result(id uint32, texts *printer) (key search.SortValue, text string) {
	k := t.key(id)
	if !k.family.Numeric() {
		return search.SortValue{Kind: search.StringValue, Text: strings.Clone(k.text)}, ""
	}
	key = search.SortValue{Kind: search.NumberValue, Num: k.num, Whole: k.family != mapping.Double || !t.double}
	switch {
	case k.family == mapping.Boolean:
		text = (&printer{flags: true}).text(k.num)
	case k.family == mapping.Date:
		text = texts.text(k.num)
	case texts.number != nil:
		text = texts.number.Text(k.num)
	}
	return key, text
}

// numberFor reads what stands in for a missing value as a number: of a field
// with dates also a date, of one with booleans also true and false.
func numberFor(v search.Value, families [][]*family) (float64, bool) {
	for _, list := range families {
		for _, f := range list {
			switch f.field.Family {
			case mapping.Date:
				if ms, ok := f.field.Format.Millis(v.Text, time.UTC, false); ok && v.Kind == search.StringValue {
					return float64(ms), true
				}
			case mapping.Boolean:
				if b, ok := v.Bool(); ok {
					return float64(oneIf(b)), true
				}
			}
		}
	}
	return v.Number()
}

// missingKey gives the key that stands for objects without a value. It is a
// number if the field has numbers and the value is one.
func (t *table) missingKey(v search.Value, families [][]*family) bucketKey {
	for _, list := range families {
		for _, f := range list {
			if !f.field.Family.Numeric() {
				continue
			}
			if b, ok := v.Bool(); ok && f.field.Family == mapping.Boolean {
				k := bucketKey{family: mapping.Boolean}
				if b {
					k.num = 1
				}
				return k
			}
			if f.field.Family == mapping.Date {
				if ms, ok := f.field.Format.Millis(v.Text, time.UTC, false); ok {
					return bucketKey{family: mapping.Date, num: float64(ms)}
				}
			}
			if n, ok := v.Number(); ok {
				t.double = t.double || n != float64(int64(n))
				return bucketKey{family: f.field.Family, num: n}
			}
		}
	}
	return bucketKey{family: mapping.Keyword, text: v.Text}
}
