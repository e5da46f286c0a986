package search

import (
	"context"
	"sync"

	"github.com/quoin-cms/quoin/core/port"
)

// queue holds the keys of documents whose index is out of date, each once, in
// the order in which they came. One goroutine takes them; any may mark them or
// wait for them. Marks are numbered, so that somebody who waits for a mark does
// not wait for those that come later.
type queue struct {
	mu      sync.Mutex
	order   []port.Key          // waiting, oldest first
	marks   map[port.Key]uint64 // newest mark of what is waiting or being applied
	last    uint64              // number of the newest mark
	taken   uint64              // marks up to here are being applied or done
	applied uint64              // marks up to here are done
	batch   []port.Key          // being applied
	next    chan struct{}       // closed when applied rises
	wake    chan struct{}       // tells the goroutine that takes
}

func newQueue() *queue {
	return &queue{marks: map[port.Key]uint64{}, next: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// mark adds keys. It never blocks and is quick.
func (q *queue) mark(keys ...port.Key) {
	q.mu.Lock()
	for _, k := range keys {
		if q.marks[k] > q.taken { // it waits already
			continue
		}
		q.last++
		q.marks[k] = q.last
		q.order = append(q.order, k)
	}
	q.mu.Unlock()
	q.signal()
}

// signal wakes the goroutine that takes, now or when it asks next.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take gives the oldest keys, n at most. They count as waiting until done is
// called. What is given is valid until then.
func (q *queue) take(n int) []port.Key {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.order))
	if n == 0 {
		return nil
	}
	q.batch = append(q.batch[:0], q.order[:n]...)
	q.taken = q.marks[q.batch[n-1]]
	q.order = q.order[n:]
	return q.batch
}

// done tells that the keys last taken have been applied.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, k := range q.batch {
		if q.marks[k] <= q.taken {
			delete(q.marks, k)
		}
	}
	q.batch = q.batch[:0]
	q.applied = q.taken
	close(q.next)
	q.next = make(chan struct{})
}

// target gives the mark to wait for so that the keys are applied, all keys if
// none are given; 0 when there is nothing to wait for.
func (q *queue) target(keys ...port.Key) (mark uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(keys) == 0 && q.last > q.applied {
		return q.last
	}
	for _, k := range keys {
		mark = max(mark, q.marks[k])
	}
	return mark
}

// wait returns when the mark has been applied, or ctx ends with its error.
func (q *queue) wait(ctx context.Context, mark uint64) error {
	for {
		q.mu.Lock()
		applied, next := q.applied, q.next
		q.mu.Unlock()
		if applied >= mark {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pending counts the keys that have not been applied.
func (q *queue) pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.order) + len(q.batch)
}
