package search

import (
	"fmt"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

const (
	maxDepth = 512  // of a body; the search object has bounds of its own
	maxNames = 1000 // of a list
	maxText  = 4096 // bytes of one name, pattern or word
)

// input reads the members of a JSON body, leniently where old clients need it:
// null is as good as nothing, [] is an empty object, unknown members are left
// alone. After the first problem nothing more is read; err tells it.
type input struct {
	raw []byte
	err error
}

// parse checks a body. No body at all is an empty object: some endpoints need
// nothing.
func parse(raw []byte) *input {
	if len(raw) == 0 {
		return &input{raw: []byte("{}")}
	}
	if err := rawjson.CheckObject(raw, rawjson.Limits{Depth: maxDepth}); err != nil {
		return &input{err: err}
	}
	return &input{raw: rawjson.Object(raw)}
}

func (in *input) fail(key, format string, args ...any) {
	if in.err == nil {
		in.err = problem.Field(problem.Invalid, key, format, args...)
	}
}

// get gives a member; ok is false when it is missing or null.
func (in *input) get(key string) (value []byte, ok bool) {
	if in.err != nil {
		return nil, false
	}
	value, ok = rawjson.Get(in.raw, key)
	return value, ok && rawjson.KindOf(value) != rawjson.Null
}

// text gives a string that may be missing.
func (in *input) text(key string) string { return in.textOf(key, maxText) }

// textOf gives a string of at most so many bytes that may be missing.
func (in *input) textOf(key string, most int) string {
	v, ok := in.get(key)
	if !ok {
		return ""
	}
	s, isText := rawjson.String(v)
	switch {
	case !isText:
		in.fail(key, "must be a string, not %s", rawjson.KindOf(v))
	case len(s) > most:
		in.fail(key, "is longer than %d bytes", most)
	}
	return s
}

// name gives a string that must be there and not be empty.
func (in *input) name(key string) string { return in.nameOf(key, maxText) }

// nameOf is name with at most so many bytes.
func (in *input) nameOf(key string, most int) string {
	s := in.textOf(key, most)
	if _, there := in.get(key); !there {
		in.fail(key, "is missing%s", in.instead(key))
	}
	if s == "" {
		in.fail(key, "must be a string that is not empty")
	}
	return s
}

// instead tells of a member that is the key but for case, hyphens and
// underscores.
func (in *input) instead(key string) (said string) {
	plain := strings.NewReplacer("-", "", "_", "")
	_ = rawjson.Members(in.raw, func(name string, _ []byte) error { // checked by parse
		if name != key && strings.EqualFold(plain.Replace(name), plain.Replace(key)) {
			said = fmt.Sprintf("; the body has %q in its place", name)
		}
		return nil
	})
	return said
}

// list gives the strings of an array under the first of the keys that is
// there; nil if none is.
func (in *input) list(keys ...string) []string { return in.listOf(maxNames, keys...) }

// listOf is list with at most so many strings.
func (in *input) listOf(most int, keys ...string) (all []string) {
	for _, key := range keys {
		v, ok := in.get(key)
		if !ok {
			continue
		}
		if s, isText := rawjson.String(v); isText {
			return []string{s}
		}
		add := func(i int, v []byte) error {
			s, isText := rawjson.String(v)
			if !isText || len(s) > maxText || i >= most {
				in.fail(rawjson.Index(key, i), "must be a string of at most %d bytes, one of at most %d", maxText, most)
			}
			all = append(all, s)
			return in.err
		}
		switch kind := rawjson.KindOf(v); kind {
		case rawjson.Array:
			_ = rawjson.Elements(v, add) // in has the error
		case rawjson.Map: // an array that PHP took elements out of has its numbers as keys
			_ = rawjson.Members(v, func(name string, v []byte) error {
				if !rawjson.IsListKey(name) {
					in.fail(key, "must be an array of strings, not %s", kind)
					return in.err
				}
				return add(len(all), v)
			})
		default:
			in.fail(key, "must be an array of strings, not %s", kind)
		}
		return all
	}
	return nil
}

// search gives the search object: JSON within a JSON string, as the API says,
// or the object itself.
func (in *input) search() []byte {
	v, ok := in.get("search")
	if !ok {
		in.fail("search", "is missing: a search object as a JSON string")
		return nil
	}
	switch rawjson.KindOf(v) {
	case rawjson.Text:
		b, _ := rawjson.Bytes(v)
		return b
	case rawjson.Map, rawjson.Array:
		return rawjson.Object(v)
	}
	in.fail("search", "must be a search object as a JSON string, not %s", rawjson.KindOf(v))
	return nil
}
