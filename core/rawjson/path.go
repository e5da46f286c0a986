package rawjson

import (
	"strconv"
	"strings"
	"unicode"
)

// maxPathLen keeps a hostile key from filling an answer or a log line, bytes.
const maxPathLen = 300

// Join gives the path of a member: "fr" and "title" make "fr.title".
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Index gives the path of an element: "blocks" and 2 make "blocks[2]".
func Index(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// step is one open container on the way to an offset.
type step struct {
	array bool
	index int
	key   []byte // token of the last key
}

// pathAt gives the path of the value or key that holds the offset at. The
// bytes before it are well formed.
func pathAt(b []byte, at int) string {
	var open []step
	at = min(at, len(b))
	for i := 0; i < at; {
		switch b[i] {
		case '{':
			open = append(open, step{})
		case '[':
			open = append(open, step{array: true})
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case ',':
			if n := len(open); n > 0 {
				open[n-1].index++
				open[n-1].key = nil
			}
		case '"':
			end := skipString(b, i)
			if n := len(open); n > 0 && !open[n-1].array && open[n-1].key == nil {
				open[n-1].key = b[i:end]
			}
			i = end
			continue
		}
		i++
	}
	if n := len(open); n > 0 && !open[n-1].array && open[n-1].key == nil && at < len(b) && b[at] == '"' {
		open[n-1].key = b[at:skipString(b, at)]
	}
	var path string
	for _, s := range open {
		switch {
		case s.array:
			path = Index(path, s.index)
		case s.key != nil:
			path = Join(path, string(plain(s.key)))
		}
		if len(path) > maxPathLen {
			return printable(path[:maxPathLen]) + "…"
		}
	}
	return printable(path)
}

// printable replaces what would garble a log line or an answer.
func printable(path string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(path, ""))
}

// IsListKey tells whether a key of an object is the number of an element: PHP
// writes a list that it took elements out of as an object with such keys.
func IsListKey(key string) bool { return key != "" && strings.Trim(key, "0123456789") == "" }
