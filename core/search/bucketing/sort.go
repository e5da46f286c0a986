package bucketing

import (
	"cmp"
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/sorting"
)

// facts are what a bucket can be ordered by.
type facts struct {
	key   sorting.Value
	count int64
	subs  []search.AggResult
}

// Check refuses the order of the buckets of an aggregation, and its
// bucket_sorts, if they name what is not there. It comes before the buckets, so
// that an error does not depend on them.
func Check(a *search.Agg, order []search.BucketOrder) error {
	if err := checkOrder(a, order, a.Path+".order"); err != nil {
		return err
	}
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
			return cmp.Compare(mapping.Flag(b.given[i]), mapping.Flag(a.given[i]))
		case o.By == "_key":
			c = a.facts.key.Compare(&b.facts.key, false)
		case a.given[i]:
			c = cmp.Compare(a.nums[i], b.nums[i])
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

// Resort applies the bucket_sorts of an aggregation to its buckets.
func Resort(a *search.Agg, list []search.Bucket) []search.Bucket {
	return resort(a, list, func(b *search.Bucket) facts {
		key := sorting.Number(b.Key.Num)
		if b.Key.Kind == search.StringValue {
			key = sorting.Text(b.Key.Text)
		}
		return facts{key, b.Count, b.Subs}
	})
}

// ResortRanges is Resort for the buckets of ranges.
func ResortRanges(a *search.Agg, list []search.RangeBucket) []search.RangeBucket {
	return resort(a, list, func(b *search.RangeBucket) facts { return facts{sorting.Text(b.Key), b.Count, b.Subs} })
}

// ResortComposite is Resort for the buckets of a composite, which stand by their
// keys.
func ResortComposite(a *search.Agg, list []search.CompositeBucket) []search.CompositeBucket {
	return resort(a, list, func(b *search.CompositeBucket) facts { return facts{count: b.Count, subs: b.Subs} })
}

// ResortFilters is Resort for the buckets of filters; the names go with them.
func ResortFilters(a *search.Agg, in *search.FilterBuckets) *search.FilterBuckets {
	order := make([]int, len(in.Buckets))
	for i := range order {
		order[i] = i
	}
	order = resort(a, order, func(i *int) facts {
		f := facts{sorting.Number(float64(*i)), in.Buckets[*i].Count, in.Buckets[*i].Subs}
		if in.Names != nil {
			f.key = sorting.Text(in.Names[*i])
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
