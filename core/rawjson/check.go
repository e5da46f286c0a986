package rawjson

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/problem"
)

// Check tells whether raw is one JSON value (RFC 8259) that the service can
// keep: valid UTF-8, no deeper than lim.Depth, no key twice in an object, no
// lone surrogate and no NUL in a string (PostgreSQL's text cannot hold it),
// every number within the range of a float64 and at most MaxNumberLen long.
//
// The error is a problem.Invalid, or problem.TooLarge for the depth, with the
// path of the field. The size of raw is for the caller to bound.
func Check(raw []byte, lim Limits) error {
	if lim.Depth <= 0 {
		lim.Depth = DefaultDepth
	}
	c := checker{b: raw, depth: lim.Depth}
	i := c.value(skipSpace(raw, 0))
	if i >= 0 {
		if i = skipSpace(raw, i); i == len(raw) {
			return nil
		}
		c.fail(i, "unexpected data after the value")
	}
	path := pathAt(raw, c.at)
	if c.deep {
		return problem.Field(problem.TooLarge, path, "nested deeper than %d levels", lim.Depth)
	}
	return problem.Field(problem.Invalid, path, "%s (at byte %d)", c.msg, c.at)
}

// CheckObject is Check, and the value must be an object. The empty array is
// accepted too, because old clients send [] for an empty object; Object turns
// it into {}.
func CheckObject(raw []byte, lim Limits) error {
	if err := Check(raw, lim); err != nil {
		return err
	}
	if k := KindOf(Object(raw)); k != Map {
		return problem.Field(problem.Invalid, "", "must be a JSON object, not %s", k)
	}
	return nil
}

// Object gives raw without the white space around it, and {} for an empty
// array.
func Object(raw []byte) []byte {
	raw = bytes.Trim(raw, " \n\r\t")
	if len(raw) >= 2 && raw[0] == '[' && skipSpace(raw, 1) == len(raw)-1 {
		return []byte("{}")
	}
	return raw
}

// checker walks a value. Its methods give the offset after what they read, or
// -1 after fail.
type checker struct {
	b     []byte
	depth int
	keys  [64]token // keys of all open objects, innermost last
	n     int       // how many of them
	at    int
	msg   string
	deep  bool
}

// token is where a key stands, with its quotes.
type token struct{ start, end int }

func (c *checker) fail(at int, msg string) int {
	c.at, c.msg = at, msg
	return -1
}

func (c *checker) value(i int) int {
	if i >= len(c.b) {
		return c.fail(i, "the JSON ends too early")
	}
	switch ch := c.b[i]; {
	case ch == '"':
		return c.str(i)
	case ch == '{':
		return c.object(i)
	case ch == '[':
		return c.array(i)
	case ch == '-' || ch >= '0' && ch <= '9':
		return c.number(i)
	case ch == 't':
		return c.word(i, "true")
	case ch == 'f':
		return c.word(i, "false")
	case ch == 'n':
		return c.word(i, "null")
	}
	return c.fail(i, "invalid JSON: a value was expected")
}

func (c *checker) word(i int, w string) int {
	if len(c.b)-i < len(w) || string(c.b[i:i+len(w)]) != w {
		return c.fail(i, "invalid JSON: a value was expected")
	}
	return i + len(w)
}

func (c *checker) enter(i int) bool {
	c.depth--
	if c.depth < 0 {
		c.deep = true
		c.fail(i, "")
		return false
	}
	return true
}

func (c *checker) array(i int) int {
	if !c.enter(i) {
		return -1
	}
	i = skipSpace(c.b, i+1)
	if i < len(c.b) && c.b[i] == ']' {
		c.depth++
		return i + 1
	}
	for {
		if i = c.value(i); i < 0 {
			return -1
		}
		i = skipSpace(c.b, i)
		switch {
		case i < len(c.b) && c.b[i] == ',':
			i = skipSpace(c.b, i+1)
		case i < len(c.b) && c.b[i] == ']':
			c.depth++
			return i + 1
		default:
			return c.fail(i, "invalid JSON: a comma or ] was expected")
		}
	}
}

func (c *checker) object(i int) int {
	if !c.enter(i) {
		return -1
	}
	first := c.n
	var seen map[string]struct{}
	i = skipSpace(c.b, i+1)
	if i < len(c.b) && c.b[i] == '}' {
		c.depth++
		return i + 1
	}
	for {
		start := i
		if i >= len(c.b) || c.b[i] != '"' {
			return c.fail(i, "invalid JSON: a key was expected")
		}
		if i = c.str(i); i < 0 {
			return -1
		}
		if seen = c.known(first, token{start, i}, seen); c.msg != "" {
			return c.fail(start, c.msg)
		}
		i = skipSpace(c.b, i)
		if i >= len(c.b) || c.b[i] != ':' {
			return c.fail(i, "invalid JSON: a colon was expected")
		}
		if i = c.value(skipSpace(c.b, i+1)); i < 0 {
			return -1
		}
		i = skipSpace(c.b, i)
		switch {
		case i < len(c.b) && c.b[i] == ',':
			i = skipSpace(c.b, i+1)
		case i < len(c.b) && c.b[i] == '}':
			c.depth++
			c.n = first
			return i + 1
		default:
			return c.fail(i, "invalid JSON: a comma or } was expected")
		}
	}
}

// manyKeys is where a map takes over from comparing with each earlier key.
const manyKeys = 24

// known notes the key of the object whose keys start at first, and sets c.msg
// when it was there already. It keeps tokens and not slices, so that nothing
// is allocated for a document of usual size.
func (c *checker) known(first int, t token, seen map[string]struct{}) map[string]struct{} {
	key := plain(c.b[t.start:t.end])
	dup := false
	if seen != nil {
		_, dup = seen[string(key)]
	} else {
		for _, k := range c.keys[first:c.n] {
			dup = dup || bytes.Equal(plain(c.b[k.start:k.end]), key)
		}
	}
	switch {
	case dup:
		c.msg = "the key is there twice"
	case seen != nil:
		seen[string(key)] = struct{}{}
	case c.n < len(c.keys) && c.n-first < manyKeys:
		c.keys[c.n] = t
		c.n++
	default:
		seen = make(map[string]struct{}, 2*manyKeys)
		seen[string(key)] = struct{}{}
		for _, k := range c.keys[first:c.n] {
			seen[string(plain(c.b[k.start:k.end]))] = struct{}{}
		}
	}
	return seen
}

// text marks the bytes that a string holds as they are.
var text = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func (c *checker) str(i int) int {
	b := c.b
	for i++; ; {
		for i < len(b) && text[b[i]] {
			i++
		}
		if i >= len(b) {
			return c.fail(i, "invalid JSON: the string does not end")
		}
		switch ch := b[i]; {
		case ch == '"':
			return i + 1
		case ch == '\\':
			if i = c.escape(i); i < 0 {
				return -1
			}
		case ch < 0x20:
			return c.fail(i, "invalid JSON: control character in a string")
		default:
			r, size := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && size <= 1 {
				return c.fail(i, "not valid UTF-8")
			}
			i += size
		}
	}
}

func (c *checker) escape(i int) int {
	if i+1 >= len(c.b) {
		return c.fail(i, "invalid JSON: the string does not end")
	}
	switch c.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		r, ok := hex4(c.b[i+2:])
		switch {
		case !ok:
			return c.fail(i, "invalid JSON: \\u needs four hexadecimal digits")
		case r == 0:
			return c.fail(i, "the character U+0000 cannot be stored")
		case !utf16.IsSurrogate(r):
			return i + 6
		}
		if r, size := hexRune(c.b[i+2:]); r != utf8.RuneError {
			return i + 2 + size
		}
		return c.fail(i, "lone surrogate in a string")
	}
	return c.fail(i, "invalid JSON: unknown escape in a string")
}

func (c *checker) number(start int) int {
	b, i := c.b, start
	if b[i] == '-' {
		i++
	}
	whole := digits(b, i)
	if whole == i || b[i] == '0' && whole > i+1 {
		return c.fail(start, "invalid JSON: malformed number")
	}
	i = whole
	if i < len(b) && b[i] == '.' {
		frac := digits(b, i+1)
		if frac == i+1 {
			return c.fail(start, "invalid JSON: malformed number")
		}
		i = frac
	}
	exponent := i < len(b) && (b[i] == 'e' || b[i] == 'E')
	if exponent {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exp := digits(b, i)
		if exp == i {
			return c.fail(start, "invalid JSON: malformed number")
		}
		i = exp
	}
	if i-start > MaxNumberLen {
		return c.fail(start, "the number has too many digits")
	}
	if exponent {
		if _, err := strconv.ParseFloat(string(b[start:i]), 64); err != nil {
			return c.fail(start, "the number is out of range")
		}
	}
	return i
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
