package form

import (
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// maxSteps bounds a property path.
const maxSteps = 64

// parsePath reads a property path in any of its spellings: [data][email],
// data[email] and data.email; [files][0][filename] for an element of a list.
func parsePath(path string) ([]string, error) {
	bad := func(why string) ([]string, error) {
		return nil, problem.Field(problem.Invalid, "property", "%s; write it as [data][email], data[email] or data.email", why)
	}
	if path == "" || len(path) > maxParam {
		return bad("must be a property path")
	}
	var steps []string
	for rest := path; rest != ""; {
		var step string
		if inner, bracket := strings.CutPrefix(rest, "["); bracket {
			var closed bool
			if step, rest, closed = strings.Cut(inner, "]"); !closed {
				return bad("a [ is not closed")
			}
		} else {
			if len(steps) > 0 {
				var dotted bool
				if rest, dotted = strings.CutPrefix(rest, "."); !dotted {
					return bad("a part begins without [ or a dot")
				}
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step, rest = rest[:end], rest[end:]
		}
		if step == "" || strings.ContainsAny(step, "[]") {
			return bad("a part of it is empty")
		}
		if steps = append(steps, step); len(steps) > maxSteps {
			return bad("it has too many parts")
		}
	}
	return steps, nil
}

// lookUp gives the value under a path; null when there is none.
func lookUp(raw []byte, steps []string) []byte {
	for _, step := range steps {
		var value []byte
		ok := false
		switch rawjson.KindOf(raw) {
		case rawjson.Map:
			value, ok = rawjson.Get(raw, step)
		case rawjson.Array:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || strconv.Itoa(n) != step {
				break
			}
			value, ok = element(raw, n)
		}
		if !ok {
			return []byte("null")
		}
		raw = value
	}
	return raw
}

// element gives the nth element of a list.
func element(raw []byte, n int) (value []byte, ok bool) {
	_ = rawjson.Elements(raw, func(i int, v []byte) error { // fn gives no error
		if i == n {
			value, ok = v, true
		}
		return nil
	})
	return value, ok
}
