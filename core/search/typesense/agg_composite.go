package typesense

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
)

// The server cannot list combinations of values, so that they are made of the
// sources of the documents; there is a limit to how many are read.

// composite is a composite aggregation on its way.
type composite struct {
	run     *run
	body    *search.CompositeAgg
	sources []compositeSource
	after   []bucketing.SourceValue
	found   map[string]*combination
}

// combination is a bucket on its way, with its objects in each set.
type combination struct {
	values  []bucketing.SourceValue
	members [][]string
	count   int64
}

func (r *run) compositeAgg(a *search.Agg, body *search.CompositeAgg, sets []set) (search.ResultBody, error) {
	if err := bucketing.Check(a, nil); err != nil {
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
	var err error
	if c.after, err = bucketing.ReadAfter(a, body, func(i int) *bucketing.Source { return &c.sources[i].Source }); err != nil {
		return nil, err
	}
	objects := make([][]*object, len(sets))
	err = r.each(len(sets), func(i int) error {
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

// add puts an object into all combinations of its values.
func (c *composite) add(a *search.Agg, set, sets int, o *object) error {
	lists := make([][]bucketing.SourceValue, len(c.sources))
	for k := range c.sources {
		if lists[k] = c.sources[k].of(set, o); len(lists[k]) == 0 {
			return nil
		}
	}
	at := make([]int, len(lists))
	for {
		values := make([]bucketing.SourceValue, len(lists))
		for k := range lists {
			values[k] = lists[k][at[k]]
		}
		if c.after == nil || c.compare(values, c.after) > 0 {
			var key strings.Builder
			for _, v := range values {
				fmt.Fprintf(&key, "%#v", v)
			}
			m := c.found[key.String()]
			if m == nil {
				m = &combination{values: values, members: make([][]string, sets)}
				if c.found[key.String()] = m; len(c.found) > bucketing.MaxBuckets {
					return c.run.budget.Buckets(a, len(c.found))
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

func (c *composite) compare(a, b []bucketing.SourceValue) int {
	for k := range c.sources {
		if n := c.sources[k].Compare(a[k], b[k]); n != 0 {
			return n
		}
	}
	return 0
}

func (c *composite) result(a *search.Agg, sets []set) (search.ResultBody, error) {
	out := &search.CompositeBuckets{}
	for k := range c.sources {
		out.Names = append(out.Names, c.sources[k].Name)
	}
	var chosen []*combination
	for _, m := range c.found {
		chosen = append(chosen, m)
	}
	slices.SortFunc(chosen, func(a, b *combination) int { return c.compare(a.values, b.values) })
	chosen = chosen[:min(len(chosen), c.body.Size)]
	if err := c.run.budget.Buckets(a, len(chosen)); err != nil {
		return nil, err
	}
	out.Buckets = make([]search.CompositeBucket, len(chosen))
	err := c.run.each(len(chosen), func(i int) (err error) {
		b := &out.Buckets[i]
		b.Count = chosen[i].count
		for k := range c.sources {
			b.Keys = append(b.Keys, c.sources[k].Shown(chosen[i].values[k]))
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
	out.Buckets = bucketing.ResortComposite(a, out.Buckets)
	return out, err
}
