package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// termsRun is one terms aggregation on its way.
type termsRun struct {
	run     *run
	a       *search.Agg
	body    *search.TermsAgg
	sets    []set
	columns [][]column
	counts  map[bucketing.Key]int64
	missing bucketing.Key
	subs    map[bucketing.Key][]search.AggResult
	allowed func(bucketing.Key) bool // nil for all
	double  bool                     // some numbers may not be integers
}

func (r *run) termsAgg(a *search.Agg, body *search.TermsAgg, sets []set) (search.ResultBody, error) {
	columns, err := bucketing.Listable(columnsOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	t := &termsRun{run: r, a: a, body: body, sets: sets, columns: columns, counts: map[bucketing.Key]int64{}}
	if err := bucketing.Check(a, body.Order); err != nil {
		return nil, err
	}
	fields := mapping.FieldsOf(columns...)
	if t.allowed, err = bucketing.Choice(a, body, fields); err != nil {
		return nil, err
	}
	texts, err := bucketing.NewPrinter(fields, body.Format, a.Path)
	if err != nil {
		return nil, err
	}
	if err := t.count(); err != nil {
		return nil, err
	}
	chosen, other, err := t.choose()
	if err != nil {
		return nil, err
	}
	if err := r.budget.Buckets(a, len(chosen)); err != nil {
		return nil, err
	}
	if err := t.below(chosen); err != nil {
		return nil, err
	}
	out := &search.Buckets{Buckets: make([]search.Bucket, len(chosen)), Other: other}
	for i, k := range chosen {
		key, text := k.Shown(t.double, &texts)
		out.Buckets[i] = search.Bucket{Key: key, KeyText: text, Count: t.counts[k], Subs: t.subs[k]}
	}
	out.Buckets = bucketing.Resort(a, out.Buckets)
	return out, nil
}

// count asks for the values of all sets.
func (t *termsRun) count() error {
	if t.body.Field == indexField {
		return t.countIndices()
	}
	for _, list := range t.columns {
		t.double = t.double || slices.ContainsFunc(list, func(c column) bool { return c.Field.Family == mapping.Double })
	}
	if t.body.Missing != nil {
		t.missing = bucketing.MissingKey(*t.body.Missing, mapping.FieldsOf(t.columns...))
		t.double = t.double || t.missing.Num != float64(int64(t.missing.Num))
	}
	return t.run.each(len(t.sets), func(i int) error {
		s, list := t.sets[i], t.columns[i]
		extra := 0
		if t.body.Missing != nil {
			extra = 1
		}
		return t.run.each(len(list)+extra, func(k int) error {
			if k == len(list) {
				return t.countMissing(i)
			}
			if t.body.MinDocCount == 0 {
				if err := t.listAll(s, list[k]); err != nil {
					return err
				}
			}
			counts, err := t.run.distribution(t.a, s, list[k])
			for _, n := range counts {
				t.add(n.key, n.n)
			}
			return err
		})
	})
}

func (t *termsRun) add(k bucketing.Key, n int64) {
	t.run.mu.Lock()
	defer t.run.mu.Unlock()
	t.counts[k] += n
}

func (t *termsRun) countIndices() error {
	return t.run.each(len(t.sets), func(i int) error {
		s := t.sets[i]
		if s.sp.Parent != nil {
			return nil
		}
		n, err := t.run.count([]set{s})
		if n > 0 {
			t.add(bucketing.TextKey(s.v.gen.index), n)
		}
		return err
	})
}

func (t *termsRun) countMissing(i int) error {
	rest, err := t.run.narrowed(t.sets[i:i+1], func(set) (cond, error) { return without(t.columns[i]), nil })
	if err != nil {
		return err
	}
	n, err := t.run.count(rest)
	if n > 0 {
		t.add(t.missing, n)
	}
	return err
}

// listAll notes the values of all documents that the caller may see, so that
// those without a match are listed with 0.
func (t *termsRun) listAll(s set, c column) error {
	visible := set{s.v, s.v.root(), s.v.visible}
	if s.sp.Parent != nil {
		list, err := t.run.inside([]set{visible}, s.sp.Path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(o set) bool { return o.sp == s.sp })
		if i < 0 {
			return nil
		}
		visible = list[i]
	}
	counts, err := t.run.distribution(t.a, visible, c)
	for _, n := range counts {
		t.add(n.key, 0)
	}
	return err
}

// choose gives the keys of the buckets that are answered, in their order, and
// the number of objects in the others.
func (t *termsRun) choose() (chosen []bucketing.Key, other int64, err error) {
	least := int64(t.body.MinDocCount)
	for k, n := range t.counts {
		if n >= least && (t.allowed == nil || t.allowed(k)) {
			chosen = append(chosen, k)
			other += n
		}
	}
	if bucketing.ByNumbers(t.body.Order) {
		if err := t.below(chosen); err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(chosen, t.compare)
	chosen = chosen[:min(len(chosen), t.body.Size)]
	for _, k := range chosen {
		other -= t.counts[k]
	}
	return chosen, other, nil
}

// below computes the sub-aggregations of some buckets.
func (t *termsRun) below(keys []bucketing.Key) error {
	if len(t.a.Subs) == 0 || t.subs != nil || len(keys) == 0 {
		return nil
	}
	t.subs = make(map[bucketing.Key][]search.AggResult, len(keys))
	return t.run.each(len(keys), func(i int) error {
		members, err := t.members(keys[i])
		if err != nil {
			return err
		}
		subs, err := t.run.aggs(t.a.Subs, members)
		t.run.mu.Lock()
		defer t.run.mu.Unlock()
		t.subs[keys[i]] = subs
		return err
	})
}

// members gives the objects of a bucket.
func (t *termsRun) members(k bucketing.Key) ([]set, error) {
	var out []set
	for i, s := range t.sets {
		if t.body.Field == indexField {
			if s.v.gen.index == k.Text {
				out = append(out, s)
			}
			continue
		}
		c := hasKey(t.columns[i], k)
		if t.body.Missing != nil && k == t.missing {
			c = either(c, without(t.columns[i]))
		}
		one, err := t.run.narrowed([]set{s}, func(set) (cond, error) { return c, nil })
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

func (t *termsRun) compare(a, b bucketing.Key) int {
	order := t.body.Order
	if len(order) == 0 {
		order = []search.BucketOrder{{By: "_count", Desc: true}}
	}
	for _, o := range order {
		c := 0
		switch o.By {
		case "_count":
			c = int(t.counts[a] - t.counts[b])
		case "_key":
			c = a.Compare(b)
		default:
			if c = bucketing.CompareSubs(t.subs[a], t.subs[b], o); c != 0 {
				return c
			}
		}
		if o.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return a.Compare(b)
}
