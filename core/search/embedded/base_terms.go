package embedded

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"unsafe"
)

// baseTerms is the dictionary of a field in a base with its postings: terms in
// the order of their bytes. Everything but asked lies in the base.
type baseTerms struct {
	arena []byte
	ends  []uint32
	ords  []uint32 // 0, 1, 2 … of each term
	// logs has for each term: how many objects, the last of them, how often it
	// holds the term, then those before it as in list.log.
	logs   []byte
	starts []uint64
	many   []uint32                // ordinals of the terms of more than fewMax objects
	asked  []atomic.Pointer[known] // of each of them
}

func (t *baseTerms) size() int { return len(t.ends) - 1 }

func (t *baseTerms) term(ord uint32) string {
	from, to := t.ends[ord], t.ends[ord+1]
	if from == to {
		return ""
	}
	return unsafe.String(&t.arena[from], int(to-from))
}

func (t *baseTerms) find(term string) (uint32, bool) {
	at := t.atLeast(term, 0)
	return uint32(at), at < t.size() && t.term(uint32(at)) == term
}

// atLeast gives the first ordinal from a place on whose term is not below.
func (t *baseTerms) atLeast(term string, from int) int {
	return from + sort.Search(t.size()-from, func(i int) bool { return t.term(uint32(from+i)) >= term })
}

// prefixed gives the ordinals of the terms that start with prefix.
func (t *baseTerms) prefixed(prefix string) []uint32 {
	from := t.atLeast(prefix, 0)
	n := sort.Search(t.size()-from, func(i int) bool { return !strings.HasPrefix(t.term(uint32(from+i)), prefix) })
	return t.ords[from : from+n]
}

// at gives the posting list of an ordinal.
func (t *baseTerms) at(ord uint32) posting {
	log := t.logs[t.starts[ord]:t.starts[ord+1]]
	n, a := binary.Uvarint(log)
	one, b := binary.Uvarint(log[a:])
	tf, c := binary.Uvarint(log[a+b:])
	p := posting{one: uint32(one), tf: uint32(tf), n: uint32(n), log: log[a+b+c:]}
	if p.n > fewMax {
		if i, ok := slices.BinarySearch(t.many, ord); ok {
			p.asked = &t.asked[i]
		} else {
			p.asked = &atomic.Pointer[known]{}
		}
	}
	return p
}

// termsWriter collects the terms of a field for a base.
type termsWriter struct {
	arena, logs []byte
	ends, many  []uint32
	starts      []uint64
}

func (w *termsWriter) reset() {
	w.arena, w.logs, w.many = w.arena[:0], w.logs[:0], w.many[:0]
	w.ends, w.starts = append(w.ends[:0], 0), append(w.starts[:0], 0)
}

// add appends a term and gives its ordinal. Terms come in their order.
func (w *termsWriter) add(term string, p *growing) uint32 {
	ord := uint32(len(w.ends) - 1)
	w.arena = append(w.arena, term...)
	w.ends = append(w.ends, uint32(len(w.arena)))
	w.logs = binary.AppendUvarint(w.logs, uint64(p.n))
	w.logs = binary.AppendUvarint(w.logs, uint64(p.one))
	w.logs = binary.AppendUvarint(w.logs, uint64(p.tf))
	if p.n > 1 {
		w.logs = append(w.logs, p.more.log...)
	}
	w.starts = append(w.starts, uint64(len(w.logs)))
	if p.n > fewMax {
		w.many = append(w.many, ord)
	}
	return ord
}
