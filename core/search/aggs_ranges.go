package search

import "time"

// RangeAgg makes a bucket per range of numbers or, with Dates, of dates. From
// is in a range, To is not.
type RangeAgg struct {
	Field    string
	Ranges   []AggRange
	Dates    bool
	Keyed    bool
	Format   string // of dates, empty means that of the field; or see NumberFormat
	TimeZone string
	Missing  *Value
}

// AggRange is one range of a RangeAgg; a nil bound is open. Key may be empty.
type AggRange struct {
	Key      string
	From, To *Value
}

// HistogramAgg makes a bucket per interval of numbers or, with Dates, of
// dates.
type HistogramAgg struct {
	Field string
	// Interval is the width of a bucket; of dates in milliseconds, unless
	// Calendar is set.
	Interval float64
	Calendar CalendarUnit
	Offset   float64 // moves the buckets; of dates in milliseconds
	Dates    bool
	Keyed    bool
	Format   string
	Zone     *time.Location // never nil
	// MinDocCount 0 also gives the empty buckets between the others, and
	// from BoundMin to BoundMax.
	MinDocCount        int
	BoundMin, BoundMax *Value
	// HardMin and HardMax leave out the buckets before and after them.
	HardMin, HardMax *Value
	Missing          *Value
	Order            []BucketOrder // empty means by key, smallest first
}

// CalendarUnit is a unit whose length the calendar decides.
type CalendarUnit string

// The calendar units.
const (
	Minute  CalendarUnit = "minute"
	Hour    CalendarUnit = "hour"
	Day     CalendarUnit = "day"
	Week    CalendarUnit = "week"
	Month   CalendarUnit = "month"
	Quarter CalendarUnit = "quarter"
	Year    CalendarUnit = "year"
)

// FiltersAgg makes a bucket per query. Without Names, or with List, the buckets
// are a list.
// Other, when not empty, names a bucket of what no query matches.
type FiltersAgg struct {
	Names   []string
	Queries []Query
	Other   string
	List    bool
}

// MissingAgg is one bucket of the documents without a value in Field.
type MissingAgg struct{ Field string }

// PercentilesAgg gives the values below which Percents of the values of Field
// lie, exactly, between two values by proportion.
type PercentilesAgg struct {
	Field    string
	Percents []float64
	Keyed    bool
	Missing  *Value
	Format   string // of dates, or see NumberFormat
}

// ExtendedStats is stats with the sum of squares and what follows from it.
const ExtendedStats MetricFunc = "extended_stats"

func (*RangeAgg) aggBody()       {}
func (*HistogramAgg) aggBody()   {}
func (*FiltersAgg) aggBody()     {}
func (*MissingAgg) aggBody()     {}
func (*PercentilesAgg) aggBody() {}
