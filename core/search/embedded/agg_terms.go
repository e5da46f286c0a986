package embedded

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
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
}

func (r *run) termsAgg(a *search.Agg, body *search.TermsAgg, sets []set) (search.ResultBody, error) {
	families, err := aggregable(sets, body.Field, a.Path)
	if err != nil {
		return nil, err
	}
	t := &termsRun{run: r, a: a, body: body, sets: sets, families: families, table: newTable(families)}
	if body.Field == indexField || body.Missing != nil || body.MinDocCount == 0 {
		t.table.own()
	}
	if err := t.checkOrder(); err != nil {
		return nil, err
	}
	t.count()
	chosen, other, err := t.choose()
	if err != nil {
		return nil, err
	}
	if err := r.spend(a, len(chosen)); err != nil {
		return nil, err
	}
	if err := t.below(chosen); err != nil {
		return nil, err
	}
	out := &search.Buckets{Buckets: make([]search.Bucket, len(chosen)), Other: other}
	for i, id := range chosen {
		key, text := t.table.result(id)
		out.Buckets[i] = search.Bucket{Key: key, KeyText: text, Count: int64(t.table.counts[id]), Subs: t.subs[id]}
	}
	return out, nil
}

// each calls f for each value of each object, whatever the field is.
func (t *termsRun) each(i int, f func(object, id uint32)) {
	s := t.sets[i]
	if t.body.Field == indexField {
		if s.sp == s.v.seg.root() && len(s.objects) > 0 {
			id := t.table.id(bucketKey{family: mapping.Keyword, text: s.v.x.name})
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

func (t *termsRun) count() {
	if t.body.MinDocCount == 0 {
		t.listAll()
	}
	if t.body.Missing != nil && t.body.Field != indexField {
		t.missID = t.table.id(t.table.missingKey(*t.body.Missing, t.families))
		t.missing = make([][]uint32, len(t.sets))
		for i, s := range t.sets {
			t.missing[i] = without(s, t.families[i])
		}
	}
	for i := range t.sets {
		t.each(i, func(_, id uint32) { t.table.counts[id]++ })
	}
}

// listAll gives numbers to the values of all documents that the caller may
// see, so that those without a match are listed with 0.
func (t *termsRun) listAll() {
	// The dictionary also has values of other documents, so none is known yet.
	t.table.ids, t.table.keys, t.table.counts = map[bucketKey]uint32{}, nil, nil
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
		if n >= least && (n > 0 || t.body.MinDocCount == 0) {
			ids = append(ids, uint32(id))
			total += int64(n)
		}
	}
	if t.ordersBySub() {
		if err := t.run.spend(t.a, len(ids)); err != nil {
			return nil, 0, err
		}
		t.run.buckets -= len(ids)
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
			c = compareSubs(t.subs[a], t.subs[b], o)
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

// compareSubs orders by a number of a sub-aggregation; buckets without one
// come last, whatever the direction.
func compareSubs(a, b []search.AggResult, o search.BucketOrder) int {
	na, okA := subValue(a, o.By)
	nb, okB := subValue(b, o.By)
	switch {
	case !okA && !okB || okA && okB && na == nb:
		return 0
	case !okA || okB && (na > nb) != o.Desc:
		return 1
	}
	return -1
}

// subValue finds the number that a path such as "parts>weight.avg" means.
func subValue(subs []search.AggResult, path string) (float64, bool) {
	first, rest, more := strings.Cut(path, ">")
	name, prop, _ := strings.Cut(first, ".")
	for _, s := range subs {
		if s.Name != name && s.Name != first {
			continue
		}
		switch body := s.Body.(type) {
		case *search.Metric:
			return body.Value, !body.Null
		case *search.StatsResult:
			return statsValue(body, prop)
		case *search.SingleBucket:
			if more && rest != "_count" {
				return subValue(body.Subs, rest)
			}
			return float64(body.Count), true
		}
	}
	return 0, false
}

func statsValue(s *search.StatsResult, prop string) (float64, bool) {
	switch prop {
	case "count":
		return float64(s.Count), true
	case "sum":
		return s.Sum, true
	case "min":
		return s.Min, s.Count > 0
	case "max":
		return s.Max, s.Count > 0
	}
	return s.Avg, s.Count > 0
}

func (t *termsRun) ordersBySub() bool {
	return slices.ContainsFunc(t.body.Order, func(o search.BucketOrder) bool { return o.By != "_count" && o.By != "_key" })
}

// checkOrder refuses orders by sub-aggregations that are not there.
func (t *termsRun) checkOrder() error {
	for _, o := range t.body.Order {
		if o.By == "_count" || o.By == "_key" || orderable(t.a.Subs, o.By) {
			continue
		}
		return problem.Field(problem.Invalid, t.a.Path+".order", "terms cannot be ordered by %q", o.By)
	}
	return nil
}

func orderable(subs []search.Agg, path string) bool {
	first, rest, more := strings.Cut(path, ">")
	name, prop, dotted := strings.Cut(first, ".")
	for _, s := range subs {
		if s.Name != name && s.Name != first {
			continue
		}
		switch body := s.Body.(type) {
		case *search.MetricAgg:
			if body.Func == search.Stats {
				return !more && slices.Contains([]string{"min", "max", "avg", "sum", "count"}, prop)
			}
			return !more && (!dotted || s.Name == first || prop == "value")
		case *search.TermsAgg:
			return false
		}
		return !more || rest == "_count" || orderable(s.Subs, rest)
	}
	return false
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
