package embedded

import (
	"encoding/binary"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
)

// composite is a composite aggregation on its way. The values of each source
// have numbers, so that a combination of them is a short key of a map.
type composite struct {
	run     *run
	body    *search.CompositeAgg
	sources []compositeSource
	after   []bucketing.SourceValue
	lists   bool
	n       int // sets
	slots   map[string]*combination
	// limit, when not nil, is a combination that cannot be answered any more,
	// because enough stand before it.
	limit *combination
	key   []byte
	steps int
}

// combination is a bucket on its way.
type combination struct {
	ids     []uint32
	slot    slot
	refused bool // not behind the after key
}

func (r *run) compositeAgg(a *search.Agg, body *search.CompositeAgg, sets []set) (search.ResultBody, error) {
	if err := bucketing.Check(a, nil); err != nil {
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
	var err error
	if c.after, err = bucketing.ReadAfter(a, body, func(i int) *bucketing.Source { return &c.sources[i].Source }); err != nil {
		return nil, err
	}
	for i, s := range sets {
		if err := c.collect(i, s); err != nil {
			return nil, err
		}
	}
	return c.result(a, sets)
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
			if len(src.now) == 0 && src.Missing {
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
		if !m.refused || len(c.slots) < bucketing.MaxBuckets {
			c.slots[string(c.key)] = m
		}
		if len(c.slots) > 2*bucketing.MaxBuckets {
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
		if n := s.Compare(s.values[a.ids[k]], s.values[b.ids[k]]); n != 0 {
			return n
		}
	}
	return 0
}

// behind tells whether a combination stands behind the after key.
func (c *composite) behind(m *combination) bool {
	for k := range c.sources {
		s := &c.sources[k]
		if n := s.Compare(s.values[m.ids[k]], c.after[k]); n != 0 {
			return n > 0
		}
	}
	return false
}

func (c *composite) result(a *search.Agg, sets []set) (search.ResultBody, error) {
	out := &search.CompositeBuckets{}
	for k := range c.sources {
		out.Names = append(out.Names, c.sources[k].Name)
	}
	chosen := smallest(c.candidates(), c.body.Size, c.compare)
	if err := c.run.budget.Buckets(a, len(chosen)); err != nil {
		return nil, err
	}
	for _, m := range chosen {
		b := search.CompositeBucket{Count: m.slot.count}
		for k := range c.sources {
			b.Keys = append(b.Keys, c.sources[k].Shown(c.sources[k].values[m.ids[k]]))
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
	out.Buckets = bucketing.ResortComposite(a, out.Buckets)
	return out, nil
}
