package rawjson

import (
	"bytes"
	"crypto/sha1"
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
	dst, _ = normal(dst, room[:0], raw, 0)
	return dst
}

// maxNesting bounds the recursion for input that Check has not seen.
const maxNesting = 10000

// normal appends the canonical form of one value. list holds the members of
// all open objects, innermost last; both slices are handed through and back,
// so that they can live on the stack of the caller.
func normal(dst []byte, list []member, raw []byte, depth int) ([]byte, []member) {
	kind := KindOf(raw)
	if depth > maxNesting {
		kind = None
	}
	switch kind {
	case Map:
		return normalObject(dst, list, raw, depth)
	case Array:
		dst = append(dst, '[')
		it := Iterate(raw)
		for i := 0; it.Next(); i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, list = normal(dst, list, it.Value(), depth+1)
		}
		return append(dst, ']'), list
	case Text:
		return appendCanonical(dst, bytes.Trim(raw, " \n\r\t")), list
	}
	return append(dst, bytes.Trim(raw, " \n\r\t")...), list
}

func normalObject(dst []byte, list []member, raw []byte, depth int) ([]byte, []member) {
	first := len(list)
	it := Iterate(raw)
	for it.Next() {
		list = append(list, member{token: it.RawKey(), key: it.Key(), value: it.Value()})
	}
	slices.SortStableFunc(list[first:], func(a, b member) int { return bytes.Compare(a.key, b.key) })
	end := len(list)
	dst = append(dst, '{')
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ',')
		}
		dst = appendCanonical(dst, list[i].token)
		dst = append(dst, ':')
		dst, list = normal(dst, list, list[i].value, depth+1)
	}
	return append(dst, '}'), list[:first]
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

// Hasher hashes documents one after the other in buffers that it keeps. Its
// zero value is ready; it is not safe for concurrent use.
type Hasher struct {
	text []byte
	list []member
}

// keepRoom is the largest buffer a Hasher keeps, in bytes.
const keepRoom = 64 << 10

// SHA1 gives the SHA-1 of the canonical form of raw.
func (h *Hasher) SHA1(raw []byte) [sha1.Size]byte {
	h.text, h.list = normal(h.text[:0], h.list[:0], raw, 0)
	sum := sha1.Sum(h.text)
	clear(h.list[:cap(h.list)]) // it points into raw
	if cap(h.text) > keepRoom {
		h.text, h.list = nil, nil
	}
	return sum
}
