package bucketing

import (
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// Buckets of dates begin when the clocks of a zone show a full hour, midnight,
// the first of a month and so on: where clocks are changed as dates.Floor and
// dates.Dawn say, which is what Elasticsearch does. Other than there, an instant
// never lies behind the end of its bucket, also where clocks are set back over
// midnight.

// dayUnits are the units of which buckets begin at midnight, as package dates
// knows them.
var dayUnits = map[search.CalendarUnit]byte{search.Day: 'd', search.Week: 'w', search.Month: 'M', search.Quarter: 'q', search.Year: 'y'}

// floorDate gives when the bucket begins that holds an instant; both in
// milliseconds since 1970.
func (h *Histogram) floorDate(ms int64) int64 {
	unit, ok := dayUnits[h.Calendar]
	if !ok {
		return dates.Floor(ms, h.width(), h.Zone)
	}
	t := time.UnixMilli(ms).In(h.Zone)
	if next, _ := dates.Begin(t, unit, 1); next.UnixMilli() <= ms {
		return next.UnixMilli()
	}
	begin, _ := dates.Begin(t, unit, 0)
	return begin.UnixMilli()
}

// afterDate gives when the bucket behind the one that begins at an instant
// begins.
func (h *Histogram) afterDate(key int64) int64 {
	if unit, ok := dayUnits[h.Calendar]; ok {
		next, _ := dates.Begin(time.UnixMilli(key).In(h.Zone), unit, 1)
		return next.UnixMilli()
	}
	return dates.Next(key, h.width(), h.Zone)
}

// width gives the milliseconds by the clock that a bucket has which need not
// begin at midnight.
func (h *Histogram) width() int64 {
	switch h.Calendar {
	case search.Minute:
		return time.Minute.Milliseconds()
	case search.Hour:
		return time.Hour.Milliseconds()
	}
	return int64(h.Interval)
}
