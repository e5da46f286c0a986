package dates

import (
	"strconv"
	"time"
)

// Limits of years: what four digits can say, with room for a sign.
const (
	minYear = -9999
	maxYear = 9999
)

// fields is a date taken apart. A negative number is a part that was not
// given.
type fields struct {
	year, month, day, hour, minute, second, nano int
	zone                                         *time.Location
	pm                                           int // 0 am, 1 pm
	yearDay                                      int
}

func noFields() fields {
	return fields{year: -1 << 20, month: -1, day: -1, hour: -1, minute: -1, second: -1, nano: -1, pm: -1, yearDay: -1}
}

// millis puts the date together. Parts that were not given take their least
// value, or with up their greatest. ok is false for dates that do not exist.
func (f *fields) millis(loc *time.Location, up bool) (ms int64, ok bool) {
	if f.zone != nil {
		loc = f.zone
	}
	pick := func(v, least, most int) int {
		if v >= 0 {
			return v
		}
		if up {
			return most
		}
		return least
	}
	year := f.year
	if year == -1<<20 {
		year = 1970 // a time of day alone
		if f.month < 0 && f.day < 0 {
			f.month, f.day = 1, 1
		}
	}
	if f.pm >= 0 && f.hour >= 0 {
		f.hour = f.hour%12 + 12*f.pm
	}
	month, day := pick(f.month, 1, 12), f.day
	if f.yearDay > 0 {
		month, day = 1, f.yearDay
	}
	if day < 0 {
		day = pick(-1, 1, daysIn(year, month))
	}
	if year < minYear || year > maxYear || month < 1 || month > 12 || day < 1 ||
		f.yearDay < 0 && day > daysIn(year, month) || f.yearDay > 366 || f.hour > 24 || f.minute > 59 || f.second > 59 ||
		f.hour == 24 && (f.minute > 0 || f.second > 0) {
		return 0, false
	}
	wall := time.Date(year, time.Month(month), day, pick(f.hour, 0, 23), pick(f.minute, 0, 59), pick(f.second, 0, 59),
		pick(f.nano, 0, 999_999_999), time.UTC)
	return local(wall, loc).UnixMilli(), true
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// parseISO reads strict_date_optional_time: yyyy, yyyy-MM, yyyy-MM-dd and then
// T with hours, minutes, seconds, a fraction and a zone, each optional.
// Without strict, parts may have fewer digits.
func parseISO(s string, strict bool) (fields, bool) {
	f := noFields()
	r := reader{s: s}
	width := func(n int) (int, int) {
		if strict {
			return n, n
		}
		return 1, n
	}
	sign := 1
	if r.skip('-') {
		sign = -1
	}
	year, ok := r.digits(width(4))
	if !ok {
		return f, false
	}
	f.year = sign * year
	if r.skip('-') {
		if f.month, ok = r.digits(width(2)); !ok {
			return f, false
		}
		if r.skip('-') {
			if f.day, ok = r.digits(width(2)); !ok {
				return f, false
			}
		}
	}
	if r.skip('T') && !isoTime(&r, &f, width) {
		return f, false
	}
	return f, r.at == len(s)
}

func isoTime(r *reader, f *fields, width func(int) (int, int)) bool {
	parts := [3]*int{&f.hour, &f.minute, &f.second}
	for i, part := range parts {
		if i > 0 && !r.skip(':') {
			break
		}
		n, ok := r.digits(width(2))
		if !ok {
			return i == 0 && r.at == len(r.s) // "2020-01-01T" is allowed
		}
		*part = n
	}
	if f.second >= 0 && (r.skip('.') || r.skip(',')) {
		if f.nano = r.fraction(9); f.nano < 0 {
			return false
		}
	}
	if r.at < len(r.s) {
		f.zone = r.zone()
		return f.zone != nil
	}
	return true
}

// reader reads the parts of a date from a string.
type reader struct {
	s  string
	at int
}

func (r *reader) skip(c byte) bool {
	if r.at < len(r.s) && r.s[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) digits(least, most int) (int, bool) {
	n, start := 0, r.at
	for r.at < len(r.s) && r.at-start < most && r.s[r.at] >= '0' && r.s[r.at] <= '9' {
		n = n*10 + int(r.s[r.at]-'0')
		r.at++
	}
	return n, r.at-start >= least
}

// fraction reads 1 to most digits behind a decimal point as nanoseconds.
func (r *reader) fraction(most int) int {
	start := r.at
	n, ok := r.digits(1, most)
	if !ok {
		return -1
	}
	for range 9 - (r.at - start) {
		n *= 10
	}
	return n
}

// zone reads Z, an offset such as +02:00, +0200 or +02, or the name of a zone.
func (r *reader) zone() *time.Location {
	if r.skip('Z') || r.skip('z') {
		return time.UTC
	}
	sign := 0
	switch {
	case r.skip('+'):
		sign = 1
	case r.skip('-'):
		sign = -1
	default:
		name := r.s[r.at:]
		r.at = len(r.s)
		loc, err := ParseZone(name)
		if err != nil {
			return nil
		}
		return loc
	}
	h, ok := r.digits(2, 2)
	if !ok || h > 18 {
		return nil
	}
	r.skip(':')
	m, ok := r.digits(0, 2)
	if !ok || m > 59 {
		return nil
	}
	return time.FixedZone("", sign*(h*3600+m*60))
}

// appendISO writes milliseconds as yyyy-MM-ddTHH:mm:ss.SSSZ, with the offset of
// the zone of t.
func appendISO(dst []byte, t time.Time) []byte {
	return t.AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
}

func atoi64(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
