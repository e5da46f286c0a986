package searchtest

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
)

// The oracle evaluates requests, as decoded JSON, over documents, as decoded
// JSON. It shares no code with engines or the parser; it is slow and plain.

// obj is a document or a nested object.
type obj struct {
	path   string // of the nested object, "" for the document
	parent *obj
	kids   []*obj
	vals   map[string]*vals

	index, typ, id string
}

// vals are the values of an object under one path, by how they are kept.
type vals struct {
	tokens []string // of text
	at     []int    // positions of the tokens
	isText bool
	words  []string // keywords
	nums   []float64
	dates  []float64
	flags  []float64
	places []place
}

func (o *obj) at(path string) *vals {
	if v := o.vals[path]; v != nil {
		return v
	}
	return &vals{}
}

func (o *obj) root() *obj {
	for o.parent != nil {
		o = o.parent
	}
	return o
}

// below gives the objects of a nested path inside o.
func (o *obj) below(path string) (out []*obj) {
	for _, k := range o.kids {
		if k.path == path {
			out = append(out, k)
		}
		out = append(out, k.below(path)...)
	}
	return out
}

// kinds of the mapping of the random documents, by type and path; a path that
// is not here is mapped dynamically.
var kinds = map[string]map[string]search.Kind{
	"page": {
		"title": search.KindText, "tag": search.KindKeyword, "num": search.KindLong, "price": search.KindDouble,
		"flag": search.KindBoolean, "date": search.KindDate, "place": search.KindGeoPoint,
		"items": search.KindNested, "items.sku": search.KindKeyword, "items.qty": search.KindLong, "items.name": search.KindText,
		"items.marks": search.KindNested, "items.marks.label": search.KindKeyword, "items.marks.score": search.KindLong,
	},
	"note": {"title": search.KindText, "tag": search.KindKeyword, "num": search.KindKeyword, "items.sku": search.KindKeyword, "date": search.KindDate},
}

func oracleDoc(index string, key search.Key, raw []byte) *obj {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err)
	}
	o := &obj{index: index, typ: key.Type, id: key.OUUID, vals: map[string]*vals{}}
	o.vals["_contenttype"] = &vals{words: []string{key.Type}}
	o.vals["_id"] = &vals{words: []string{key.OUUID}}
	o.vals["_index"] = &vals{words: []string{index}}
	o.members("", m)
	return o
}

func (o *obj) members(path string, m map[string]any) {
	for key, v := range m {
		if path != "" {
			key = path + "." + key
		}
		o.add(key, v)
	}
}

func (o *obj) typeName() string { return o.root().typ }

func (o *obj) add(path string, v any) {
	kind := kinds[o.typeName()][path]
	if kind == search.KindGeoPoint {
		o.slot(path).places = places(nil, v)
		return
	}
	switch v := v.(type) {
	case nil:
		return
	case []any:
		for _, e := range v {
			o.add(path, e)
		}
		return
	case map[string]any:
		if kind == search.KindNested {
			k := &obj{path: path, parent: o, vals: map[string]*vals{}}
			o.kids = append(o.kids, k)
			k.members(path, v)
			return
		}
		o.members(path, v)
		return
	}
	o.scalar(path, kind, v)
}

func (o *obj) slot(path string) *vals {
	if o.vals[path] == nil {
		o.vals[path] = &vals{}
	}
	return o.vals[path]
}

func (o *obj) scalar(path string, kind search.Kind, v any) {
	s := o.slot(path)
	text := textOf(v)
	switch {
	case kind == search.KindKeyword:
		s.word(text)
		o.root().slot("_all").text(text)
	case kind == search.KindText:
		s.text(text)
		o.root().slot("_all").text(text)
	case kind == search.KindDate:
		s.dates = append(s.dates, dateOf(text, false))
	case kind != "":
		if b, ok := v.(bool); ok {
			s.flags = append(s.flags, oneIf(b))
		} else {
			s.nums = append(s.nums, v.(float64))
		}
	default:
		switch v := v.(type) {
		case string:
			s.text(text)
			o.root().slot("_all").text(text)
			o.slot(path + ".keyword").word(text)
		case float64:
			s.nums = append(s.nums, v)
		case bool:
			s.flags = append(s.flags, oneIf(v))
		}
	}
}

func (s *vals) text(t string) {
	at := 0
	if n := len(s.at); n > 0 {
		at = s.at[n-1] + 101
	}
	s.isText = true
	for i, word := range strings.Fields(strings.ToLower(t)) {
		s.tokens, s.at = append(s.tokens, word), append(s.at, at+i)
	}
}

func (s *vals) word(w string) {
	if !slices.Contains(s.words, w) {
		s.words = append(s.words, w)
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// textOf writes a JSON scalar as in the request.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// dateOf reads yyyy-MM-dd or yyyy-MM; up gives the last millisecond.
func dateOf(s string, up bool) float64 {
	end := func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	t, err := time.Parse("2006-01-02", s)
	if err != nil {
		if t, err = time.Parse("2006-01", s); err != nil {
			return math.NaN()
		}
		end = func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	}
	if up {
		t = end(t).Add(-time.Millisecond)
	}
	return float64(t.UnixMilli())
}

func numOf(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f
		}
	}
	return math.NaN()
}

// exact tells whether the object has the value, in any way it is kept.
func (s *vals) exact(v any) bool {
	text := textOf(v)
	if slices.Contains(s.tokens, text) || slices.Contains(s.words, text) || slices.Contains(s.nums, numOf(v)) {
		return true
	}
	low, high := dateOf(text, false), dateOf(text, true)
	if slices.ContainsFunc(s.dates, func(d float64) bool { return d >= low && d <= high }) {
		return true
	}
	return (text == "true" || text == "false") && slices.Contains(s.flags, oneIf(text == "true"))
}

func (s *vals) any() bool {
	return s.isText || len(s.words)+len(s.nums)+len(s.dates)+len(s.flags)+len(s.places) > 0
}
