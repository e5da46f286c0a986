package dates

import (
	"fmt"
	"strings"
	"time"
)

// Math reads a date that may use date math: "now" or a date followed by "||",
// then steps such as +1d, -2h, and roundings such as /M. Weeks start on
// Monday. With up, roundings and parts that are not given go to the last
// millisecond. loc is the zone of dates without one and of roundings.
func (f *Format) Math(s string, now time.Time, loc *time.Location, up bool) (int64, error) {
	if len(s) > 200 {
		return 0, fmt.Errorf("a date is longer than 200 bytes")
	}
	rest, isNow := strings.CutPrefix(s, "now")
	if isNow {
		return steps(now.In(loc), rest, s, up)
	}
	date, rest, math := strings.Cut(s, "||")
	ms, ok := f.Millis(date, loc, up && (!math || rest == ""))
	if !ok {
		return 0, fmt.Errorf("%q is no date of the format %s", date, f.src)
	}
	if !math {
		return ms, nil
	}
	return steps(time.UnixMilli(ms).In(loc), rest, s, up)
}

func steps(t time.Time, rest, whole string, up bool) (int64, error) {
	for rest != "" {
		op := rest[0]
		r := reader{s: rest, at: 1}
		n := 1
		if op != '/' {
			if v, ok := r.digits(1, 9); ok {
				n = v
			}
		}
		if strings.IndexByte("+-/", op) < 0 || r.at >= len(rest) {
			return 0, fmt.Errorf("%q is no date math", whole)
		}
		unit := rest[r.at]
		rest = rest[r.at+1:]
		var ok bool
		switch op {
		case '+':
			t, ok = add(t, n, unit)
		case '-':
			t, ok = add(t, -n, unit)
		default:
			t, ok = floor(t, unit)
			if ok && up {
				t = after(t, unit).Add(-time.Millisecond)
			}
		}
		if !ok || t.Year() > maxYear || t.Year() < minYear {
			return 0, fmt.Errorf("%q is no date math", whole)
		}
	}
	return t.UnixMilli(), nil
}

// clockUnits are those of which a day has full ones.
var clockUnits = map[byte]time.Duration{'h': time.Hour, 'H': time.Hour, 'm': time.Minute, 's': time.Second}

func add(t time.Time, n int, unit byte) (time.Time, bool) {
	const year = 366 * 24 * time.Hour
	switch unit {
	case 'y':
		return addMonths(t, 12*n), n < 30_000 && n > -30_000
	case 'M':
		return addMonths(t, n), n < 300_000 && n > -300_000
	case 'w':
		return addDays(t, 7*n), n < 1_500_000 && n > -1_500_000
	case 'd':
		return addDays(t, n), n < 10_000_000 && n > -10_000_000
	}
	d, ok := clockUnits[unit]
	if !ok {
		return t, false
	}
	if limit := 250 * year / d; time.Duration(n) > limit || time.Duration(-n) > limit {
		return t, false
	}
	return t.Add(time.Duration(n) * d), true
}

// addMonths keeps the day of the month, or takes the last one of a shorter
// month, as Java does.
func addMonths(t time.Time, n int) time.Time {
	if n > 300_000 || n < -300_000 {
		return t
	}
	year, month, day := t.Date()
	day = min(day, daysIn(year, int(month)+n))
	return local(time.Date(year, month+time.Month(n), day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), t.Location())
}

func addDays(t time.Time, n int) time.Time {
	year, month, day := t.Date()
	return local(time.Date(year, month, day+n, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC), t.Location())
}

// floor gives when the unit begins that a time is in.
func floor(t time.Time, unit byte) (time.Time, bool) {
	if begin, ok := Begin(t, unit, 0); ok {
		return begin, true
	}
	width, ok := clockUnits[unit]
	if !ok {
		return t, false
	}
	return time.UnixMilli(Floor(t.UnixMilli(), width.Milliseconds(), t.Location())).In(t.Location()), true
}

// after gives when the unit behind one that begins at a time begins.
func after(t time.Time, unit byte) time.Time {
	if next, ok := Begin(t, unit, 1); ok {
		return next
	}
	return time.UnixMilli(Next(t.UnixMilli(), clockUnits[unit].Milliseconds(), t.Location())).In(t.Location())
}
