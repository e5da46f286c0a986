package embedded

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// termsRun is one terms aggregation on its way.
type termsRun struct {
	run      *run
	a        *search.Agg
	body     *search.TermsAgg
	sets     []set
	families [][]*family
	table    *table
	missing  [][]uint32 // per set: objects without a value, if they count
	missID   uint32
	subs     map[uint32][]search.AggResult
	allowed  func(bucketing.Key) bool // nil for all
}

func (r *run) termsAgg(a *search.Agg, body *search.TermsAgg, sets []set) (search.ResultBody, error) {
	families, err := bucketing.Listable(familiesOf(sets, body.Field), body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	t := &termsRun{run: r, a: a, body: body, sets: sets, families: families, table: r.newTable(families)}
	if body.Field == indexField || body.Missing != nil || body.MinDocCount == 0 {
		t.table.own()
	}
	if err := bucketing.Check(a, body.Order); err != nil {
		return nil, err
	}
	fields := mapping.FieldsOf(families...)
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
	for i, id := range chosen {
		key, text := t.table.key(id).Shown(t.table.double, &texts)
		out.Buckets[i] = search.Bucket{Key: key, KeyText: text, Count: int64(t.table.counts[id]), Subs: t.subs[id]}
	}
	out.Buckets = bucketing.Resort(a, out.Buckets)
	return out, nil
}

// each calls f for each value of each object, whatever the field is.
func (t *termsRun) each(i int, f func(object, id uint32)) {
	s := t.sets[i]
	if t.body.Field == indexField {
		if s.sp == s.v.seg.root() && len(s.objects) > 0 {
			id := t.table.id(bucketing.TextKey(s.v.x.name))
			for _, object := range s.objects {
				f(object, id)
			}
		}
		return
	}
	for _, fam := range t.families[i] {
		t.table.each(s, fam, f)
	}
	if t.missing != nil {
		for _, object := range t.missing[i] {
			f(object, t.missID)
		}
	}
}

func (t *termsRun) count() error {
	if t.body.MinDocCount == 0 {
		t.listAll()
	}
	if t.body.Missing != nil && t.body.Field != indexField {
		key := bucketing.MissingKey(*t.body.Missing, mapping.FieldsOf(t.families...))
		t.table.double = t.table.double || key.Num != float64(int64(key.Num))
		t.missID = t.table.id(key)
		t.missing = make([][]uint32, len(t.sets))
		for i, s := range t.sets {
			t.missing[i] = without(s, t.families[i])
		}
	}
	for i := range t.sets {
		if err := t.run.ctx.Err(); err != nil {
			return err
		}
		t.each(i, func(_, id uint32) { t.table.counts[id]++ })
	}
	return nil
}

// listAll gives numbers to the values of all documents that the caller may
// see, so that those without a match are listed with 0.
func (t *termsRun) listAll() {
	// The dictionary also has values of other documents, so none is known yet.
	t.table.ids, t.table.keys, t.table.counts = map[bucketing.Key]uint32{}, nil, nil
	t.table.remaps = map[*family][]uint32{}
	for i, s := range t.sets {
		all := set{s.v, s.sp, s.sp.lower(s.v.seg.root(), s.v.visible.ToArray())}
		for _, fam := range t.families[i] {
			t.table.each(all, fam, func(_, _ uint32) {})
		}
	}
}

// without gives the objects of a set that have no value in the families.
func without(s set, families []*family) []uint32 {
	out := make([]uint32, 0, len(s.objects))
	for _, object := range s.objects {
		if !slices.ContainsFunc(families, func(f *family) bool { return f.has.Contains(object) }) {
			out = append(out, object)
		}
	}
	return out
}

// choose gives the ids of the buckets that are answered, in their order, and
// the number of objects in the others.
func (t *termsRun) choose() (chosen []uint32, other int64, err error) {
	least := uint32(t.body.MinDocCount)
	total := int64(0)
	var ids []uint32
	for id, n := range t.table.counts {
		if n >= least && (n > 0 || t.body.MinDocCount == 0) && (t.allowed == nil || t.allowed(t.table.key(uint32(id)))) {
			ids = append(ids, uint32(id))
			total += int64(n)
		}
	}
	if bucketing.ByNumbers(t.body.Order) {
		if err := t.run.budget.Buckets(t.a, len(ids)); err != nil {
			return nil, 0, err
		}
		t.run.budget.Return(len(ids))
		if err := t.below(ids); err != nil {
			return nil, 0, err
		}
	}
	chosen = smallest(ids, t.body.Size, t.compare)
	for _, id := range chosen {
		total -= int64(t.table.counts[id])
	}
	return chosen, total, nil
}

func (t *termsRun) compare(a, b uint32) int {
	order := t.body.Order
	if len(order) == 0 {
		if ca, cb := t.table.counts[a], t.table.counts[b]; ca != cb {
			return int(cb) - int(ca)
		}
		return t.table.compare(a, b)
	}
	for _, o := range order {
		c := 0
		switch o.By {
		case "_count":
			c = int(t.table.counts[a]) - int(t.table.counts[b])
		case "_key":
			c = t.table.compare(a, b)
		default:
			c = bucketing.CompareSubs(t.subs[a], t.subs[b], o)
			if c != 0 {
				return c
			}
		}
		if c != 0 {
			if o.Desc {
				return -c
			}
			return c
		}
	}
	return t.table.compare(a, b)
}

// below computes the sub-aggregations of some buckets.
func (t *termsRun) below(ids []uint32) error {
	if len(t.a.Subs) == 0 || t.subs != nil || len(ids) == 0 {
		return nil
	}
	t.subs = make(map[uint32][]search.AggResult, len(ids))
	slot := make([]uint32, len(t.table.counts))
	for i := range slot {
		slot[i] = gone
	}
	for i, id := range ids {
		slot[id] = uint32(i)
	}
	members := make([][]set, len(ids))
	for i, s := range t.sets {
		lists := make([][]uint32, len(ids))
		t.each(i, func(object, id uint32) {
			if k := slot[id]; k != gone {
				lists[k] = append(lists[k], object)
			}
		})
		for k, objects := range lists {
			slices.Sort(objects) // of several families, they came in turns
			members[k] = append(members[k], set{s.v, s.sp, slices.Compact(objects)})
		}
	}
	for i, id := range ids {
		subs, err := t.run.aggs(t.a.Subs, members[i])
		if err != nil {
			return err
		}
		t.subs[id] = subs
	}
	return nil
}
