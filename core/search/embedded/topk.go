package embedded

import "slices"

// smallest gives the k smallest of list in their order, and may change list.
// A long list is not sorted.
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

// heap keeps the max smallest values it was offered, the largest on top. Many
// are kept in no order, with as many again, and halved when there is no more
// room: a heap of thousands takes far longer.
type heap[T any] struct {
	max     int
	compare func(a, b T) int
	list    []T
	halved  bool
}

// maxHeap is up to how many values a heap is faster.
const maxHeap = 256

// full tells whether a new value must be smaller than the top to stay.
func (h *heap[T]) full() bool {
	if h.max > maxHeap {
		return h.halved
	}
	return len(h.list) >= h.max
}

// top gives a value that is not smaller than any that will be kept, once the
// heap is full.
func (h *heap[T]) top() *T {
	if h.max > maxHeap {
		return &h.list[h.max-1]
	}
	return &h.list[0]
}

func (h *heap[T]) offer(v T) {
	switch {
	case h.max == 0:
	case h.max > maxHeap:
		h.gather(v)
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

func (h *heap[T]) gather(v T) {
	if h.halved && h.compare(v, h.list[h.max-1]) >= 0 {
		return
	}
	if n := len(h.list); n == cap(h.list) { // append would grow by a quarter
		h.list = slices.Grow(h.list, min(max(n, maxHeap), 2*h.max-n))
	}
	h.list = append(h.list, v)
	if len(h.list) >= 2*h.max {
		h.halve()
	}
}

// halve keeps the smallest values, the largest of them last.
func (h *heap[T]) halve() {
	choose(h.list, h.max-1, h.compare)
	clear(h.list[h.max:])
	h.list = h.list[:h.max]
	h.halved = true
}

// choose puts the value that has the place k in the order there, and smaller
// ones before it.
func choose[T any](list []T, k int, compare func(a, b T) int) {
	low, high := 0, len(list)-1
	for high-low > 16 {
		mid := low + (high-low)/2
		if compare(list[mid], list[low]) < 0 {
			list[mid], list[low] = list[low], list[mid]
		}
		if compare(list[high], list[low]) < 0 {
			list[high], list[low] = list[low], list[high]
		}
		if compare(list[high], list[mid]) < 0 {
			list[high], list[mid] = list[mid], list[high]
		}
		pivot := list[mid]
		i, j := low, high
		for i <= j {
			for compare(list[i], pivot) < 0 {
				i++
			}
			for compare(list[j], pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return
		}
	}
	slices.SortFunc(list[low:high+1], compare)
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
	if len(h.list) > h.max {
		h.halve()
	}
	slices.SortFunc(h.list, h.compare)
	return h.list
}

// page gives the first value, and those from a place on in their order: what
// stands before it needs no order. The heap is of no use afterwards.
func (h *heap[T]) page(from int) (first T, list []T) {
	if len(h.list) > h.max {
		h.halve()
	}
	if from >= len(h.list) {
		return first, nil
	}
	if from == 0 {
		list = h.sorted()
		return list[0], list
	}
	first = slices.MinFunc(h.list, h.compare)
	choose(h.list, from, h.compare)
	list = h.list[from:]
	slices.SortFunc(list, h.compare)
	return first, list
}
