package bucketing

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Range is one range of an aggregation, from From up to, but without, To, and
// its bucket, still without a count.
type Range struct {
	From, To float64
	Bucket   search.RangeBucket
}

// Ranges reads the ranges of an aggregation, in the order of their starts.
func Ranges(a *search.Agg, body *search.RangeAgg, fields iter.Seq[*mapping.Field], now time.Time) ([]Range, error) {
	text, err := newBoundPrinter(a, body, fields)
	if err != nil {
		return nil, err
	}
	var out []Range
	for _, in := range body.Ranges {
		r := Range{From: math.Inf(-1), To: math.Inf(1), Bucket: search.RangeBucket{Key: in.Key}}
		low, high := "*", "*"
		for _, end := range []struct {
			value *search.Value
			num   *float64
			given **float64
			text  *string
			part  *string
		}{{in.From, &r.From, &r.Bucket.From, &r.Bucket.FromText, &low}, {in.To, &r.To, &r.Bucket.To, &r.Bucket.ToText, &high}} {
			if end.value == nil {
				continue
			}
			v, ok := end.value.Number()
			if body.Dates {
				v, err = mapping.DateOf(text.date, *end.value, now, text.zone, false)
				ok = err == nil
			}
			if !ok {
				return nil, problem.Field(problem.Invalid, a.Path+".ranges", "%q is no bound of a range", end.value.Text)
			}
			*end.num, *end.given = v, &v
			*end.text, *end.part = text.write(v)
		}
		if r.Bucket.Key == "" {
			r.Bucket.Key = low + "-" + high
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out, nil
}

// boundPrinter writes the bounds of ranges.
type boundPrinter struct {
	dates  bool
	date   *dates.Format
	zone   *time.Location
	number *search.NumberFormat
}

func newBoundPrinter(a *search.Agg, body *search.RangeAgg, fields iter.Seq[*mapping.Field]) (p boundPrinter, err error) {
	p.dates, p.zone, p.date = body.Dates, time.UTC, formatOf(fields)
	switch {
	case body.Format != "" && !body.Dates && p.date == nil:
		p.number, err = search.ParseNumberFormat(body.Format)
	case body.Format != "" || p.date == nil:
		p.date, err = dates.Parse(body.Format)
	}
	if err != nil {
		return p, problem.Field(problem.Invalid, a.Path+".format", "%s", err)
	}
	if body.TimeZone != "" {
		if p.zone, err = dates.ParseZone(body.TimeZone); err != nil {
			return p, problem.Field(problem.Invalid, a.Path+".time_zone", "%s", err)
		}
	}
	return p, nil
}

// formatOf gives the format of the first field with dates; nil without any.
func formatOf(fields iter.Seq[*mapping.Field]) *dates.Format {
	for f := range fields {
		if f.Family == mapping.Date {
			return f.Format
		}
	}
	return nil
}

// write gives the second form of a bound, which may be empty, and its part of
// the key of the range.
func (p *boundPrinter) write(v float64) (text, part string) {
	switch {
	case p.dates:
		text = p.date.TextIn(int64(v), p.zone)
		return text, text
	case p.number != nil:
		text = p.number.Text(v)
		return text, text
	}
	return "", plainFloat(v)
}

// plainFloat writes a double as Java does: 2.0, 0.001, 1.0E7, 1.5E-4.
func plainFloat(v float64) string {
	form := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-3 || a >= 1e7) {
		form = 'e'
	}
	number, power, scientific := strings.Cut(strconv.FormatFloat(v, form, -1, 64), "e")
	if !strings.Contains(number, ".") {
		number += ".0"
	}
	if !scientific {
		return number
	}
	sign, digits := strings.TrimRight(power[:1], "+"), strings.TrimLeft(power[1:], "0")
	return number + "E" + sign + digits
}
