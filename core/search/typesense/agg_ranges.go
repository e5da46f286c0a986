package typesense

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// numberRange is a range and its bucket.
type numberRange struct {
	from, to float64
	out      search.RangeBucket
}

// rangeAgg counts each range by itself, so that they may overlap.
func (r *run) rangeAgg(a *search.Agg, body *search.RangeAgg, sets []set) (search.ResultBody, error) {
	columns, format, err := numeric(a, body.Field, sets)
	if err != nil {
		return nil, err
	}
	spans, err := r.spans(a, body, format)
	if err != nil {
		return nil, err
	}
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	stand := math.NaN()
	if body.Missing != nil {
		var ok bool
		if stand, ok = numberFor(*body.Missing, columns); !ok {
			return nil, problem.Field(problem.Invalid, a.Path+".missing", "%q is no value of this field", body.Missing.Text)
		}
	}
	out := &search.RangeBuckets{Keyed: body.Keyed, Buckets: make([]search.RangeBucket, len(spans))}
	err = r.each(len(spans), func(i int) error {
		s := &spans[i]
		members, err := r.between(sets, columns, span{low: s.from, high: s.to, openHigh: true}, stand >= s.from && stand < s.to)
		if err != nil {
			return err
		}
		s.out.Count, s.out.Subs, err = r.fill(a, members)
		out.Buckets[i] = s.out
		return err
	})
	out.Buckets = resort(a, out.Buckets, func(b *search.RangeBucket) facts {
		return facts{sortable{text: b.Key, state: isText}, b.Count, b.Subs}
	})
	return out, err
}

// between gives the objects of sets with a number in a span, or with missing
// also those without a number.
func (r *run) between(sets []set, columns [][]column, s span, missing bool) ([]set, error) {
	out := make([]set, len(sets))
	err := r.each(len(sets), func(i int) error {
		var list []cond
		for _, c := range columns[i] {
			list = append(list, &test{f: c.Field, column: c.Name, spans: []span{s}})
		}
		if missing {
			list = append(list, without(columns[i]))
		}
		one, err := r.narrowed(sets[i:i+1], func(set) (cond, error) { return either(list...), nil })
		if err == nil {
			out[i] = one[0]
		}
		return err
	})
	return out, err
}

// spans reads the bounds, in the order of their starts.
func (r *run) spans(a *search.Agg, body *search.RangeAgg, format *dates.Format) ([]numberRange, error) {
	loc := time.UTC
	var err error
	var plain *search.NumberFormat
	switch {
	case body.Format != "" && !body.Dates && format == nil:
		plain, err = search.ParseNumberFormat(body.Format)
	case body.Format != "" || format == nil:
		format, err = dates.Parse(body.Format)
	}
	if err != nil {
		return nil, problem.Field(problem.Invalid, a.Path+".format", "%s", err)
	}
	if body.TimeZone != "" {
		if loc, err = dates.ParseZone(body.TimeZone); err != nil {
			return nil, problem.Field(problem.Invalid, a.Path+".time_zone", "%s", err)
		}
	}
	var out []numberRange
	for _, in := range body.Ranges {
		s := numberRange{from: math.Inf(-1), to: math.Inf(1), out: search.RangeBucket{Key: in.Key}}
		low, high := "*", "*"
		for _, end := range []struct {
			value *search.Value
			num   *float64
			given **float64
			text  *string
			part  *string
		}{{in.From, &s.from, &s.out.From, &s.out.FromText, &low}, {in.To, &s.to, &s.out.To, &s.out.ToText, &high}} {
			if end.value == nil {
				continue
			}
			v, ok := end.value.Number()
			if body.Dates {
				v, err = r.date(format, *end.value, loc, false)
				ok = err == nil
			}
			if !ok {
				return nil, problem.Field(problem.Invalid, a.Path+".ranges", "%q is no bound of a range", end.value.Text)
			}
			*end.num, *end.given = v, &v
			*end.part = plainFloat(v)
			if body.Dates {
				*end.text = format.TextIn(int64(v), loc)
				*end.part = *end.text
			} else if plain != nil {
				*end.text = plain.Text(v)
				*end.part = *end.text
			}
		}
		if s.out.Key == "" {
			s.out.Key = low + "-" + high
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b numberRange) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return out, nil
}

// plainFloat writes a double as Java does.
func plainFloat(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e7 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
