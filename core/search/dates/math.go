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
				t, _ = add(t, 1, unit)
				t = t.Add(-time.Millisecond)
			}
		}
		if !ok || t.Year() > maxYear || t.Year() < minYear {
			return 0, fmt.Errorf("%q is no date math", whole)
		}
	}
	return t.UnixMilli(), nil
}

func add(t time.Time, n int, unit byte) (time.Time, bool) {
	const year = 366 * 24 * time.Hour
	var d time.Duration
	switch unit {
	case 'y':
		return addMonths(t, 12*n), n < 30_000 && n > -30_000
	case 'M':
		return addMonths(t, n), n < 300_000 && n > -300_000
	case 'w':
		return t.AddDate(0, 0, 7*n), n < 1_500_000 && n > -1_500_000
	case 'd':
		return t.AddDate(0, 0, n), n < 10_000_000 && n > -10_000_000
	case 'h', 'H':
		d = time.Hour
	case 'm':
		d = time.Minute
	case 's':
		d = time.Second
	default:
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
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	return first.AddDate(0, 0, min(t.Day(), daysIn(first.Year(), int(first.Month())))-1)
}

func floor(t time.Time, unit byte) (time.Time, bool) {
	y, m, d := t.Date()
	loc := t.Location()
	switch unit {
	case 'y':
		return time.Date(y, 1, 1, 0, 0, 0, 0, loc), true
	case 'M':
		return time.Date(y, m, 1, 0, 0, 0, 0, loc), true
	case 'w':
		return time.Date(y, m, d-(int(t.Weekday())+6)%7, 0, 0, 0, 0, loc), true
	case 'd':
		return time.Date(y, m, d, 0, 0, 0, 0, loc), true
	case 'h', 'H':
		return time.Date(y, m, d, t.Hour(), 0, 0, 0, loc), true
	case 'm':
		return time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, loc), true
	case 's':
		return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, loc), true
	}
	return t, false
}
