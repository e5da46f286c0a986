package embedded

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// composite is a composite aggregation on its way. The values of each source
// have numbers, so that a combination of them is a short key of a map.
type composite struct {
	run     *run
	body    *search.CompositeAgg
	sources []compositeSource
	after   []compositeValue
	lists   bool
	n       int // sets
	slots   map[string]*combination
	// limit, when not nil, is a combination that cannot be answered any more,
	// because enough stand before it.
	limit *combination
	key   []byte
	steps int
}

// compositeSource is one source and the values found so far.
type compositeSource struct {
	def      *search.CompositeSource
	families [][]*family
	hist     *histogram // nil for the values themselves
	print    printer
	values   []compositeValue // by number; the first is null
	ids      map[compositeValue]uint32
	now      []uint32 // numbers of the values of the object at hand
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

// combination is a bucket on its way.
type combination struct {
	ids     []uint32
	slot    slot
	refused bool // not behind the after key
}

func (r *run) compositeAgg(a *search.Agg, body *search.CompositeAgg, sets []set) (search.ResultBody, error) {
	if err := checkSorts(a); err != nil {
		return nil, err
	}
	c := &composite{run: r, body: body, lists: len(a.Subs) > 0, n: len(sets), slots: map[string]*combination{}}
	for i := range body.Sources {
		s, err := r.compositeSource(a, &body.Sources[i], sets)
		if err != nil {
			return nil, err
		}
		c.sources = append(c.sources, s)
	}
	if err := c.readAfter(a); err != nil {
		return nil, err
	}
	for i, s := range sets {
		if err := c.collect(i, s); err != nil {
			return nil, err
		}
	}
	return c.result(a, sets)
}

func (r *run) compositeSource(a *search.Agg, def *search.CompositeSource, sets []set) (s compositeSource, err error) {
	s = compositeSource{def: def, values: []compositeValue{{}}, ids: map[compositeValue]uint32{}}
	where := a.Path + ".sources"
	if def.Histogram == nil {
		s.families, err = aggregable(sets, def.Field, where)
		return s, err
	}
	if s.families, _, err = numbers(&search.Agg{Path: where}, def.Field, sets); err != nil {
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

// readAfter reads the values of the after key as those of the sources.
func (c *composite) readAfter(a *search.Agg) error {
	for i, v := range c.body.After {
		value, ok := c.sources[i].read(c.run, v)
		if !ok {
			return problem.Field(problem.Invalid, a.Path+".after."+c.body.Sources[i].Name, "%q is no key of this source", v.Text)
		}
		c.after = append(c.after, value)
	}
	return nil
}

func (s *compositeSource) read(r *run, v search.Value) (compositeValue, bool) {
	if v.Kind == search.NullValue {
		return compositeValue{}, true
	}
	n, isNumber := v.Number()
	if s.hist != nil {
		if s.print.date != nil {
			ms, err := (&view{run: r}).date(s.print.date, v, s.hist.body.Zone, false)
			return compositeValue{rank: rankNumber, num: ms}, err == nil
		}
		return compositeValue{rank: rankNumber, num: n}, isNumber
	}
	dated, numeric := false, false
	for _, list := range s.families {
		for _, f := range list {
			dated = dated || f.field.Family == mapping.Date
			numeric = numeric || f.field.Family == mapping.Long || f.field.Family == mapping.Double
			if f.field.Family != mapping.Date || v.Kind != search.StringValue {
				continue
			}
			if ms, ok := f.field.Format.Millis(v.Text, time.UTC, false); ok {
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
	return compositeValue{rank: rankNumber, num: n}, isNumber
}

// collect puts the objects of a set into their combinations.
func (c *composite) collect(i int, s set) error {
	readers := make([]func(object uint32), len(c.sources))
	for k := range c.sources {
		readers[k] = c.sources[k].reader(i, s)
	}
	for n, object := range s.objects {
		if n&1023 == 0 && c.run.ctx.Err() != nil {
			return c.run.ctx.Err()
		}
		complete := true
		for k := range readers {
			src := &c.sources[k]
			src.now = src.now[:0]
			readers[k](object)
			if len(src.now) == 0 && src.def.Missing {
				src.now = append(src.now, 0)
			}
			complete = complete && len(src.now) > 0
		}
		if !complete {
			continue
		}
		if err := c.combine(i, object); err != nil {
			return err
		}
	}
	return nil
}

// reader gives what finds the numbers of the values of an object.
func (s *compositeSource) reader(i int, in set) func(object uint32) {
	if s.def.Field == indexField && s.hist == nil {
		id := s.id(compositeValue{rank: rankText, text: in.v.x.name})
		return func(uint32) {
			if in.sp == in.v.seg.root() {
				s.now = append(s.now, id)
			}
		}
	}
	var each []func(object uint32)
	for _, f := range s.families[i] {
		if f.field.Family.Numeric() {
			rank := map[mapping.Family]int8{mapping.Boolean: rankFlag, mapping.Date: rankDate}[f.field.Family]
			if rank == 0 || s.hist != nil {
				rank = rankNumber
			}
			k := cursor[float64]{c: &f.nums}
			each = append(each, func(object uint32) {
				for _, v := range k.seek(object) {
					if s.hist != nil {
						v = s.hist.floor(v)
					}
					s.add(s.id(compositeValue{rank: rank, num: v}))
				}
			})
			continue
		}
		known := make([]uint32, f.dict.size()) // 0 is null, which no string is
		k := cursor[uint32]{c: &f.ords}
		each = append(each, func(object uint32) {
			for _, ord := range k.seek(object) {
				if known[ord] == 0 {
					known[ord] = s.id(compositeValue{rank: rankText, text: f.dict.term(ord)})
				}
				s.add(known[ord])
			}
		})
	}
	return func(object uint32) {
		for _, f := range each {
			f(object)
		}
	}
}

func (s *compositeSource) id(v compositeValue) uint32 {
	id, ok := s.ids[v]
	if !ok {
		id = uint32(len(s.values))
		s.ids[v] = id
		s.values = append(s.values, v)
	}
	return id
}

func (s *compositeSource) add(id uint32) {
	if len(s.now) > 64 || !slices.Contains(s.now, id) { // doubles are found later too
		s.now = append(s.now, id)
	}
}

// combine goes through all combinations of the values of an object.
func (c *composite) combine(set int, object uint32) error {
	at := make([]int, len(c.sources))
	for {
		if c.steps++; c.steps&(1<<14-1) == 0 && c.run.ctx.Err() != nil {
			return c.run.ctx.Err()
		}
		c.key = c.key[:0]
		for k := range c.sources {
			c.key = binary.LittleEndian.AppendUint32(c.key, c.sources[k].now[at[k]])
		}
		c.count(set, object)
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < len(c.sources[k].now) {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return nil
		}
	}
}

func (c *composite) count(set int, object uint32) {
	m := c.slots[string(c.key)]
	if m == nil {
		m = &combination{ids: make([]uint32, len(c.sources))}
		for k := range m.ids {
			m.ids[k] = binary.LittleEndian.Uint32(c.key[4*k:])
		}
		if c.limit != nil && c.compare(m, c.limit) > 0 {
			return
		}
		m.refused = c.after != nil && !c.behind(m)
		if !m.refused || len(c.slots) < maxBuckets {
			c.slots[string(c.key)] = m
		}
		if len(c.slots) > 2*maxBuckets {
			c.prune()
		}
	}
	s := &m.slot
	if m.refused || s.count > 0 && s.last == object && s.set == set {
		return
	}
	s.count++
	s.last, s.set = object, set
	if c.lists {
		if s.members == nil {
			s.members = make(bucket, c.n)
		}
		s.members[set] = append(s.members[set], object)
	}
}

// prune forgets what cannot be answered any more.
func (c *composite) prune() {
	best := smallest(c.candidates(), c.body.Size, c.compare)
	if len(best) == c.body.Size {
		c.limit = best[len(best)-1]
	}
	for key, m := range c.slots {
		if m.refused || c.limit != nil && c.compare(m, c.limit) > 0 {
			delete(c.slots, key)
		}
	}
}

func (c *composite) candidates() []*combination {
	list := make([]*combination, 0, len(c.slots))
	for _, m := range c.slots {
		if !m.refused {
			list = append(list, m)
		}
	}
	return list
}

func (c *composite) compare(a, b *combination) int {
	for k := range c.sources {
		s := &c.sources[k]
		if n := s.compare(s.values[a.ids[k]], s.values[b.ids[k]]); n != 0 {
			return n
		}
	}
	return 0
}

// behind tells whether a combination stands behind the after key.
func (c *composite) behind(m *combination) bool {
	for k := range c.sources {
		s := &c.sources[k]
		if n := s.compare(s.values[m.ids[k]], c.after[k]); n != 0 {
			return n > 0
		}
	}
	return false
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
	case a.text != b.text:
		n = int(oneIf(a.text > b.text)) - int(oneIf(a.text < b.text))
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
	chosen := smallest(c.candidates(), c.body.Size, c.compare)
	if err := c.run.spend(a, len(chosen)); err != nil {
		return nil, err
	}
	for _, m := range chosen {
		b := search.CompositeBucket{Count: m.slot.count}
		for k := range c.sources {
			b.Keys = append(b.Keys, c.sources[k].write(m.ids[k]))
		}
		if c.lists {
			members := m.slot.members.sets(sets)
			b.Count = count(members)
			var err error
			if b.Subs, err = c.run.aggs(a.Subs, members); err != nil {
				return nil, err
			}
		}
		out.Buckets = append(out.Buckets, b)
	}
	if n := len(out.Buckets); n > 0 {
		out.After = out.Buckets[n-1].Keys
	}
	out.Buckets = resort(a, out.Buckets, func(b *search.CompositeBucket) facts { return facts{count: b.Count, subs: b.Subs} })
	return out, nil
}

// write gives a value as a key.
func (s *compositeSource) write(id uint32) search.CompositeKey {
	v := s.values[id]
	switch v.rank {
	case rankNull:
		return search.CompositeKey{}
	case rankFlag:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.NumberValue, Num: v.num}, Bool: true}
	case rankText:
		return search.CompositeKey{SortValue: search.SortValue{Kind: search.StringValue, Text: string([]byte(v.text))}}
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
	for _, list := range s.families {
		for _, f := range list {
			if f.field.Family == mapping.Double {
				return true
			}
		}
	}
	return false
}
