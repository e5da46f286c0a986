package rawjson

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"slices"
)

// Compact appends raw without insignificant white space. Key order, number
// literals and the escapes of strings stay as they are.
func Compact(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch raw[i] {
		case ' ', '\n', '\r', '\t':
			i++
		case '"':
			end := skipString(raw, i)
			dst = append(dst, raw[i:end]...)
			i = end
		default:
			dst = append(dst, raw[i])
			i++
		}
	}
	return dst
}

// Normalize appends the canonical form of raw, the one that `_sha1` is taken
// of: compact, the keys of every object in byte order, number literals as they
// are, strings in the escaping of AppendString.
func Normalize(dst, raw []byte) []byte {
	var room [32]member
	n := normalizer{dst: dst, list: room[:0]}
	n.value(raw, 0, nil)
	return n.dst
}

// SHA1Hex gives the lowercase hexadecimal SHA-1 of the canonical form of raw
// without the given top-level keys.
func SHA1Hex(raw []byte, without ...string) string {
	var buf [4096]byte
	var room [32]member
	n := normalizer{dst: buf[:0], list: room[:0]}
	n.value(raw, 0, without)
	sum := sha1.Sum(n.dst)
	return hex.EncodeToString(sum[:])
}

// maxNesting bounds the recursion for input that Check has not seen.
const maxNesting = 10000

type normalizer struct {
	dst  []byte
	list []member // members of all open objects, innermost last
}

func (n *normalizer) value(raw []byte, depth int, without []string) {
	if depth > maxNesting {
		n.dst = append(n.dst, raw...)
		return
	}
	switch KindOf(raw) {
	case Map:
		n.object(raw, depth, without)
	case Array:
		n.dst = append(n.dst, '[')
		it := Iterate(raw)
		for i := 0; it.Next(); i++ {
			if i > 0 {
				n.dst = append(n.dst, ',')
			}
			n.value(it.Value(), depth+1, nil)
		}
		n.dst = append(n.dst, ']')
	case Text:
		n.dst = appendCanonical(n.dst, bytes.Trim(raw, " \n\r\t"))
	default:
		n.dst = append(n.dst, bytes.Trim(raw, " \n\r\t")...)
	}
}

func (n *normalizer) object(raw []byte, depth int, without []string) {
	first := len(n.list)
	it := Iterate(raw)
	for it.Next() {
		key := it.Key()
		if !contains(without, key) {
			n.list = append(n.list, member{token: it.RawKey(), key: key, value: it.Value()})
		}
	}
	slices.SortStableFunc(n.list[first:], func(a, b member) int { return bytes.Compare(a.key, b.key) })
	n.dst = append(n.dst, '{')
	for i := first; i < len(n.list); i++ {
		if i > first {
			n.dst = append(n.dst, ',')
		}
		m := n.list[i]
		n.dst = appendCanonical(n.dst, m.token)
		n.dst = append(n.dst, ':')
		n.value(m.value, depth+1, nil)
	}
	n.dst = append(n.dst, '}')
	n.list = n.list[:first]
}

// Equal tells whether two documents say the same in the same order: white
// space and the way a string is escaped make no difference, key order and
// number literals do.
func Equal(a, b []byte) bool {
	i, j := 0, 0
	for {
		i, j = skipSpace(a, i), skipSpace(b, j)
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		if a[i] != '"' {
			i, j = i+1, j+1
			continue
		}
		endA, endB := skipString(a, i), skipString(b, j)
		if !bytes.Equal(plain(a[i:endA]), plain(b[j:endB])) {
			return false
		}
		i, j = endA, endB
	}
}
