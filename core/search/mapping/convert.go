package mapping

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// convert brings a scalar into the family of a leaf. What does not fit is
// kept as a keyword of the same path, so that it can still be found.
func (r *Record) convert(n *node, l *leaf, object int, s []byte, kind jsonx.Kind) {
	v := Value{Field: l.field, Object: r.up(object, l.up)}
	ok := true
	switch l.field.Family {
	case Text:
		v.Text = s
	case Keyword:
		if len(s) > l.ignoreAbove && utf8.RuneCount(s) > l.ignoreAbove {
			return
		}
		v.Text = s
	case Boolean:
		v.Num, ok = Flag(len(s) > 0 && s[0] == 't'), string(s) == "true" || string(s) == "false" || len(s) == 0
	case Geo:
		p, err := geo.Parse(string(s[:min(len(s), maxPoint)]))
		if v.Num = p.Code(); err != nil {
			return // what is no point is in the source only
		}
	case Date:
		v.Num, ok = date(l.field.Format, s, kind)
	default:
		v.Num, _, ok = number(s)
		ok = ok && kind != jsonx.Bool
		if l.field.Family == Long {
			v.Num = truncate(v.Num)
		}
	}
	switch {
	case ok:
		r.Values = append(r.Values, v)
	case len(s) > 0 && l.up == 0 && l.field.Path == n.path:
		r.asKeyword(n, object, s)
	}
}

// maxPoint is how many bytes of a string may spell a point.
const maxPoint = 100

// points takes the value that comes next, at a node mapped as points, in any
// form: an array of two numbers is one point.
func (r *Record) points(n *node, object int) error {
	raw, err := r.p.Skip()
	if err != nil {
		return err
	}
	for _, p := range geo.Points(raw) {
		for i := range n.leaves {
			if l := &n.leaves[i]; l.field.Family == Geo {
				r.Values = append(r.Values, Value{Object: r.up(object, l.up), Field: l.field, Num: p.Code()})
			}
		}
	}
	return nil
}

// asKeyword keeps what does not fit its field.
func (r *Record) asKeyword(n *node, object int, s []byte) {
	f := r.plan.reg.field(Field{Space: n.space, Path: n.path, Family: Keyword})
	if f != nil && len(s) <= 8191 {
		r.Values = append(r.Values, Value{Object: object, Field: f, Text: s})
	}
}

func date(f *dates.Format, s []byte, kind jsonx.Kind) (float64, bool) {
	if kind == jsonx.Bool {
		return 0, false
	}
	ms, ok := f.Millis(string(s[:min(len(s), 101)]), time.UTC, false)
	return float64(ms), ok
}

// Flag is how a boolean is kept: 1 or 0.
func Flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func truncate(f float64) float64 {
	if f > -1<<53 && f < 1<<53 {
		return float64(int64(f))
	}
	return f
}

// number reads a finite number and tells whether it is written as an integer.
func number(s []byte) (f float64, whole, ok bool) {
	if len(s) > 0 && len(s) <= 15 {
		n, i := int64(0), 0
		if s[0] == '-' {
			i = 1
		}
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n = n*10 + int64(s[i]-'0')
		}
		if i == len(s) && s[i-1] != '-' {
			if s[0] == '-' {
				n = -n
			}
			return float64(n), true, true
		}
	}
	text := strings.TrimSpace(string(s[:min(len(s), 400)]))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != f || f-f != 0 || strings.ContainsAny(text, "xX_pP") {
		return 0, false, false
	}
	return f, !strings.ContainsAny(text, ".eE"), true
}
