package search

// TopHitsAgg gives the best documents, or nested objects, of a bucket.
type TopHitsAgg struct {
	From, Size int
	Sort       []SortKey // empty means by score, best first
	Source     SourceFilter
	Highlight  *Highlight // nil for none
}

// CompositeAgg makes a bucket per combination of the values of its sources,
// Size at a time, in the order of the combinations.
type CompositeAgg struct {
	Sources []CompositeSource
	Size    int
	// After, when not nil, has a value per source: only buckets behind them.
	After []Value
}

// CompositeSource is one part of the keys of a CompositeAgg: the values of a
// field, or with Histogram the intervals they lie in.
type CompositeSource struct {
	Name      string
	Field     string
	Histogram *HistogramAgg // nil for the values themselves
	Desc      bool
	// Missing also takes objects without a value, under null, which stands
	// first ascending and last descending unless MissingOrder says otherwise.
	Missing      bool
	MissingOrder MissingOrder
}

// MissingOrder says where null stands among the keys of a CompositeSource.
type MissingOrder string

// The places of null.
const (
	MissingDefault MissingOrder = ""
	MissingFirst   MissingOrder = "first"
	MissingLast    MissingOrder = "last"
)

// BucketSortAgg orders and cuts the buckets of the aggregation around it. It
// has no result of its own.
type BucketSortAgg struct {
	Sort []BucketOrder // empty leaves them in their order
	From int
	Size int // negative means all
	// Zeros takes a missing number for 0. Else a bucket without a number for
	// one of the keys comes last, and one without any is left out.
	Zeros bool
}

func (*TopHitsAgg) aggBody()    {}
func (*CompositeAgg) aggBody()  {}
func (*BucketSortAgg) aggBody() {}
