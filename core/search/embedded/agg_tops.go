package embedded

import (
	"iter"

	"github.com/quoin-cms/quoin/core/search"
)

// eachTop gives all top_hits of an answer, at any depth.
func eachTop(aggs []search.AggResult) iter.Seq[*topHits] {
	return func(yield func(*topHits) bool) { tops(aggs, yield) }
}

func tops(aggs []search.AggResult, yield func(*topHits) bool) bool {
	for _, a := range aggs {
		if t, ok := a.Body.(*topHits); ok {
			if !yield(t) {
				return false
			}
			continue
		}
		for subs := range below(a.Body) {
			if !tops(subs, yield) {
				return false
			}
		}
	}
	return true
}

// below gives the sub-aggregations of each bucket of a result.
func below(body search.ResultBody) iter.Seq[[]search.AggResult] {
	return func(yield func([]search.AggResult) bool) {
		switch b := body.(type) {
		case *search.SingleBucket:
			yield(b.Subs)
		case *search.Buckets:
			ofEach(b.Buckets, func(x *search.Bucket) []search.AggResult { return x.Subs }, yield)
		case *search.HistogramBuckets:
			ofEach(b.Buckets, func(x *search.Bucket) []search.AggResult { return x.Subs }, yield)
		case *search.RangeBuckets:
			ofEach(b.Buckets, func(x *search.RangeBucket) []search.AggResult { return x.Subs }, yield)
		case *search.FilterBuckets:
			ofEach(b.Buckets, func(x *search.SingleBucket) []search.AggResult { return x.Subs }, yield)
		case *search.CompositeBuckets:
			ofEach(b.Buckets, func(x *search.CompositeBucket) []search.AggResult { return x.Subs }, yield)
		}
	}
}

func ofEach[T any](list []T, subs func(*T) []search.AggResult, yield func([]search.AggResult) bool) {
	for i := range list {
		if s := subs(&list[i]); len(s) > 0 && !yield(s) {
			return
		}
	}
}
