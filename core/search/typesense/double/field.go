package double

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// text is one string value: as it came, and what the index makes of it.
type text struct {
	raw    string
	tokens []string
}

type point struct{ lat, lng float64 }

// value is what one document has in one field; one of the lists is used.
type value struct {
	texts  []text
	facets []string // as facets show them, each once; for facet fields
	ints   []int64
	floats []float64
	points []point
}

// field is a concrete field with its values. Booleans are the ints 0 and 1.
type field struct {
	schemaField
	values   map[uint32]value
	postings map[string]*roaring.Bitmap  // token → documents
	exact    map[string]*roaring.Bitmap  // whole normalised text → documents
	ints     map[int64]*roaring.Bitmap   // integer → documents
	floats   map[float32]*roaring.Bitmap // the server indexes 32 bits

	mu     sync.Mutex
	sorted []string // tokens in byte order; nil when out of date
}

func newField(s schemaField) *field {
	return &field{
		schemaField: s,
		values:      map[uint32]value{},
		postings:    map[string]*roaring.Bitmap{},
		exact:       map[string]*roaring.Bitmap{},
		ints:        map[int64]*roaring.Bitmap{},
		floats:      map[float32]*roaring.Bitmap{},
	}
}

// gather collects documents of many small sets.
type gather struct {
	bits []uint64
	big  *roaring.Bitmap
}

func (g *gather) add(doc uint32) {
	word := int(doc / 64)
	if word >= len(g.bits) {
		g.bits = append(g.bits, make([]uint64, word+1-len(g.bits))...)
	}
	g.bits[word] |= 1 << (doc % 64)
}

func (g *gather) union(b *roaring.Bitmap) {
	switch {
	case b == nil:
	case b.GetCardinality() < 64:
		b.Iterate(func(doc uint32) bool { g.add(doc); return true })
	case g.big == nil:
		g.big = b.Clone()
	default:
		g.big.Or(b)
	}
}

func (g *gather) set() *roaring.Bitmap {
	out := roaring.FromDense(g.bits, true)
	if g.big != nil {
		out.Or(g.big)
	}
	return out
}

func add[K comparable](m map[K]*roaring.Bitmap, k K, doc uint32) bool {
	b := m[k]
	if b == nil {
		b = roaring.New()
		m[k] = b
	}
	b.Add(doc)
	return b.GetCardinality() == 1
}

func remove[K comparable](m map[K]*roaring.Bitmap, k K, doc uint32) bool {
	b := m[k]
	if b == nil {
		return false
	}
	b.Remove(doc)
	if !b.IsEmpty() {
		return false
	}
	delete(m, k)
	return true
}

func (f *field) put(doc uint32, v value) {
	if f.Facet {
		v.facets = f.facetValues(v)
	}
	f.values[doc] = v
	for _, t := range v.texts {
		add(f.exact, normal(t.tokens), doc)
		for _, token := range t.tokens {
			if add(f.postings, token, doc) {
				f.sorted = nil
			}
		}
	}
	for _, n := range v.ints {
		add(f.ints, n, doc)
	}
	for _, n := range v.floats {
		add(f.floats, float32(n), doc)
	}
}

func (f *field) drop(doc uint32) {
	v, ok := f.values[doc]
	if !ok {
		return
	}
	delete(f.values, doc)
	for _, t := range v.texts {
		remove(f.exact, normal(t.tokens), doc)
		for _, token := range t.tokens {
			if remove(f.postings, token, doc) {
				f.sorted = nil
			}
		}
	}
	for _, n := range v.ints {
		remove(f.ints, n, doc)
	}
	for _, n := range v.floats {
		remove(f.floats, float32(n), doc)
	}
}

// vocabulary gives all tokens in byte order.
func (f *field) vocabulary() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sorted == nil {
		for token := range f.postings {
			f.sorted = append(f.sorted, token)
		}
		slices.Sort(f.sorted)
	}
	return f.sorted
}
