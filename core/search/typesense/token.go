package typesense

import (
	"strings"
	"unicode/utf8"
)

// The token code keeps words of [0-9a-y] as they are, so that the server can
// tell how much two of them differ, and writes everything else in the same
// letters, each character behind a z. The code of a prefix is a prefix of the
// code. It does not keep the order.
//
//	z       z0
//	byte    z, 1 to 8, one symbol
//	to 7FF  z, 9 or a, two symbols
//	to FFFF z, b or c, three symbols
const (
	maxToken  = 100 // bytes of a token that the server tells apart
	maxPrefix = 58  // symbols in front of the hash of a longer one
)

// EncodeToken gives the code of a token of a text. One that is too long for the
// server ends with a hash.
func EncodeToken(token string) string {
	if plain(token) && len(token) <= maxToken {
		return token
	}
	code, whole := appendToken(make([]byte, 0, 2*len(token)), token)
	if len(code) <= maxToken {
		return string(code)
	}
	return string(code[:whole]) + "zy" + hash40(token)
}

// EncodeTokenPrefix gives the code that those of all tokens with the prefix
// begin with; false when the prefix is too long for the code to tell.
func EncodeTokenPrefix(prefix string) (string, bool) {
	if plain(prefix) && len(prefix) <= maxPrefix {
		return prefix, true
	}
	code, _ := appendToken(make([]byte, 0, 2*len(prefix)), prefix)
	return string(code), len(code) <= maxPrefix
}

// DecodeToken gives the token of a code; false when it holds only the hash of
// it, or is no code.
func DecodeToken(code string) (string, bool) {
	if plain(code) {
		return code, true
	}
	out := make([]byte, 0, len(code))
	for i := 0; i < len(code); {
		if code[i] != 'z' {
			out = append(out, code[i])
			i++
			continue
		}
		r, n := decodeRune(code[i+1:])
		switch {
		case n == 0:
			return "", false
		case n == 2 && r < 0x100: // a byte
			out = append(out, byte(r))
		default:
			out = utf8.AppendRune(out, r)
		}
		i += 1 + n
	}
	return string(out), true
}

// plain tells whether a token is its own code.
func plain(token string) bool {
	for i := range len(token) {
		if c := token[i]; (c < 'a' || c > 'y') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// appendToken appends the code of a token and tells where its last character ends
// that lies within maxPrefix.
func appendToken(dst []byte, token string) (code []byte, whole int) {
	for i := 0; i < len(token); {
		if len(dst) <= maxPrefix {
			whole = len(dst)
		}
		c := token[i]
		r, n := utf8.DecodeRuneInString(token[i:])
		switch {
		case c >= 'a' && c <= 'y' || c >= '0' && c <= '9':
			dst = append(dst, c)
		case c == 'z':
			dst = append(dst, 'z', '0')
		case n == 2:
			v := int(r)
			dst = append(dst, 'z', symbols[9+v/1296], symbols[v/36%36], symbols[v%36])
		case n == 3:
			v := int(r)
			dst = append(dst, 'z', symbols[11+v/46656], symbols[v/1296%36], symbols[v/36%36], symbols[v%36])
		default: // ASCII, parts of longer characters and what is no character
			dst = append(dst, 'z', symbols[1+c/36], symbols[c%36])
			n = 1
		}
		i += n
	}
	return dst, whole
}

// decodeRune reads what is behind a z, and how many symbols it has; 0 when it
// is no code.
func decodeRune(s string) (r rune, n int) {
	if s == "" {
		return 0, 0
	}
	lead := value36(s[0])
	switch {
	case lead < 0:
		return 0, 0
	case lead == 0:
		return 'z', 1
	case lead <= 8:
		n, r = 2, rune(lead-1)
	case lead <= 10:
		n, r = 3, rune(lead-9)
	case lead <= 12:
		n, r = 4, rune(lead-11)
	default:
		return 0, 0
	}
	if len(s) < n {
		return 0, 0
	}
	for i := 1; i < n; i++ {
		v := strings.IndexByte(symbols, s[i])
		if v < 0 {
			return 0, 0
		}
		r = 36*r + rune(v)
	}
	return r, n
}
