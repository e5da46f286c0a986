package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// inner gives what stands between the quotes of a string token.
func inner(token []byte) []byte {
	if len(token) < 2 {
		return nil
	}
	return token[1 : len(token)-1]
}

// plain gives the decoded content of a string token: a part of the token
// itself when it holds no escape, else a new slice.
func plain(token []byte) []byte {
	in := inner(token)
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	return unescape(make([]byte, 0, len(in)), in)
}

// unescape appends the decoded form of the inside of a string token. Escapes
// that Check refuses become U+FFFD.
func unescape(dst, in []byte) []byte {
	for i := 0; i < len(in); {
		n := bytes.IndexByte(in[i:], '\\')
		if n < 0 {
			return append(dst, in[i:]...)
		}
		dst = append(dst, in[i:i+n]...)
		i += n + 1
		if i == len(in) {
			return utf8.AppendRune(dst, utf8.RuneError)
		}
		if in[i] != 'u' {
			dst = append(dst, simpleEscape(in[i]))
			i++
			continue
		}
		r, size := hexRune(in[i+1:])
		dst = utf8.AppendRune(dst, r)
		i += 1 + size
	}
	return dst
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// hexRune decodes the four digits after \u, and the second half of a surrogate
// pair when one follows. It gives the rune and how many bytes it read.
func hexRune(in []byte) (rune, int) {
	r, ok := hex4(in)
	if !ok {
		return utf8.RuneError, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if len(in) >= 10 && in[4] == '\\' && in[5] == 'u' {
		if low, ok := hex4(in[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 10
			}
		}
	}
	return utf8.RuneError, 4
}

func hex4(in []byte) (rune, bool) {
	if len(in) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range in[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendString appends s as a JSON string with its quotes, escaping only what
// RFC 8259 section 7 demands. Bytes that are no UTF-8 become U+FFFD.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			size := runeLen(s[i:])
			if size > 0 {
				i += size
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = utf8.AppendRune(dst, utf8.RuneError)
			i++
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// runeLen gives the length of the rune that s starts with, 0 when it is none.
func runeLen[S ~string | ~[]byte](s S) int {
	var b [utf8.UTFMax]byte
	n := copy(b[:], s)
	r, size := utf8.DecodeRune(b[:n])
	if r == utf8.RuneError && size <= 1 {
		return 0
	}
	return size
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendCanonical appends a string token in the one escaping of AppendString.
func appendCanonical(dst, token []byte) []byte {
	if bytes.IndexByte(token, '\\') < 0 {
		return append(dst, token...)
	}
	return AppendString(dst, plain(token))
}
