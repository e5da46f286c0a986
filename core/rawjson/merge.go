package rawjson

import "bytes"

// member is one member of an object, a part of the document.
type member struct {
	token, key, value []byte // key as written, key decoded, value
	used              bool
}

// few is how many members are compared one by one before a map pays.
const few = 24

// members collects the members of an object into list.
func members(list []member, raw []byte) []member {
	if KindOf(raw) != Map {
		return list
	}
	it := Iterate(raw)
	for it.Next() {
		list = append(list, member{token: it.RawKey(), key: it.Key(), value: it.Value()})
	}
	return list
}

// finder looks members up by their key; the last one of a name wins.
type finder struct {
	list []member
	byID map[string]int
}

func newFinder(list []member) finder {
	f := finder{list: list}
	if len(list) > few {
		f.byID = make(map[string]int, len(list))
		for i := range list {
			f.byID[string(list[i].key)] = i
		}
	}
	return f
}

func (f *finder) find(key []byte) *member {
	if f.byID != nil {
		if i, ok := f.byID[string(key)]; ok {
			return &f.list[i]
		}
		return nil
	}
	for i := len(f.list) - 1; i >= 0; i-- {
		if bytes.Equal(f.list[i].key, key) {
			return &f.list[i]
		}
	}
	return nil
}

// Merge appends the shallow merge of two objects: the keys of base keep their
// place and get the value of patch where it has one, the other keys of patch
// follow in patch's order. Nested objects and arrays are replaced whole, as
// PHP's array_merge does on string keys. What is no object counts as empty.
func Merge(dst, base, patch []byte) []byte {
	var room [few]member
	f := newFinder(members(room[:0], patch))
	dst = append(dst, '{')
	first := true
	it := Iterate(base)
	for KindOf(base) == Map && it.Next() {
		value := it.Value()
		if m := f.find(it.Key()); m != nil {
			value, m.used = m.value, true
		}
		dst = appendMember(dst, &first, it.RawKey(), value)
	}
	for i := range f.list {
		if !f.list[i].used {
			dst = appendMember(dst, &first, f.list[i].token, f.list[i].value)
		}
	}
	return append(dst, '}')
}

// Set appends the object raw with one top-level member replaced at its place,
// or added at the end. The value is copied as it is and must be valid JSON.
func Set(dst, raw []byte, key string, value []byte) []byte {
	dst = append(dst, '{')
	first, done := true, false
	it := Iterate(raw)
	for KindOf(raw) == Map && it.Next() {
		v := it.Value()
		if !done && string(it.Key()) == key {
			v, done = value, true
		}
		dst = appendMember(dst, &first, it.RawKey(), v)
	}
	if !done {
		if !first {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, key)
		dst = append(dst, ':')
		dst = append(dst, value...)
	}
	return append(dst, '}')
}

// Without appends the object raw less the top-level members of the given keys.
func Without(dst, raw []byte, keys ...string) []byte {
	dst = append(dst, '{')
	first := true
	it := Iterate(raw)
	for KindOf(raw) == Map && it.Next() {
		if !contains(keys, it.Key()) {
			dst = appendMember(dst, &first, it.RawKey(), it.Value())
		}
	}
	return append(dst, '}')
}

func contains(keys []string, key []byte) bool {
	for _, k := range keys {
		if k == string(key) {
			return true
		}
	}
	return false
}

func appendMember(dst []byte, first *bool, token, value []byte) []byte {
	if !*first {
		dst = append(dst, ',')
	}
	*first = false
	dst = append(dst, token...)
	dst = append(dst, ':')
	return append(dst, value...)
}
