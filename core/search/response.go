package search

import "time"

// Response is the answer to a search.
type Response struct {
	Took     time.Duration
	Shards   int // how many indices were searched
	Total    int64
	MaxScore *float64 // nil when there is no hit or scores were not asked for
	Hits     []Hit
	Aggs     []AggResult // in the order of the request
	Suggest  []Suggestion
	// TrackTotal is that of the request.
	TrackTotal int
}

// Hit is one document found.
type Hit struct {
	Index  string
	Key    Key
	Ref    int64
	Score  *float64 // nil when scores were not asked for
	Sort   []SortValue
	Source []byte // JSON object, already filtered
	// Highlight has the fields in which something was marked.
	Highlight []Highlighted
	Group     *Group        // set if the hits are collapsed
	Inner     []InnerResult // in the order of the request
}

// SortValue is the value of a document for one sort key: a number, a string,
// or null when it has none. Whole tells that the number is an integer.
type SortValue struct {
	Kind  ValueKind // NullValue, StringValue or NumberValue
	Text  string
	Num   float64
	Whole bool
}

// AggResult is the result of one aggregation.
type AggResult struct {
	Name string
	Body ResultBody
	Meta []byte // of the request
}

// ResultBody is one of the pointer types below.
type ResultBody interface{ appendBody(dst []byte) []byte }

// Buckets is the result of an aggregation with many buckets. Other counts the
// documents of buckets that were cut off.
type Buckets struct {
	Buckets []Bucket
	Other   int64
}

// Bucket is one bucket of Buckets. KeyText is key_as_string, empty if the key
// has no second form.
type Bucket struct {
	Key     SortValue
	KeyText string
	Count   int64
	Subs    []AggResult
}

// SingleBucket is the result of filter, nested, reverse_nested and global.
type SingleBucket struct {
	Count int64
	Subs  []AggResult
}

// Metric is the result of a single-number aggregation. Null tells that there
// was no value. Text is value_as_string, empty if there is none; Whole that
// the number is a count.
type Metric struct {
	Value float64
	Null  bool
	Whole bool
	Text  string
}

// StatsResult is the result of stats; without values only Count and Sum are
// given. Texts, when set, holds min, max, avg and sum as dates.
type StatsResult struct {
	Count              int64
	Min, Max, Avg, Sum float64
	Texts              *[4]string
}
