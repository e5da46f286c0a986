package dates

import (
	"strconv"
	"time"
)

func monthName(i, count int) string {
	if i == 0 {
		return "-" // months count from 1
	}
	if i > 12 {
		return ""
	}
	return short(time.Month(i).String(), count)
}

func weekdayName(i, count int) string {
	if i > 6 {
		return ""
	}
	return short(time.Weekday(i).String(), count)
}

func halfDay(i, _ int) string { return [3]string{"AM", "PM", ""}[i] }

func short(name string, count int) string {
	if count < 4 {
		return name[:3]
	}
	return name
}

// appendParts writes a date in UTC by the parts of a pattern.
func appendParts(dst []byte, parts []part, t time.Time) []byte {
	for i := range parts {
		p := &parts[i]
		switch p.letter {
		case 0:
			dst = append(dst, p.text...)
		case '[':
			dst = appendParts(dst, p.group, t)
		case 'y', 'u':
			year := t.Year()
			if p.count == 2 {
				year %= 100
			}
			dst = pad(dst, year, p.count)
		case 'M':
			if p.count > 2 {
				dst = append(dst, monthName(int(t.Month()), p.count)...)
				break
			}
			dst = pad(dst, int(t.Month()), p.count)
		case 'd':
			dst = pad(dst, t.Day(), p.count)
		case 'D':
			dst = pad(dst, t.YearDay(), p.count)
		case 'H', 'k':
			dst = pad(dst, t.Hour(), p.count)
		case 'h':
			dst = pad(dst, (t.Hour()+11)%12+1, p.count)
		case 'm':
			dst = pad(dst, t.Minute(), p.count)
		case 's':
			dst = pad(dst, t.Second(), p.count)
		case 'S':
			dst = append(dst, pad(nil, t.Nanosecond(), 9)[:p.count]...)
		case 'a':
			dst = append(dst, halfDay(t.Hour()/12, 2)...)
		case 'E':
			dst = append(dst, short(t.Weekday().String(), p.count)...)
		case 'X':
			dst = append(dst, 'Z')
		default:
			dst = append(dst, "+0000"...)
		}
	}
	return dst
}

func pad(dst []byte, n, width int) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	text := strconv.Itoa(n)
	for range width - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}
