package dates

import (
	"fmt"
	"strings"
)

// part is one letter group, literal text or optional group of a Java pattern.
type part struct {
	letter byte // 0: literal; '[': optional group
	count  int
	fixed  bool // another number follows at once, so the width is exact
	text   string
	group  []part
}

const numeric = "yuMdHhkmsSD"

// parsePattern reads a Java date pattern.
func parsePattern(p string) ([]part, error) {
	parts, rest, err := patternParts(p, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("date format %q: ']' without '['", p)
	}
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("a date format is empty")
	}
	return parts, err
}

func patternParts(p string, depth int) (parts []part, rest string, err error) {
	if depth > 10 {
		return nil, "", fmt.Errorf("date format: too many '['")
	}
	for p != "" {
		c := p[0]
		switch {
		case c == '[':
			group, after, err := patternParts(p[1:], depth+1)
			if err != nil {
				return nil, "", err
			}
			if after == "" {
				return nil, "", fmt.Errorf("date format: '[' without ']'")
			}
			parts, p = append(parts, part{letter: '[', group: group}), after[1:]
		case c == ']':
			return parts, p, nil
		case c == '\'':
			text, after, ok := quoted(p)
			if !ok {
				return nil, "", fmt.Errorf("date format: a quote has no end")
			}
			parts, p = append(parts, part{text: text}), after
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := len(p) - len(strings.TrimLeft(p, p[:1]))
			if !known(c, n) {
				return nil, "", fmt.Errorf("date format: %q is not supported", p[:n])
			}
			if c == 'Y' {
				c = 'y'
			}
			number := isNumber(c, n)
			if k := len(parts) - 1; k >= 0 && number && isNumber(parts[k].letter, parts[k].count) {
				parts[k].fixed = true
			}
			parts, p = append(parts, part{letter: c, count: n}), p[n:]
		default:
			parts, p = append(parts, part{text: p[:1]}), p[1:]
		}
	}
	return parts, "", nil
}

// quoted reads text in single quotes at the start of p; two quotes are one.
func quoted(p string) (text, rest string, ok bool) {
	if strings.HasPrefix(p, "''") {
		return "'", p[2:], true
	}
	for i := 1; i < len(p); i++ {
		if p[i] != '\'' {
			continue
		}
		if i+1 < len(p) && p[i+1] == '\'' {
			i++
			continue
		}
		return strings.ReplaceAll(p[1:i], "''", "'"), p[i+1:], true
	}
	return "", "", false
}

func isNumber(c byte, n int) bool {
	return c != 0 && strings.IndexByte(numeric, c) >= 0 && !(c == 'M' && n > 2)
}

func known(c byte, n int) bool {
	switch c {
	case 'y', 'u', 'Y', 'M', 'E':
		return n <= 4
	case 'd', 'H', 'h', 'k', 'm', 's', 'a':
		return n <= 2
	case 'S':
		return n <= 9
	case 'D':
		return n <= 3
	case 'X', 'x', 'Z', 'z', 'V':
		return n <= 5
	}
	return false
}

// readParts reads s by the parts of a pattern.
func readParts(r *reader, parts []part, f *fields) bool {
	for i := range parts {
		p := &parts[i]
		switch {
		case p.letter == '[':
			save, at := *f, r.at
			if !readParts(r, p.group, f) {
				*f, r.at = save, at
			}
		case p.letter == 0:
			if !strings.HasPrefix(r.s[r.at:], p.text) {
				return false
			}
			r.at += len(p.text)
		case !readPart(r, p, f):
			return false
		}
	}
	return true
}

func readPart(r *reader, p *part, f *fields) bool {
	least, most := p.count, p.count
	if p.count == 1 && !p.fixed {
		most = 19
	}
	var ok bool
	switch p.letter {
	case 'y', 'u':
		if p.count == 2 {
			f.year, ok = r.digits(2, 2)
			f.year += 2000
			return ok
		}
		sign := 1
		if r.skip('-') {
			sign = -1
		}
		f.year, ok = r.digits(least, min(max(most, 4), 9))
		f.year *= sign
	case 'M':
		if p.count > 2 {
			return readName(r, &f.month, p.count, monthName)
		}
		f.month, ok = r.digits(least, min(most, 2))
	case 'd':
		f.day, ok = r.digits(least, min(most, 2))
	case 'D':
		f.yearDay, ok = r.digits(least, 3)
	case 'H', 'h', 'k':
		f.hour, ok = r.digits(least, min(most, 2))
		if p.letter == 'k' {
			f.hour %= 24
		}
	case 'm':
		f.minute, ok = r.digits(least, min(most, 2))
	case 's':
		f.second, ok = r.digits(least, min(most, 2))
	case 'S':
		start := r.at
		f.nano = r.fraction(max(p.count, 1))
		ok = f.nano >= 0 && r.at-start == p.count
	case 'a':
		return readName(r, &f.pm, 2, halfDay)
	case 'E':
		var weekday int // read over: the date itself says it
		return readName(r, &weekday, p.count, weekdayName)
	default: // X x Z z V
		f.zone = r.zone()
		ok = f.zone != nil
	}
	return ok
}

// readName reads one of the names that name gives for 0, 1 … until "".
func readName(r *reader, to *int, count int, name func(i, count int) string) bool {
	for i := 0; ; i++ {
		n := name(i, count)
		if n == "" {
			return false
		}
		if n != "-" && len(r.s)-r.at >= len(n) && strings.EqualFold(r.s[r.at:r.at+len(n)], n) {
			r.at += len(n)
			*to = i
			return true
		}
	}
}
