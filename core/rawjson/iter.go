package rawjson

import "github.com/quoin-cms/quoin/core/problem"

// Iter walks the members of an object or the elements of an array without
// allocating. Its zero value has nothing to give.
//
//	it := rawjson.Iterate(raw)
//	for it.Next() {
//		it.Key(), it.Value()
//	}
type Iter struct {
	b     []byte
	i     int // offset of the next member
	end   byte
	key   []byte // token, with quotes
	value []byte
}

// Iterate starts at the first member of raw. A value that is neither object
// nor array has no members.
func Iterate(raw []byte) Iter {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' && raw[i] != '[' {
		return Iter{}
	}
	return Iter{b: raw, i: i + 1, end: raw[i] + 2} // '{'+2 is '}', '['+2 is ']'
}

// Next moves to the next member and tells whether there is one.
func (it *Iter) Next() bool {
	i := skipSpace(it.b, it.i)
	if i < len(it.b) && it.b[i] == ',' {
		i = skipSpace(it.b, i+1)
	}
	if i >= len(it.b) || it.b[i] == it.end {
		it.i = len(it.b)
		return false
	}
	if it.end == '}' {
		stop := skipValue(it.b, i)
		it.key = it.b[i:stop]
		i = skipSpace(it.b, stop)
		if i < len(it.b) && it.b[i] == ':' {
			i = skipSpace(it.b, i+1)
		}
	}
	stop := skipValue(it.b, i)
	it.value = it.b[i:stop]
	it.i = stop
	return true
}

// Key gives the decoded key of the member: a part of the document unless the
// key holds an escape. It is empty in an array.
func (it *Iter) Key() []byte { return plain(it.key) }

// RawKey gives the key as it is written, with its quotes.
func (it *Iter) RawKey() []byte { return it.key }

// Value gives the bytes of the value, without white space around them.
func (it *Iter) Value() []byte { return it.value }

// Members calls f for each top-level member of an object, in order, until f
// gives an error, which Members gives back. [] counts as an empty object;
// anything else that is no object is problem.Invalid.
func Members(raw []byte, f func(key string, value []byte) error) error {
	raw = Object(raw)
	if k := KindOf(raw); k != Map {
		return problem.Field(problem.Invalid, "", "must be a JSON object, not %s", k)
	}
	it := Iterate(raw)
	for it.Next() {
		if err := f(string(it.Key()), it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// Elements calls f for each element of an array, in order, until f gives an
// error, which Elements gives back. Anything else is problem.Invalid.
func Elements(raw []byte, f func(i int, value []byte) error) error {
	if k := KindOf(raw); k != Array {
		return problem.Field(problem.Invalid, "", "must be a JSON array, not %s", k)
	}
	it := Iterate(raw)
	for i := 0; it.Next(); i++ {
		if err := f(i, it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// Get finds a top-level member of an object. The value is a part of raw.
func Get(raw []byte, key string) (value []byte, ok bool) {
	if KindOf(raw) != Map {
		return nil, false
	}
	it := Iterate(raw)
	for it.Next() {
		if string(it.Key()) == key {
			return it.Value(), true
		}
	}
	return nil, false
}

// String decodes a value that is a JSON string; ok is false for other types.
func String(value []byte) (s string, ok bool) {
	b, ok := Bytes(value)
	return string(b), ok
}

// Bytes decodes a value that is a JSON string, as String does, into a part of
// the value itself where it holds no escape.
func Bytes(value []byte) (s []byte, ok bool) {
	if KindOf(value) != Text {
		return nil, false
	}
	i := skipSpace(value, 0)
	return plain(value[i:skipString(value, i)]), true
}
