package dates

import "time"

// Where the clocks of a zone are changed, the rules are those of java.time, on
// which Elasticsearch stands, and for roundings those of its class Rounding.

// local gives the instant at which the clocks of a zone show what the clock of
// UTC shows at wall: the first one if they show it twice, and as much later as
// they were put forward if they skip it.
func local(wall time.Time, zone *time.Location) time.Time {
	if zone == time.UTC {
		return wall
	}
	at, _ := resolve(wall, zone)
	return at
}

// Dawn gives when a day begins in a zone: when its clocks show midnight for the
// first time, or where they go on if they skip it. Months and days may be beyond
// their ends, as in time.Date.
func Dawn(year int, month time.Month, day int, zone *time.Location) time.Time {
	at, change := resolve(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), zone)
	if change.IsZero() {
		return at
	}
	return change
}

// Begin gives when the year (y), quarter (q), month (M), week (w) or day (d)
// begins that a time is in, by the clocks of its zone, or one so many behind it;
// false for other units. Weeks start on Monday.
func Begin(t time.Time, unit byte, more int) (time.Time, bool) {
	year, month, day := t.Date()
	switch unit {
	case 'y':
		year, month, day = year+more, 1, 1
	case 'q':
		month, day = month-(month-1)%3+time.Month(3*more), 1
	case 'M':
		month, day = month+time.Month(more), 1
	case 'w':
		day += 7*more - (int(t.Weekday())+6)%7
	case 'd':
		day += more
	default:
		return t, false
	}
	return Dawn(year, month, day, t.Location()), true
}

// resolve is local, and tells when the clocks were changed that skip the time.
// In no zone are they a day away from UTC, or changed twice within two days.
func resolve(wall time.Time, zone *time.Location) (at, change time.Time) {
	const day = 24 * time.Hour
	before, after := offset(wall.Add(-day), zone), offset(wall.Add(day), zone)
	at = wall.Add(-before).In(zone)
	if before == after || offset(at, zone) == before {
		return at, time.Time{}
	}
	if later := wall.Add(-after).In(zone); offset(later, zone) == after {
		return later, time.Time{}
	}
	change, _ = at.ZoneBounds()
	return at, change
}

// offset gives how far the clocks of a zone are from UTC.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// Floor gives the last full multiple of width that the clocks of a zone have
// shown at ms, such as the full hour. If they skipped it, that is when they were
// changed. All are milliseconds, the instants since 1970.
func Floor(ms, width int64, zone *time.Location) int64 {
	for {
		t := time.UnixMilli(ms).In(zone)
		_, seconds := t.Zone()
		past := (ms + int64(seconds)*1000) % width
		if past < 0 {
			past += width
		}
		floor := ms - past
		first, _ := t.ZoneBounds()
		change := first.UnixMilli()
		if first.IsZero() || floor >= change {
			return floor
		}
		ms = change - 1
		_, before := time.UnixMilli(ms).In(zone).Zone()
		if floor+int64(seconds-before)*1000 >= change {
			return change
		}
	}
}

// Next gives when the next multiple of width begins behind one that begins at ms,
// as Floor has it. Where the clocks are set back, one is longer than others.
func Next(ms, width int64, zone *time.Location) int64 {
	for at := ms + width; ; at += width {
		if next := Floor(at, width, zone); next > ms {
			return next
		}
	}
}
