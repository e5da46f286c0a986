package embedded

import "slices"

// smallest gives the k smallest of list in their order, and may change list.
// It keeps a heap of k, so a long list is not sorted.
func smallest[T any](list []T, k int, compare func(a, b T) int) []T {
	if len(list) <= 2*k {
		slices.SortFunc(list, compare)
		return list[:min(k, len(list))]
	}
	h := heap[T]{max: k, compare: compare}
	for _, v := range list {
		h.offer(v)
	}
	return h.sorted()
}

// heap keeps the max smallest values it was offered, the largest on top.
type heap[T any] struct {
	max     int
	compare func(a, b T) int
	list    []T
}

// full tells whether a new value must be smaller than the top to stay.
func (h *heap[T]) full() bool { return len(h.list) >= h.max }

// top gives the largest value kept.
func (h *heap[T]) top() *T { return &h.list[0] }

func (h *heap[T]) offer(v T) {
	switch {
	case h.max == 0:
	case len(h.list) < h.max:
		h.list = append(h.list, v)
		for i := len(h.list) - 1; i > 0; {
			up := (i - 1) / 2
			if h.compare(h.list[i], h.list[up]) <= 0 {
				return
			}
			h.list[i], h.list[up] = h.list[up], h.list[i]
			i = up
		}
	case h.compare(v, h.list[0]) < 0:
		h.list[0] = v
		h.sink()
	}
}

func (h *heap[T]) sink() {
	for i := 0; ; {
		big := 2*i + 1
		if big >= len(h.list) {
			return
		}
		if r := big + 1; r < len(h.list) && h.compare(h.list[r], h.list[big]) > 0 {
			big = r
		}
		if h.compare(h.list[i], h.list[big]) >= 0 {
			return
		}
		h.list[i], h.list[big] = h.list[big], h.list[i]
		i = big
	}
}

// sorted gives the values in their order; the heap is of no use afterwards.
func (h *heap[T]) sorted() []T {
	slices.SortFunc(h.list, h.compare)
	return h.list
}
