package search

import "time"

// MaxWindow is the largest from+size of a search (contract-notes 1.8).
const MaxWindow = 50_000

// Request is a parsed search object (spec 2.7).
type Request struct {
	// Indices, Regex: as asked, to be resolved into a Target (see Resolve).
	Indices []string
	Regex   string
	// ContentTypes restricts hits and aggregations (not global ones) to
	// documents of these types; empty means no restriction.
	ContentTypes []string

	Query      Query // nil means all documents
	PostFilter Query // filters hits after aggregations; may be nil
	Aggs       []Agg
	Sort       []SortKey // empty means by score, best first
	From, Size int
	// After, when not nil, has a value per sort key, as a hit gives them: only
	// documents that stand behind it are hits. The total counts all.
	After     []Value
	Highlight *Highlight // nil for none
	Collapse  *Collapse  // nil for none
	Suggest   []Suggester
	// MinScore, when set, leaves out documents that score less, everywhere.
	MinScore *float64
	// TrackScores asks for scores also when they are not sorted by.
	TrackScores bool
	// TrackTotal is how the total is told: exactly, or if it is above 0 as far
	// as that, or if it is below 0 not at all.
	TrackTotal int
	Source     SourceFilter
	// Now is what "now" means in date math; zero means the time of the search.
	Now time.Time
	// Warnings are parts of the search object that were left out on purpose,
	// in words for the log.
	Warnings []string
}

// SortKey is one key of a sort. Field may be _score, _doc, _id or _index.
type SortKey struct {
	Path  string // in the JSON of the request
	Field string
	Desc  bool
	// MissingFirst puts documents without a value first; Missing, when set,
	// stands in for the value instead.
	MissingFirst bool
	Missing      *Value
	Mode         SortMode
	// NestedPath is the nested object that holds Field; NestedFilter, when
	// set, chooses among the objects.
	NestedPath   string
	NestedFilter Query
	// Geo, when not nil, orders by distance from the points of Field.
	Geo *GeoSort
}

// SortMode says which of several values of a document counts.
type SortMode string

// The modes of a sort key. SortDefault is min ascending, max descending.
const (
	SortDefault SortMode = ""
	SortMin     SortMode = "min"
	SortMax     SortMode = "max"
	SortSum     SortMode = "sum"
	SortAvg     SortMode = "avg"
)
