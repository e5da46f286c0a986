package search

// Agg is one named aggregation of a request.
type Agg struct {
	Name string
	Path string // in the JSON of the request: "aggs.types.terms"
	Body AggBody
	Subs []Agg
	Meta []byte // an object of JSON that the result repeats, or nil
}

// AggBody is what an aggregation does: one of the pointer types of this file.
type AggBody interface{ aggBody() }

// TermsAgg makes a bucket per value of Field, which may be _index,
// _contenttype or _id.
type TermsAgg struct {
	Field       string
	Size        int
	Order       []BucketOrder // empty means by count, largest first
	Missing     *Value        // counts documents without a value under it
	MinDocCount int           // 0 also lists values that no matching document has
	Include     *TermFilter   // nil for all values
	Exclude     *TermFilter   // nil for none; stronger than Include
	Format      string        // of keys that are numbers or dates, see NumberFormat
}

// TermFilter chooses among the values of a field: by a regular expression as
// Lucene writes them, for the whole of a string, or by a list.
type TermFilter struct {
	Pattern string // empty if there is a list
	Values  []Value
}

// BucketOrder is one key of the order of buckets: "_count", "_key", or the
// path of a sub-aggregation with a number, such as "latest", "prices.avg",
// "prices[avg]" or "parts>weight". Equal buckets are ordered by key at last.
type BucketOrder struct {
	By   string
	Desc bool
}

// MetricFunc is a single-number aggregation, or stats.
type MetricFunc string

// The metrics.
const (
	Min         MetricFunc = "min"
	Max         MetricFunc = "max"
	Sum         MetricFunc = "sum"
	Avg         MetricFunc = "avg"
	ValueCount  MetricFunc = "value_count"
	Cardinality MetricFunc = "cardinality" // exact
	Stats       MetricFunc = "stats"
)

// MetricAgg computes a metric over the values of Field. Missing, when set,
// stands in for documents without a value.
type MetricAgg struct {
	Func    MetricFunc
	Field   string
	Missing *Value
	Sigma   float64 // of ExtendedStats
	Format  string  // of value_as_string: of dates, or see NumberFormat
}

// FilterAgg is one bucket of the documents that match Query.
type FilterAgg struct{ Query Query }

// NestedAgg is one bucket of the nested objects under Objects, a dotted path.
type NestedAgg struct{ Objects string }

// ReverseNestedAgg is one bucket of the documents (Objects empty) or outer
// objects that hold the nested objects at hand.
type ReverseNestedAgg struct{ Objects string }

// GlobalAgg is one bucket of all documents of the target, whatever the query.
type GlobalAgg struct{}

func (*TermsAgg) aggBody()         {}
func (*MetricAgg) aggBody()        {}
func (*FilterAgg) aggBody()        {}
func (*NestedAgg) aggBody()        {}
func (*ReverseNestedAgg) aggBody() {}
func (*GlobalAgg) aggBody()        {}
