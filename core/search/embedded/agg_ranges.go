package embedded

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// numbers gives the numeric families of a field. A field that only has strings
// is an error.
func numbers(a *search.Agg, field string, sets []set) (out [][]*family, format *dates.Format, err error) {
	families, err := aggregable(sets, field, a.Path)
	if err != nil {
		return nil, nil, err
	}
	out = make([][]*family, len(sets))
	strings, found := field == indexField, false
	for i, list := range families {
		for _, f := range list {
			if !f.field.Family.Numeric() {
				strings = true
				continue
			}
			found = true
			out[i] = append(out[i], f)
			if f.field.Family == mapping.Date && format == nil {
				format = f.field.Format
			}
		}
	}
	if strings && !found {
		return nil, nil, problem.Field(problem.Invalid, a.Path, "this aggregation needs numbers or dates, and the field %q has none", field)
	}
	return out, format, nil
}

// bucket is the objects of one bucket, set by set.
type bucket [][]uint32

// sets gives the bucket as sets, without doubles.
func (b bucket) sets(of []set) []set {
	out := make([]set, len(of))
	for i, s := range of {
		if !slices.IsSorted(b[i]) { // of several families, they came in turns
			slices.Sort(b[i])
		}
		b[i] = slices.Compact(b[i])
		out[i] = set{s.v, s.sp, b[i]}
	}
	return out
}

// fill counts a bucket and computes what is below it.
func (r *run) fill(a *search.Agg, b bucket, of []set) (int64, []search.AggResult, error) {
	if err := r.spend(a, 1); err != nil {
		return 0, nil, err
	}
	members := b.sets(of)
	subs, err := r.aggs(a.Subs, members)
	return count(members), subs, err
}

// numberRange is a range and what is in it.
type numberRange struct {
	from, to float64
	out      search.RangeBucket
	members  bucket
}

func (r *run) rangeAgg(a *search.Agg, body *search.RangeAgg, sets []set) (search.ResultBody, error) {
	families, format, err := numbers(a, body.Field, sets)
	if err != nil {
		return nil, err
	}
	spans, err := r.spans(a, body, format, len(sets))
	if err != nil {
		return nil, err
	}
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	for i, s := range sets {
		for _, f := range families[i] {
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					putInto(spans, i, object, v)
				}
			}
		}
		if body.Missing != nil {
			v, ok := numberFor(*body.Missing, families)
			if !ok {
				return nil, problem.Field(problem.Invalid, a.Path+".missing", "%q is no value of this field", body.Missing.Text)
			}
			for _, object := range without(s, families[i]) {
				putInto(spans, i, object, v)
			}
		}
	}
	out := &search.RangeBuckets{Keyed: body.Keyed}
	for i := range spans {
		b := &spans[i].out
		if b.Count, b.Subs, err = r.fill(a, spans[i].members, sets); err != nil {
			return nil, err
		}
		out.Buckets = append(out.Buckets, *b)
	}
	out.Buckets = resort(a, out.Buckets, func(b *search.RangeBucket) facts {
		return facts{sortable{text: b.Key, state: isText}, b.Count, b.Subs}
	})
	return out, nil
}

// putInto puts a value of an object into the ranges that hold it.
func putInto(spans []numberRange, set int, object uint32, v float64) {
	for n := range spans {
		if sp := &spans[n]; v >= sp.from && v < sp.to {
			sp.members[set] = append(sp.members[set], object)
		}
	}
}

// spans reads the bounds, in the order of their starts.
func (r *run) spans(a *search.Agg, body *search.RangeAgg, format *dates.Format, n int) ([]numberRange, error) {
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
		s := numberRange{from: math.Inf(-1), to: math.Inf(1), out: search.RangeBucket{Key: in.Key}, members: make(bucket, n)}
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
				v, err = (&view{run: r}).date(format, *end.value, loc, false)
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

func (r *run) filtersAgg(a *search.Agg, body *search.FiltersAgg, sets []set) (search.ResultBody, error) {
	out := &search.FilterBuckets{Names: body.Names, List: body.List}
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	buckets := make([]bucket, len(body.Queries)+1)
	for i := range buckets {
		buckets[i] = make(bucket, len(sets))
	}
	for i, s := range sets {
		masks := make([][]uint64, len(body.Queries))
		for n, q := range body.Queries {
			var err error
			if masks[n], err = r.dense(q, s); err != nil {
				return nil, err
			}
		}
		for _, object := range s.objects {
			other := true
			for n, bits := range masks {
				if w := int(object >> 6); w < len(bits) && bits[w]&(1<<(object&63)) != 0 {
					buckets[n][i] = append(buckets[n][i], object)
					other = false
				}
			}
			if last := len(buckets) - 1; other {
				buckets[last][i] = append(buckets[last][i], object)
			}
		}
	}
	if body.Other == "" {
		buckets = buckets[:len(body.Queries)]
	} else if body.Names != nil {
		out.Names = append(slices.Clone(body.Names), body.Other)
	}
	for _, b := range buckets {
		n, subs, err := r.fill(a, b, sets)
		if err != nil {
			return nil, err
		}
		out.Buckets = append(out.Buckets, search.SingleBucket{Count: n, Subs: subs})
	}
	return resortFilters(a, out), nil
}

// resortFilters applies the bucket_sorts; the names go with their buckets.
func resortFilters(a *search.Agg, in *search.FilterBuckets) *search.FilterBuckets {
	order := make([]int, len(in.Buckets))
	for i := range order {
		order[i] = i
	}
	order = resort(a, order, func(i *int) facts {
		f := facts{sortable{num: float64(*i), state: isNumber}, in.Buckets[*i].Count, in.Buckets[*i].Subs}
		if in.Names != nil {
			f.key = sortable{text: in.Names[*i], state: isText}
		}
		return f
	})
	out := &search.FilterBuckets{List: in.List, Buckets: make([]search.SingleBucket, len(order))}
	if in.Names != nil {
		out.Names = make([]string, len(order))
	}
	for to, from := range order {
		out.Buckets[to] = in.Buckets[from]
		if in.Names != nil {
			out.Names[to] = in.Names[from]
		}
	}
	return out
}

// missingAgg is of the objects without any value, of whatever kind.
func (r *run) missingAgg(a *search.Agg, body *search.MissingAgg, sets []set) (search.ResultBody, error) {
	kept := make([]set, len(sets))
	for i, s := range sets {
		kept[i] = set{s.v, s.sp, without(s, s.v.families(s.sp, body.Field))}
		if body.Field == indexField {
			kept[i].objects = nil
		}
	}
	return r.single(a, kept)
}

func (r *run) percentiles(a *search.Agg, body *search.PercentilesAgg, sets []set) (search.ResultBody, error) {
	families, _, err := numbers(a, body.Field, sets)
	if err != nil {
		return nil, err
	}
	texts, err := printerOf(families, body.Format, a.Path)
	if err != nil {
		return nil, err
	}
	var all []float64
	for i, s := range sets {
		for _, f := range families[i] {
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				all = append(all, k.seek(object)...)
			}
		}
		if body.Missing != nil {
			v, ok := numberFor(*body.Missing, families)
			if !ok {
				return nil, problem.Field(problem.Invalid, a.Path+".missing", "%q is no value of this field", body.Missing.Text)
			}
			for range without(s, families[i]) {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	out := &search.Percentiles{Keyed: body.Keyed, Percents: body.Percents}
	for _, p := range body.Percents {
		v := math.NaN()
		if n := len(all); n > 0 {
			at := p / 100 * float64(n-1)
			low := int(at)
			v = all[low]
			if low+1 < n {
				v += (at - float64(low)) * (all[low+1] - all[low])
			}
		}
		out.Values = append(out.Values, v)
		out.Texts = append(out.Texts, texts.text(v))
	}
	return out, nil
}
