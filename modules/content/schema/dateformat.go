package schema

import (
	"regexp"
	"strconv"
	"strings"
)

// namedFormats are the built-in date formats of Elasticsearch that occur in
// mappings, as Java patterns. A private letter, ~, stands for a fraction of one
// to nine digits.
var namedFormats = map[string]string{
	"date": "yyyy-MM-dd", "year_month_day": "yyyy-MM-dd", "year_month": "yyyy-MM", "year": "yyyy",
	"basic_date":                "yyyyMMdd",
	"basic_date_time_no_millis": "yyyyMMdd'T'HHmmssZ",
	"date_time_no_millis":       "yyyy-MM-dd'T'HH:mm:ssZ",
	"date_time":                 "yyyy-MM-dd'T'HH:mm:ss.~Z",
	"date_hour_minute":          "yyyy-MM-dd'T'HH:mm",
	"date_hour_minute_second":   "yyyy-MM-dd'T'HH:mm:ss",
	"date_optional_time":        "yyyy[-MM[-dd['T'HH[:mm[:ss[.~]]][Z]]]]",
	"date_optional_time_nanos":  "yyyy[-MM[-dd['T'HH[:mm[:ss[.~]]][Z]]]]",
	"hour":                      "HH",
	"hour_minute":               "HH:mm",
	"hour_minute_second":        "HH:mm:ss",
	"time":                      "HH:mm:ss.~Z",
	"time_no_millis":            "HH:mm:ssZ",
	"epoch_millis":              "#",
	"epoch_second":              "#",
}

// dateFormat is a compiled format: a value fits when it fits one alternative.
// The zero value, and nil, accept everything.
type dateFormat struct {
	source string
	alt    [][]datePart
}

// datePart is one element of a pattern: a letter with its count, or a literal
// ('L').
type datePart struct {
	letter byte
	count  int
	text   string
}

// maxAlternatives bounds what optional sections may multiply to.
const maxAlternatives = 64

// parseDateFormat compiles names and Java patterns, separated by ||, with
// optional sections in brackets. ok is false for a pattern with letters that
// are not known; the format then accepts everything. So does an empty one.
func parseDateFormat(source string) (f *dateFormat, ok bool) {
	f = &dateFormat{source: source}
	if source == "" {
		return f, true
	}
	var alt [][]datePart
	for one := range strings.SplitSeq(source, "||") {
		pattern := strings.TrimSpace(one)
		if named, is := namedFormats[strings.TrimPrefix(pattern, "strict_")]; is {
			pattern = named
		} else if strings.ContainsAny(pattern, "~#") || len(pattern) > 100 {
			return &dateFormat{}, false
		}
		for _, flat := range optional(pattern) {
			parts, ok := dateParts(flat)
			if !ok {
				return &dateFormat{}, false
			}
			alt = append(alt, parts)
		}
		if len(alt) > maxAlternatives {
			return &dateFormat{}, false
		}
	}
	f.alt = alt
	return f, true
}

// optional spells a pattern with [optional] sections out, longest first.
func optional(pattern string) []string {
	open := strings.IndexByte(pattern, '[')
	if open < 0 {
		return []string{pattern}
	}
	depth, end := 0, -1
	for i := open; i < len(pattern) && end < 0; i++ {
		switch pattern[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	if end < 0 {
		return []string{"["} // no letter: refused by dateParts
	}
	var out []string
	for _, inside := range append(optional(pattern[open+1:end]), "") {
		for _, rest := range optional(pattern[end+1:]) {
			out = append(out, pattern[:open]+inside+rest)
			if len(out) > maxAlternatives {
				return out
			}
		}
	}
	return out
}

func dateParts(pattern string) ([]datePart, bool) {
	var parts []datePart
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			text, next := quoted(pattern, i)
			if next < 0 {
				return nil, false
			}
			parts = append(parts, datePart{letter: 'L', text: text})
			i = next
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '~' || c == '#':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			if strings.IndexByte("yuMdHhmsSaEZXxz~#", c) < 0 {
				return nil, false
			}
			parts = append(parts, datePart{letter: c, count: n})
			i += n
		case c == '[' || c == ']' || c == '{' || c == '}':
			return nil, false
		default:
			parts = append(parts, datePart{letter: 'L', text: string(c)})
			i++
		}
	}
	return parts, len(parts) > 0
}

// quoted reads the literal text that starts with the quote at i, in which two
// quotes stand for one, and gives the offset after it, -1 when it does not end.
func quoted(pattern string, i int) (text string, next int) {
	if strings.HasPrefix(pattern[i:], "''") {
		return "'", i + 2
	}
	var b strings.Builder
	for i++; i < len(pattern); i++ {
		if pattern[i] != '\'' {
			b.WriteByte(pattern[i])
		} else if strings.HasPrefix(pattern[i:], "''") {
			b.WriteByte('\'')
			i++
		} else {
			return b.String(), i + 1
		}
	}
	return "", -1
}

// width gives the fewest and most digits of a numeric part, 0 for others.
func (p datePart) width() (least, most int) {
	switch p.letter {
	case 'y', 'u':
		if p.count == 2 {
			return 2, 2
		}
		return 4, 4
	case 'M', 'd', 'H', 'h', 'm', 's':
		if p.letter == 'M' && p.count > 2 {
			return 0, 0
		}
		return min(p.count, 2), 2
	case 'S':
		return p.count, p.count
	case '~':
		return 1, 9
	case '#':
		return 1, 18
	}
	return 0, 0
}

func (f *dateFormat) match(v []byte) bool {
	if f == nil || len(f.alt) == 0 {
		return true
	}
	for _, parts := range f.alt {
		if matchParts(parts, v) {
			return true
		}
	}
	return false
}

func matchParts(parts []datePart, v []byte) bool {
	year, month, day := 2000, 1, 1 // a leap year, when the format has none
	for _, p := range parts {
		n, value := p.read(v)
		if n < 0 {
			return false
		}
		v = v[n:]
		switch p.letter {
		case 'y', 'u':
			year = value
		case 'M':
			month = max(value, 1)
			if p.count <= 2 && value < 1 || value > 12 {
				return false
			}
		case 'd':
			if day = value; day < 1 {
				return false
			}
		case 'H':
			if value > 23 {
				return false
			}
		case 'h':
			if value < 1 || value > 12 {
				return false
			}
		case 'm', 's':
			if value > 59 {
				return false
			}
		}
	}
	return len(v) == 0 && day <= daysIn(year, month)
}

// read gives how many bytes of v the part takes, -1 for none, and the number
// they stand for.
func (p datePart) read(v []byte) (n, value int) {
	if p.letter == 'L' {
		if len(v) >= len(p.text) && string(v[:len(p.text)]) == p.text {
			return len(p.text), 0
		}
		return -1, 0
	}
	least, most := p.width()
	if most == 0 {
		return p.readText(v), 0
	}
	for n < len(v) && n < most && v[n] >= '0' && v[n] <= '9' {
		value = value*10 + int(v[n]-'0')
		n++
	}
	if n < least {
		return -1, 0
	}
	return n, value
}

// readText reads zones, and the names of months, days and halves of a day.
func (p datePart) readText(v []byte) int {
	n := 0
	switch p.letter {
	case 'Z', 'X', 'x':
		return readZone(v)
	case 'z':
		if n = readZone(v); n > 0 {
			return n
		}
		n = 0
		for n < len(v) && (wordByte(v[n]) || v[n] == '/') {
			n++
		}
	default:
		for n < len(v) && (v[n] >= 0x80 || v[n] >= 'A' && v[n] <= 'Z' || v[n] >= 'a' && v[n] <= 'z' || v[n] == '.') {
			n++
		}
	}
	if n == 0 {
		return -1
	}
	return n
}

// readZone reads Z, +02, +0200 or +02:00.
func readZone(v []byte) int {
	if len(v) > 0 && v[0] == 'Z' {
		return 1
	}
	if len(v) < 3 || v[0] != '+' && v[0] != '-' || !digit(v[1]) || !digit(v[2]) {
		return -1
	}
	rest := v[3:]
	colon := 0
	if len(rest) > 0 && rest[0] == ':' {
		colon = 1
	}
	if len(rest) >= colon+2 && digit(rest[colon]) && digit(rest[colon+1]) {
		return 3 + colon + 2
	}
	return 3
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// epoch tells whether a number is a date of this format.
func (f *dateFormat) epoch() bool {
	for _, parts := range f.alt {
		if parts[0].letter == '#' {
			return true
		}
	}
	return false
}

// describe names the format in a message.
func (f *dateFormat) describe() string {
	if strings.HasPrefix(f.source, "date_time_no_millis") {
		return "a date and time such as 2024-05-17T09:30:00+02:00"
	}
	return "a date of the format " + clip(f.source)
}

// schema writes the JSON Schema of one value: the well-known formats where
// they say exactly the same, else a pattern.
func (f *dateFormat) schema(s *schemaWriter) {
	s.str("type", "string")
	switch strings.TrimPrefix(f.source, "strict_") {
	case "":
		return
	case "yyyy-MM-dd", "date", "year_month_day":
		s.str("format", "date")
		return
	case "date_time_no_millis", "date_time", "date_time_no_millis||date_time":
		s.str("format", "date-time")
		return
	}
	if len(f.alt) == 0 {
		return
	}
	options := make([]string, len(f.alt))
	for i, parts := range f.alt {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.pattern())
		}
		options[i] = b.String()
	}
	s.str("pattern", "^("+strings.Join(options, "|")+")$")
}

func (p datePart) pattern() string {
	if p.letter == 'L' {
		return regexp.QuoteMeta(p.text)
	}
	least, most := p.width()
	switch {
	case most > 0 && least == most:
		return "[0-9]{" + strconv.Itoa(most) + "}"
	case most > 0:
		return "[0-9]{" + strconv.Itoa(least) + "," + strconv.Itoa(most) + "}"
	case p.letter == 'Z' || p.letter == 'X' || p.letter == 'x':
		return "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
	}
	return ".+"
}
