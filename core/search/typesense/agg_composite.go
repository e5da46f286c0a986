package typesense

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// The server cannot list combinations of values, so that they are made of the
// sources of the documents; there is a limit to how many are read.

// composite is a composite aggregation on its way.
type composite struct {
	run     *run
	body    *search.CompositeAgg
	sources []compositeSource
	after   []compositeValue
	found   map[string]*combination
}

// compositeSource is one source.
type compositeSource struct {
	def     *search.CompositeSource
	columns [][]column
	hist    *histogram // nil for the values themselves
	print   printer
}

// compositeValue is one value; its rank keeps kinds apart and in order.
type compositeValue struct {
	rank int8
	num  float64
	text string
}

// The ranks, as terms are ordered.
const (
	rankNull int8 = iota
	rankFlag
	rankNumber
	rankDate
	rankText
)

// combination is a bucket on its way, with its objects in each set.
type combination struct {
	values  []compositeValue
	members [][]string
	count   int64
}

func (r *run) compositeAgg(a *search.Agg, body *search.CompositeAgg, sets []set) (search.ResultBody, error) {
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	c := &composite{run: r, body: body, found: map[string]*combination{}}
	for i := range body.Sources {
		s, err := r.compositeSource(a, &body.Sources[i], sets)
		if err != nil {
			return nil, err
		}
		c.sources = append(c.sources, s)
	}
	for i, v := range body.After {
		value, ok := c.sources[i].read(r, v)
		if !ok {
			return nil, problem.Field(problem.Invalid, a.Path+".after."+body.Sources[i].Name, "%q is no key of this source", v.Text)
		}
		c.after = append(c.after, value)
	}
	objects := make([][]*object, len(sets))
	err := r.each(len(sets), func(i int) error {
		e, some, err := sets[i].entry()
		if err != nil || !some {
			return err
		}
		objects[i], err = sets[i].v.fetch(sets[i].sp, e, &search.Clause{Name: "composite", Path: a.Path}, "combinations of values")
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, list := range objects {
		for _, o := range list {
			if err := c.add(a, i, len(sets), o); err != nil {
				return nil, err
			}
		}
	}
	return c.result(a, sets)
}

func (r *run) compositeSource(a *search.Agg, def *search.CompositeSource, sets []set) (s compositeSource, err error) {
	s = compositeSource{def: def}
	where := a.Path + ".sources"
	if def.Histogram == nil {
		s.columns, err = listable(sets, def.Field, where)
		return s, err
	}
	if s.columns, _, err = numeric(&search.Agg{Path: where}, def.Field, sets); err != nil {
		return s, err
	}
	s.hist = &histogram{body: def.Histogram}
	if def.Histogram.Dates && def.Histogram.Format != "" {
		s.print.zone = def.Histogram.Zone
		if s.print.date, err = dates.Parse(def.Histogram.Format); err != nil {
			return s, problem.Field(problem.Invalid, where, "%s", err)
		}
	}
	return s, nil
}

// read reads a value of the after key as one of the source.
func (s *compositeSource) read(r *run, v search.Value) (compositeValue, bool) {
	if v.Kind == search.NullValue {
		return compositeValue{}, true
	}
	n, number := v.Number()
	if s.hist != nil {
		if s.print.date != nil {
			ms, err := r.date(s.print.date, v, s.hist.body.Zone, false)
			return compositeValue{rank: rankNumber, num: ms}, err == nil
		}
		return compositeValue{rank: rankNumber, num: n}, number
	}
	dated, numeric := false, false
	for _, list := range s.columns {
		for _, c := range list {
			dated = dated || c.Field.Family == mapping.Date
			numeric = numeric || c.Field.Family == mapping.Long || c.Field.Family == mapping.Double
			if c.Field.Family != mapping.Date || v.Kind != search.StringValue {
				continue
			}
			if ms, ok := c.Field.Format.Millis(v.Text, time.UTC, false); ok {
				return compositeValue{rank: rankDate, num: float64(ms)}, true
			}
		}
	}
	switch {
	case v.Kind == search.BoolValue:
		return compositeValue{rank: rankFlag, num: float64(oneIf(v.Text == "true"))}, true
	case v.Kind == search.StringValue:
		return compositeValue{rank: rankText, text: v.Text}, true
	case dated && !numeric:
		return compositeValue{rank: rankDate, num: n}, true
	}
	return compositeValue{rank: rankNumber, num: n}, number
}

// of gives the values of an object of a set.
func (s *compositeSource) of(set int, o *object) []compositeValue {
	var out []compositeValue
	add := func(v compositeValue) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if s.def.Field == indexField && s.hist == nil && o.up == nil {
		add(compositeValue{rank: rankText, text: o.doc.view.gen.index})
	}
	for _, c := range s.columns[set] {
		switch {
		case c.Field.Family == mapping.Text:
			for _, term := range o.tokens(c.Field, c.Name).terms {
				add(compositeValue{rank: rankText, text: term})
			}
		case !c.Field.Family.Numeric():
			for _, w := range o.values(c.Name) {
				add(compositeValue{rank: rankText, text: w.text})
			}
		default:
			for _, w := range o.values(c.Name) {
				add(s.number(c.Field.Family, w.num))
			}
		}
	}
	if len(out) == 0 && s.def.Missing {
		add(compositeValue{})
	}
	return out
}

func (s *compositeSource) number(f mapping.Family, n float64) compositeValue {
	switch {
	case s.hist != nil:
		return compositeValue{rank: rankNumber, num: s.hist.floor(n)}
	case f == mapping.Boolean:
		return compositeValue{rank: rankFlag, num: n}
	case f == mapping.Date:
		return compositeValue{rank: rankDate, num: n}
	}
	return compositeValue{rank: rankNumber, num: n}
}

// add puts an object into all combinations of its values.
func (c *composite) add(a *search.Agg, set, sets int, o *object) error {
	lists := make([][]compositeValue, len(c.sources))
	for k := range c.sources {
		if lists[k] = c.sources[k].of(set, o); len(lists[k]) == 0 {
			return nil
		}
	}
	at := make([]int, len(lists))
	for {
		values := make([]compositeValue, len(lists))
		for k := range lists {
			values[k] = lists[k][at[k]]
		}
		if c.after == nil || c.compare(values, c.after) > 0 {
			var key strings.Builder
			for _, v := range values {
				fmt.Fprintf(&key, "%d %g %q,", v.rank, v.num, v.text)
			}
			m := c.found[key.String()]
			if m == nil {
				m = &combination{values: values, members: make([][]string, sets)}
				if c.found[key.String()] = m; len(c.found) > maxBuckets {
					return c.run.spend(a, len(c.found))
				}
			}
			m.count++
			m.members[set] = append(m.members[set], o.id)
		}
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < len(lists[k]) {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return nil
		}
	}
}

func (c *composite) compare(a, b []compositeValue) int {
	for k := range c.sources {
		if n := c.sources[k].compare(a[k], b[k]); n != 0 {
			return n
		}
	}
	return 0
}

func (s *compositeSource) compare(a, b compositeValue) int {
	if (a.rank == rankNull) != (b.rank == rankNull) {
		first := s.def.MissingOrder == search.MissingFirst || s.def.MissingOrder == search.MissingDefault && !s.def.Desc
		if (a.rank == rankNull) == first {
			return -1
		}
		return 1
	}
	n := int(a.rank) - int(b.rank)
	switch {
	case n != 0:
	case a.num != b.num:
		n = int(oneIf(a.num > b.num)) - int(oneIf(a.num < b.num))
	default:
		n = strings.Compare(a.text, b.text)
	}
	if s.def.Desc {
		return -n
	}
	return n
}

func (c *composite) result(a *search.Agg, sets []set) (search.ResultBody, error) {
	out := &search.CompositeBuckets{}
	for k := range c.sources {
		out.Names = append(out.Names, c.sources[k].def.Name)
	}
	var chosen []*combination
	for _, m := range c.found {
		chosen = append(chosen, m)
	}
	slices.SortFunc(chosen, func(a, b *combination) int { return c.compare(a.values, b.values) })
	chosen = chosen[:min(len(chosen), c.body.Size)]
	if err := c.run.spend(a, len(chosen)); err != nil {
		return nil, err
	}
	out.Buckets = make([]search.CompositeBucket, len(chosen))
	err := c.run.each(len(chosen), func(i int) (err error) {
		b := &out.Buckets[i]
		b.Count = chosen[i].count
		for k := range c.sources {
			b.Keys = append(b.Keys, c.sources[k].write(chosen[i].values[k]))
		}
		if len(a.Subs) == 0 {
			return nil
		}
		members := make([]set, len(sets))
		for k, s := range sets {
			members[k] = set{s.v, s.sp, amongIDs("id", chosen[i].members[k])}
		}
		b.Subs, err = c.run.aggs(a.Subs, members)
		return err
	})
	if n := len(out.Buckets); n > 0 {
		out.After = out.Buckets[n-1].Keys
	}
	out.Buckets = resort(a, out.Buckets, func(b *search.CompositeBucket) facts { return facts{count: b.Count, subs: b.Subs} })
	return out, err
}

// write gives a value as a key.
func (s *compositeSource) write(v compositeValue) search.CompositeKey {
	switch v.rank {
	case rankNull:
		return search.CompositeKey{}
	case rankFlag:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num}, Bool: true}
	case rankText:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: v.text}}
	}
	if s.print.date != nil {
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: s.print.text(v.num)}}
	}
	whole := v.rank == rankDate || s.hist != nil && s.hist.body.Dates
	if s.hist == nil && v.rank == rankNumber {
		whole = !s.fractions() && v.num == math.Trunc(v.num)
	}
	return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num, Whole: whole}}
}

// fractions tells whether the field holds doubles.
func (s *compositeSource) fractions() bool {
	return slices.ContainsFunc(s.columns, func(list []column) bool {
		return slices.ContainsFunc(list, func(c column) bool { return c.Field.Family == mapping.Double })
	})
}
