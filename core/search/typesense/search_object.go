package typesense

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// document is a document in hand, with the objects in it, the document itself
// first.
type document struct {
	view    *view
	id      string
	order   int64 // its _n
	key     search.Key
	ref     int64
	raw     []byte
	objects []*object
	fields  []column // of all values, in the order in which they came first
}

// object is a document or one of its nested objects, taken apart from the
// source as the import did it.
type object struct {
	doc   *document
	space *mapping.Space
	up    *object
	id    string
	vals  map[string][]value // by column
	paths []string           // of all values
	words map[string]*tokens // of texts that were looked at
}

// value is one value: text of a keyword or text, num of the others.
type value struct {
	text string
	num  float64
}

// tokens are the words of all texts of an object in one column.
type tokens struct {
	terms  []string
	places []int
	length int // without what stands at the place of another, as synonyms do
}

// betweenTexts is how far the places of two texts of one field are apart.
const betweenTexts = 100

func (o *object) root() *object {
	for o.up != nil {
		o = o.up
	}
	return o
}

func (o *object) values(column string) []value { return o.vals[column] }

func (o *object) has(path string) bool {
	return slices.ContainsFunc(o.paths, func(p string) bool {
		return strings.HasPrefix(p, path) && (len(p) == len(path) || p[len(path)] == '.')
	})
}

// within gives the objects of a space inside the object.
func (o *object) within(sp *mapping.Space) []*object {
	var out []*object
	for _, k := range o.doc.objects {
		if k.space != sp {
			continue
		}
		for up := k.up; up != nil; up = up.up {
			if up == o {
				out = append(out, k)
				break
			}
		}
	}
	return out
}

// tokens analyzes the texts of a column.
func (o *object) tokens(f *mapping.Field, column string) *tokens {
	if w := o.words[column]; w != nil {
		return w
	}
	w := &tokens{}
	next := 0
	for _, v := range o.vals[column] {
		terms, tokens := f.Analyzer.Terms(v.text)
		last, base := -1, next
		for i, t := range tokens {
			if len(terms[i]) > maxTerm {
				continue
			}
			at := base + int(t.Pos)
			w.terms, w.places = append(w.terms, terms[i]), append(w.places, at)
			if at != last {
				w.length++
				last = at
			}
			next = at + 1 + betweenTexts
		}
	}
	if o.words == nil {
		o.words = map[string]*tokens{}
	}
	o.words[column] = w
	return w
}
