package bucketing

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Key is the key of a bucket of terms: a string, or a number with its family.
type Key struct {
	Family mapping.Family
	Text   string
	Num    float64
}

// TextKey makes the key of a string.
func TextKey(s string) Key { return Key{Family: mapping.Keyword, Text: s} }

// NumberKey makes the key of a number of a family; long and double are the same.
func NumberKey(f mapping.Family, n float64) Key {
	if f == mapping.Long {
		f = mapping.Double
	}
	return Key{Family: f, Num: n}
}

// MissingKey gives the key that stands for objects without a value. It is a
// number if the field has numbers and the value is one.
func MissingKey(v search.Value, fields iter.Seq[*mapping.Field]) Key {
	for f := range fields {
		if !f.Family.Numeric() {
			continue
		}
		if b, ok := v.Bool(); ok && f.Family == mapping.Boolean {
			return NumberKey(mapping.Boolean, mapping.Flag(b))
		}
		if f.Family == mapping.Date {
			if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
				return NumberKey(mapping.Date, float64(ms))
			}
		}
		if n, ok := v.Number(); ok {
			return NumberKey(f.Family, n)
		}
	}
	return TextKey(v.Text)
}

// Shown writes a key as Elasticsearch does, with its second form, if it has
// one. double tells that some numbers of the field may not be integers.
func (k Key) Shown(double bool, p *Printer) (key search.SortValue, text string) {
	if !k.Family.Numeric() {
		return search.SortValue{Kind: search.StringValue, Text: strings.Clone(k.Text)}, ""
	}
	key = search.SortValue{Kind: search.NumberValue, Num: k.Num, Whole: k.Family != mapping.Double || !double}
	switch {
	case k.Family == mapping.Boolean:
		text = (&Printer{flags: true}).Text(k.Num)
	case k.Family == mapping.Date:
		text = p.Text(k.Num)
	case p.number != nil:
		text = p.number.Text(k.Num)
	}
	return key, text
}

// Compare orders keys: booleans before numbers, dates and strings.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.rank(), o.rank()), cmp.Compare(k.Num, o.Num), strings.Compare(k.Text, o.Text))
}

func (k Key) rank() rank {
	switch k.Family {
	case mapping.Boolean:
		return rankFlag
	case mapping.Date:
		return rankDate
	case mapping.Keyword, mapping.Text:
		return rankText
	}
	return rankNumber
}

// rank keeps kinds of values apart and in order.
type rank int8

const (
	rankNull rank = iota
	rankFlag
	rankNumber
	rankDate
	rankText
)
