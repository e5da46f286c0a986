package embedded

import (
	"slices"
	"sort"
	"strings"
	"sync/atomic"
)

// dict numbers the terms of a field in the order in which they come. Numbers
// are called ordinals. Only a writer adds terms; readers hold the lock of the
// index. In a base it has no terms of its own.
type dict struct {
	base  *baseTerms // or nil
	ords  map[string]uint32
	terms []string
	// sorted caches the ordinals of the first terms in the order of their
	// terms. Readers make it; any of several made at once is right.
	sorted atomic.Pointer[[]uint32]
}

func (d *dict) find(term string) (uint32, bool) {
	if d.base != nil {
		return d.base.find(term)
	}
	ord, ok := d.ords[term]
	return ord, ok
}

// term gives the term of an ordinal. It is not to be kept longer than the
// segment is held.
func (d *dict) term(ord uint32) string {
	if d.base != nil {
		return d.base.term(ord)
	}
	return d.terms[ord]
}

// size is how many terms there are.
func (d *dict) size() int {
	if d.base != nil {
		return d.base.size()
	}
	return len(d.terms)
}

// add gives the ordinal of a term, which is new or known.
func (d *dict) add(term []byte) uint32 {
	if ord, ok := d.ords[string(term)]; ok {
		return ord
	}
	if d.ords == nil {
		d.ords = map[string]uint32{}
	}
	ord := uint32(len(d.terms))
	s := string(term)
	d.ords[s] = ord
	d.terms = append(d.terms, s)
	return ord
}

// order gives all ordinals in the order of their terms.
func (d *dict) order() []uint32 {
	if d.base != nil {
		return d.base.ords
	}
	var old []uint32
	if p := d.sorted.Load(); p != nil {
		if old = *p; len(old) == len(d.terms) {
			return old
		}
	}
	fresh := make([]uint32, 0, len(d.terms)-len(old))
	for ord := len(old); ord < len(d.terms); ord++ {
		fresh = append(fresh, uint32(ord))
	}
	byTerm := func(a, b uint32) int { return strings.Compare(d.terms[a], d.terms[b]) }
	slices.SortFunc(fresh, byTerm)
	all := fresh
	if len(old) > 0 { // merge, because most of it is in order already
		all = make([]uint32, 0, len(d.terms))
		for len(old) > 0 && len(fresh) > 0 {
			if byTerm(old[0], fresh[0]) < 0 {
				all, old = append(all, old[0]), old[1:]
			} else {
				all, fresh = append(all, fresh[0]), fresh[1:]
			}
		}
		all = append(append(all, old...), fresh...)
	}
	d.sorted.Store(&all)
	return all
}

// prefixed gives the ordinals of the terms that start with prefix.
func (d *dict) prefixed(prefix string) []uint32 {
	if d.base != nil {
		return d.base.prefixed(prefix)
	}
	all := d.order()
	if prefix == "" {
		return all
	}
	from := sort.Search(len(all), func(i int) bool { return d.terms[all[i]] >= prefix })
	n := sort.Search(len(all)-from, func(i int) bool { return !strings.HasPrefix(d.terms[all[from+i]], prefix) })
	return all[from : from+n]
}
