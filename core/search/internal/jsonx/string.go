package jsonx

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string and gives its content. Lone surrogates become U+FFFD.
// Without escapes the content is a part of the JSON text itself and stays
// valid; Escaped tells.
func (p *Parser) String() ([]byte, error) {
	raw, err := p.rawString()
	if err != nil {
		return nil, err
	}
	body := raw[1 : len(raw)-1]
	esc := bytes.IndexByte(body, '\\')
	if p.escaped = esc >= 0; !p.escaped {
		return body, nil
	}
	out := append(p.scratch[:0], body[:esc]...)
	for i := esc; i < len(body); {
		if body[i] != '\\' {
			out = append(out, body[i])
			i++
			continue
		}
		var ok bool
		if out, i, ok = unescape(out, body, i); !ok {
			return nil, p.fail("a string holds an invalid escape")
		}
	}
	p.scratch = out
	return out, nil
}

// Escaped tells whether the last string had escapes, so that its content is
// valid only until the next one is read.
func (p *Parser) Escaped() bool { return p.escaped }

// rawString reads a string and gives it with its quotes.
func (p *Parser) rawString() ([]byte, error) {
	if p.Peek() != String {
		return nil, p.fail("a string is expected")
	}
	start := p.pos
	for i := p.pos + 1; ; {
		q := bytes.IndexByte(p.data[i:], '"')
		if q < 0 {
			return nil, p.fail("a string has no end")
		}
		i += q
		slashes := 0
		for p.data[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			p.pos = i
			return p.data[start:i], nil
		}
	}
}

// unescape appends the character of the escape at body[i] and gives the index
// behind it.
func unescape(out, body []byte, i int) ([]byte, int, bool) {
	if i+1 >= len(body) {
		return out, i, false
	}
	switch c := body[i+1]; c {
	case '"', '\\', '/':
		return append(out, c), i + 2, true
	case 'b':
		return append(out, '\b'), i + 2, true
	case 'f':
		return append(out, '\f'), i + 2, true
	case 'n':
		return append(out, '\n'), i + 2, true
	case 'r':
		return append(out, '\r'), i + 2, true
	case 't':
		return append(out, '\t'), i + 2, true
	case 'u':
		r, ok := hex4(body, i+2)
		if !ok {
			return out, i, false
		}
		i += 6
		if utf16.IsSurrogate(r) {
			low, ok := rune(0), false
			if i+1 < len(body) && body[i] == '\\' && body[i+1] == 'u' {
				low, ok = hex4(body, i+2)
			}
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				i += 6
			}
		}
		return utf8.AppendRune(out, r), i, true
	}
	return out, i, false
}

func hex4(b []byte, at int) (rune, bool) {
	if at+4 > len(b) {
		return 0, false
	}
	var r rune
	for _, c := range b[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// AppendString appends s as a JSON string. Bytes that are no UTF-8 become
// U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	plain := 0 // start of what needs no escape
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[plain:i]...), "\ufffd"...)
				plain = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[plain:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		plain = i
	}
	return append(append(dst, s[plain:]...), '"')
}
