// Package dates reads and writes dates in the formats of Elasticsearch: named
// formats, Java patterns, lists of them joined by "||", and date math. Dates
// are milliseconds since 1970 in UTC.
package dates

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Default is the format of a date field without one.
const Default = "strict_date_optional_time||epoch_millis"

// Dates outside of these are refused: the years -9999 and 9999.
const (
	MinMillis = -377_705_116_800_000
	MaxMillis = 253_402_300_799_999
)

// Format is a parsed list of formats. It is safe for concurrent use.
type Format struct {
	src     string
	layouts []layout
}

// layout is one of the alternatives of a Format.
type layout struct {
	iso    bool
	strict bool // of iso
	epoch  int64
	parts  []part
}

// Parse reads a format: names or Java patterns, joined by "||".
func Parse(src string) (*Format, error) {
	if src == "" {
		src = Default
	}
	if len(src) > 500 {
		return nil, fmt.Errorf("the date format is longer than 500 bytes")
	}
	f := &Format{src: src}
	for name := range strings.SplitSeq(src, "||") {
		l, err := parseLayout(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		f.layouts = append(f.layouts, l)
	}
	return f, nil
}

func parseLayout(name string) (layout, error) {
	switch name {
	case "strict_date_optional_time", "iso8601", "strict_date_optional_time_nanos":
		return layout{iso: true, strict: true}, nil
	case "date_optional_time", "dateOptionalTime", "dateOptionalTimeNanos":
		return layout{iso: true}, nil
	case "epoch_millis":
		return layout{epoch: 1}, nil
	case "epoch_second":
		return layout{epoch: 1000}, nil
	}
	pattern := name
	if p, ok := namedPattern(name); ok {
		pattern = p
	}
	parts, err := parsePattern(pattern)
	return layout{parts: parts}, err
}

// String gives the format as it was written.
func (f *Format) String() string { return f.src }

// Millis reads a date. loc is the zone of dates that name none; with up, parts
// that are not given take their greatest value, so that "2024-01" is the last
// millisecond of that month.
func (f *Format) Millis(s string, loc *time.Location, up bool) (int64, bool) {
	if len(s) > 100 {
		return 0, false
	}
	for i := range f.layouts {
		if ms, ok := f.layouts[i].millis(s, loc, up); ok && ms >= MinMillis && ms <= MaxMillis {
			return ms, true
		}
	}
	return 0, false
}

// Epoch tells whether plain numbers are dates of the format, and the
// milliseconds of one unit.
func (f *Format) Epoch() (unit int64, ok bool) {
	for _, l := range f.layouts {
		if l.epoch != 0 {
			return l.epoch, true
		}
	}
	return 0, false
}

func (l *layout) millis(s string, loc *time.Location, up bool) (int64, bool) {
	if l.epoch != 0 {
		whole, frac, _ := strings.Cut(s, ".")
		n, ok := atoi64(whole)
		if !ok || n > MaxMillis || n < MinMillis {
			return 0, false
		}
		if frac != "" {
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				return int64(f * float64(l.epoch)), true
			}
			return 0, false
		}
		return n * l.epoch, true
	}
	var f fields
	var ok bool
	if l.iso {
		f, ok = parseISO(s, l.strict)
	} else {
		f = noFields()
		r := reader{s: s}
		ok = readParts(&r, l.parts, &f) && r.at == len(s)
	}
	if !ok {
		return 0, false
	}
	return f.millis(loc, up)
}

// Text writes a date in the first of the formats, in UTC.
func (f *Format) Text(ms int64) string { return f.TextIn(ms, time.UTC) }

// TextIn writes a date in the first of the formats, in a time zone.
func (f *Format) TextIn(ms int64, loc *time.Location) string {
	t := time.UnixMilli(ms).In(loc)
	l := &f.layouts[0]
	switch {
	case l.epoch != 0:
		return strconv.FormatInt(ms/l.epoch, 10)
	case l.iso:
		return string(appendISO(nil, t))
	}
	return string(appendParts(nil, l.parts, t))
}

// LooksISO tells whether a string without a mapping is taken for a date: it
// starts with yyyy-MM-dd and is a strict_date_optional_time.
func LooksISO(s string) (int64, bool) {
	if len(s) < 10 || len(s) > 40 || s[4] != '-' || s[7] != '-' || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	f, ok := parseISO(s, true)
	if !ok || f.day < 0 {
		return 0, false
	}
	return f.millis(time.UTC, false)
}

// ParseZone reads a time zone: Z, an offset such as +02:00, or a name of the
// IANA database such as Europe/Brussels.
func ParseZone(s string) (*time.Location, error) {
	if s == "" || s == "Z" || s == "UTC" || s == "GMT" {
		return time.UTC, nil
	}
	if s[0] == '+' || s[0] == '-' {
		r := reader{s: s}
		if loc := r.zone(); loc != nil && r.at == len(s) {
			return loc, nil
		}
		return nil, fmt.Errorf("%q is no time zone", s)
	}
	if loc, err := time.LoadLocation(s); err == nil && s != "Local" {
		return loc, nil
	}
	return nil, fmt.Errorf("%q is no time zone", s)
}
