package typesense

import (
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// facts are what a bucket can be ordered by.
type facts struct {
	key   sortable
	count int64
	subs  []search.AggResult
}

// checkSorts refuses the bucket_sorts of an aggregation that name what is not
// there. It comes before the buckets, so that an error does not depend on
// them.
func checkSorts(a *search.Agg) error {
	for i := range a.Subs {
		body, ok := a.Subs[i].Body.(*search.BucketSortAgg)
		if !ok {
			continue
		}
		if err := checkOrder(a, body.Sort, a.Subs[i].Path+".sort"); err != nil {
			return err
		}
		if _, ok := a.Body.(*search.CompositeAgg); ok && slices.ContainsFunc(body.Sort, func(o search.BucketOrder) bool { return o.By == "_key" }) {
			return problem.Field(problem.Invalid, a.Subs[i].Path+".sort", "the buckets of composite stand by their keys already")
		}
	}
	return nil
}

// resort applies the bucket_sorts of an aggregation to its buckets.
func resort[T any](a *search.Agg, list []T, of func(*T) facts) []T {
	for i := range a.Subs {
		if body, ok := a.Subs[i].Body.(*search.BucketSortAgg); ok {
			list = bucketSort(body, list, of)
		}
	}
	return list
}

// rated is a bucket with a number for each key of its order.
type rated[T any] struct {
	bucket T
	facts  facts
	nums   []float64
	given  []bool
}

func bucketSort[T any](body *search.BucketSortAgg, list []T, of func(*T) facts) []T {
	if len(body.Sort) > 0 {
		all := make([]rated[T], 0, len(list))
		for i := range list {
			b := rated[T]{bucket: list[i], facts: of(&list[i])}
			any := false
			for _, o := range body.Sort {
				v, ok := b.facts.number(o.By)
				if !ok && body.Zeros {
					v, ok = 0, true
				}
				b.nums, b.given = append(b.nums, v), append(b.given, ok)
				any = any || ok
			}
			if any {
				all = append(all, b)
			}
		}
		slices.SortStableFunc(all, func(a, b rated[T]) int { return compareRated(body.Sort, &a, &b) })
		list = list[:0]
		for i := range all {
			list = append(list, all[i].bucket)
		}
	}
	list = list[min(body.From, len(list)):]
	if body.Size >= 0 {
		list = list[:min(body.Size, len(list))]
	}
	return list
}

// number gives what a bucket has for a key. Of an empty bucket only the count
// is known, as in Elasticsearch.
func (f *facts) number(by string) (float64, bool) {
	switch by {
	case "_key":
		return 0, true // compared by itself
	case "_count":
		return float64(f.count), true
	}
	v, ok := subValue(f.subs, by)
	return v, ok && f.count > 0
}

func compareRated[T any](order []search.BucketOrder, a, b *rated[T]) int {
	for i, o := range order {
		c := 0
		switch {
		case a.given[i] != b.given[i]:
			return int(oneIf(b.given[i])) - int(oneIf(a.given[i]))
		case o.By == "_key":
			c = a.facts.key.compare(&b.facts.key, false)
		case a.given[i]:
			c = int(oneIf(a.nums[i] > b.nums[i])) - int(oneIf(a.nums[i] < b.nums[i]))
		}
		if c != 0 && o.Desc {
			return -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func bucketFacts(b *search.Bucket) facts {
	key := sortable{num: b.Key.Num, state: isNumber}
	if b.Key.Kind == search.StringValue {
		key = sortable{text: b.Key.Text, state: isText}
	}
	return facts{key, b.Count, b.Subs}
}
