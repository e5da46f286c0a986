package typesense

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

func expressTest(t *test, neg bool) *expr {
	if t.f.Family.Numeric() {
		return expressNumbers(t, neg)
	}
	sign, encode := equals(neg), EncodeKeyword
	if t.f.Family == mapping.Text {
		sign, encode = bang(neg), EncodeToken
	}
	if t.begins {
		return &expr{text: t.column + ":" + sign + t.code + "*", c: t, neg: neg, cut: true}
	}
	codes := make([]string, len(t.terms))
	for i, term := range t.terms {
		codes[i] = encode(term)
	}
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) == 0 {
		return constant(neg)
	}
	return leaf(t, neg, t.column+":"+sign+oneOrList(codes))
}

func bang(neg bool) string {
	if neg {
		return "!"
	}
	return ""
}

func oneOrList(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "[" + strings.Join(values, ",") + "]"
}

// expressNumbers writes single values as a list and each range by itself.
func expressNumbers(t *test, neg bool) *expr {
	var points []string
	out := &expr{op: '|', c: t, neg: neg}
	if neg {
		out.op = '&'
	}
	for _, s := range t.spans {
		low, high, ok := s.whole()
		switch {
		case !ok:
		case low == high:
			points = append(points, strconv.FormatInt(low, 10))
		case neg:
			out.kids = append(out.kids, leaf(t, neg, fmt.Sprintf("%s:!=[%d..%d]", t.column, low, high)))
		default:
			out.kids = append(out.kids, leaf(t, neg, fmt.Sprintf("%s:[%d..%d]", t.column, low, high)))
		}
	}
	if len(points) > 0 {
		slices.Sort(points)
		out.kids = append(out.kids, leaf(t, neg, t.column+":"+equals(neg)+oneOrList(slices.Compact(points))))
	}
	switch len(out.kids) {
	case 0:
		return constant(neg)
	case 1:
		return out.kids[0]
	}
	return out
}

// whole gives the ends of a span as the columns hold them, both included;
// false if nothing is in it.
func (s span) whole() (low, high int64, ok bool) {
	if math.IsNaN(s.low) || math.IsNaN(s.high) {
		return 0, 0, false
	}
	low, high = MinNumber, MaxNumber
	if !math.IsInf(s.low, 0) {
		if low = EncodeNumber(s.low); s.openLow {
			low++
		}
	}
	if !math.IsInf(s.high, 0) {
		if high = EncodeNumber(s.high); s.openHigh {
			high--
		}
	}
	return low, high, low <= high
}
