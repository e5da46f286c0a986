package bucketing

import (
	"sync/atomic"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// Budget counts what the aggregations of one answer make. It is safe for
// concurrent use.
type Budget struct{ buckets, hits atomic.Int64 }

// Buckets counts buckets of an aggregation; more than MaxBuckets in all are an
// error.
func (b *Budget) Buckets(a *search.Agg, n int) error {
	if b.buckets.Add(int64(n)) > MaxBuckets {
		return tooMany(a)
	}
	return nil
}

// Return takes back buckets that were counted and are not in the answer.
func (b *Budget) Return(n int) { b.buckets.Add(-int64(n)) }

// TopHits counts hits of a top_hits; more than MaxTopHits in all are an error.
func (b *Budget) TopHits(a *search.Agg, n int) error {
	if b.hits.Add(int64(n)) > MaxTopHits {
		return problem.Field(problem.Invalid, a.Path, "the top_hits of all buckets give more than %d hits", MaxTopHits)
	}
	return nil
}
