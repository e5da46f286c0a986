package typesense

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
)

// The keyword code makes of any bytes a text of [0-9a-z] and spaces, so that the
// tokenizer has nothing to fold and a filter nothing to quote. It is exact,
// keeps the order of bytes, and the code of a prefix is a prefix of the code.
//
// Symbols are put into pieces, each with a marker in front, because the server
// cuts tokens at 100 bytes; the markers differ so that no two pieces of a value
// are equal.
const (
	symbols     = "0123456789abcdefghijklmnopqrstuvwxyz"
	pieceLength = 95
	maxSymbols  = 2 * pieceLength // a longer value is cut there, and hashed
	maxSortCode = 2000            // bytes by which the server orders strings
)

// EncodeKeyword gives the code of a keyword, 235 bytes at most: the server
// counts values with the same first 255 bytes as one. Values that are too long
// for it end with a hash and cannot be decoded.
func EncodeKeyword(value string) string {
	raw := appendSymbols(make([]byte, 0, 2*len(value)), value, maxSymbols+1)
	if len(raw) <= maxSymbols {
		return pieces(raw)
	}
	return pieces(raw[:maxSymbols]) + " h" + hash40(value)
}

// EncodeKeywordPrefix gives the code that those of all values with the prefix
// begin with; false when the prefix is too long for the code to tell.
func EncodeKeywordPrefix(prefix string) (string, bool) {
	raw := appendSymbols(make([]byte, 0, 2*len(prefix)), prefix, maxSymbols+1)
	if len(raw) > maxSymbols {
		return "", false
	}
	return pieces(raw), true
}

// EncodeSort gives the code of a keyword by which the server sorts: without a
// hash, cut where the server stops to compare.
func EncodeSort(value string) string {
	code := pieces(appendSymbols(make([]byte, 0, min(2*len(value), maxSortCode)), value, maxSortCode))
	return strings.TrimRight(code[:min(len(code), maxSortCode)], " ")
}

// DecodeKeyword gives the value of a code; false when it holds only the hash of
// it, or is no code.
func DecodeKeyword(code string) (string, bool) {
	raw := make([]byte, 0, len(code))
	for i, piece := range strings.Split(code, " ") {
		if piece == "" || i == 0 && piece[0] != 'v' || i > 0 && piece[0] != '1' {
			return "", false
		}
		raw = append(raw, piece[1:]...)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		b, n := decodeSymbol(raw[i:])
		if n == 0 {
			return "", false
		}
		out = append(out, b)
		i += n
	}
	return string(out), true
}

// appendSymbols appends the symbols of a value, stopping behind limit of them.
func appendSymbols(dst []byte, value string, limit int) []byte {
	for i := 0; i < len(value) && len(dst) < limit; i++ {
		switch b := value[i]; {
		case b <= 0x60:
			dst = append(dst, symbols[b/36], symbols[b%36])
		case b < 'z':
			dst = append(dst, b)
		case b == 'z':
			dst = append(dst, 'z', '0')
		default:
			n := b - 0x7b
			dst = append(dst, 'z', symbols[1+n/36], symbols[n%36])
		}
	}
	return dst
}

// decodeSymbol reads the byte that symbols begin with, and how many they are;
// 0 when they are none.
func decodeSymbol(s []byte) (b byte, n int) {
	switch c := s[0]; {
	case c >= 'a' && c < 'z':
		return c, 1
	case c >= '0' && c <= '2' && len(s) > 1:
		if v := 36*value36(c) + value36(s[1]); value36(s[1]) >= 0 && v <= 0x60 {
			return byte(v), 2
		}
	case c == 'z' && len(s) > 1 && s[1] == '0':
		return 'z', 2
	case c == 'z' && len(s) > 2:
		if v := 0x7b + 36*(value36(s[1])-1) + value36(s[2]); value36(s[1]) >= 1 && value36(s[2]) >= 0 && v <= 0xff {
			return byte(v), 3
		}
	}
	return 0, 0
}

func value36(c byte) int { return strings.IndexByte(symbols, c) }

func pieces(raw []byte) string {
	var b strings.Builder
	b.Grow(len(raw) + 2*(len(raw)/pieceLength+1))
	b.WriteByte('v')
	for len(raw) > pieceLength {
		b.Write(raw[:pieceLength])
		b.WriteString(" 1")
		raw = raw[pieceLength:]
	}
	b.Write(raw)
	return b.String()
}

func hash40(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:20])
}

// EncodeNumber gives an integer that is ordered as the doubles are: the bits of
// the double, mirrored for negative ones. Both zeros are 0. Every family of
// numbers is kept in it: also dates, in milliseconds, and booleans, 0 or 1. The
// next number above x is EncodeNumber(x)+1, so all ranges are written with both
// ends included, and MinNumber and MaxNumber stand for open ends.
func EncodeNumber(x float64) int64 {
	if x == 0 {
		return 0
	}
	bits := int64(math.Float64bits(x))
	if bits < 0 {
		return -(bits & math.MaxInt64)
	}
	return bits
}

// DecodeNumber is the inverse of EncodeNumber.
func DecodeNumber(n int64) float64 {
	if n < 0 {
		return math.Float64frombits(uint64(-n) | 1<<63)
	}
	return math.Float64frombits(uint64(n))
}

// MinNumber and MaxNumber are below and above every number that EncodeNumber
// gives of what a document can hold.
const (
	MinNumber = -math.MaxInt64
	MaxNumber = math.MaxInt64
)
