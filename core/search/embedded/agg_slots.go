package embedded

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// slots finds the bucket of a value. When the values span few buckets, these
// stand in a row, because to compute the month of every date costs more than
// all the rest; else they are made as they come.
type slots struct {
	h    *histogram
	row  []slot
	made int // of those that are not in the row

	base   float64 // of numbers: which interval the first of the row is
	scale  float64 // of dates: buckets of the row per unit of values
	sparse map[float64]*slot
	// The sparse bucket that was used last, from key to end.
	key, end float64
	last     *slot
}

// maxRow is how many buckets may stand in a row.
const maxRow = 4096

// layOut makes the slots for the values of sets.
func (h *histogram) layOut(sets []set, families [][]*family) slots {
	out := slots{h: h, sparse: map[float64]*slot{}, key: math.NaN(), end: math.NaN()}
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for i, s := range sets {
		for _, f := range families[i] {
			k := cursor[float64]{c: &f.nums}
			for _, object := range s.objects {
				for _, v := range k.seek(object) {
					low, high = min(low, v), max(high, v)
					n++
				}
			}
		}
	}
	if n == 0 || h.Dates && h.Calendar == "" {
		return out
	}
	if h.Calendar == "" {
		out.base = math.Floor((low - h.Offset) / h.Interval)
		if n := math.Floor((high-h.Offset)/h.Interval) - out.base + 1; n <= maxRow {
			out.row = make([]slot, int(n))
		}
		for i := range out.row {
			out.row[i].key = (out.base+float64(i))*h.Interval + h.Offset
		}
		return out
	}
	from, to := h.Floor(low), h.Floor(high)
	keys, ok := h.Walk(from, to, min(maxRow, n))
	if !ok || keys[len(keys)-1] != to {
		return out
	}
	out.row = make([]slot, len(keys))
	for i, key := range keys {
		out.row[i].key = key
	}
	if to > from {
		out.scale = float64(len(keys)-1) / (to - from)
	}
	return out
}

// at gives the bucket that holds a value.
func (s *slots) at(v float64) *slot {
	n := len(s.row)
	switch {
	case n == 0:
	case s.h.Calendar == "":
		if i := math.Floor((v-s.h.Offset)/s.h.Interval) - s.base; i >= 0 && i < float64(n) {
			return &s.row[int(i)]
		}
	case v >= s.row[0].key:
		// The buckets are about as wide as each other.
		i := min(int((v-s.row[0].key)*s.scale), n-1)
		for i > 0 && v < s.row[i].key {
			i--
		}
		for i+1 < n && v >= s.row[i+1].key {
			i++
		}
		if i+1 < n || s.h.Floor(v) == s.row[i].key {
			return &s.row[i]
		}
	}
	if v >= s.key && v < s.end {
		return s.last
	}
	s.key = s.h.Floor(v)
	s.end = s.h.After(s.key)
	if s.last = s.sparse[s.key]; s.last == nil {
		s.last = &slot{key: s.key}
		s.sparse[s.key] = s.last
		s.made++
	}
	return s.last
}

// find gives the bucket of a key; nil if nothing is in it.
func (s *slots) find(key float64) *slot {
	if found := s.sparse[key]; found != nil {
		return found
	}
	i, ok := slices.BinarySearchFunc(s.row, key, func(a slot, key float64) int {
		return cmp.Compare(a.key, key)
	})
	if !ok {
		return nil
	}
	return &s.row[i]
}

// keys gives the keys of the buckets that hold something, in any order.
func (s *slots) keys() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for i := range s.row {
			if s.row[i].count > 0 && !yield(s.row[i].key) {
				return
			}
		}
		for key := range s.sparse {
			if !yield(key) {
				return
			}
		}
	}
}
