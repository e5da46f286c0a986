package search_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/modules/search"
)

func keys(names ...string) []port.Key {
	var list []port.Key
	for _, n := range names {
		list = append(list, port.Key{Type: "page", OUUID: n})
	}
	return list
}

func TestQueue(t *testing.T) {
	q := search.NewQueue()
	take := func(n int, want ...string) {
		t.Helper()
		if got := q.Take(n); !slices.Equal(got, keys(want...)) {
			t.Fatalf("took %v, want %v", got, want)
		}
	}
	state := func(pending int, name string, waits bool) {
		t.Helper()
		if got := q.Pending(); got != pending {
			t.Errorf("%d are pending, want %d", got, pending)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		mark := q.Target(keys(name)...)
		if got := mark > 0 && q.Wait(ctx, mark) != nil; got != waits {
			t.Errorf("waiting for %s: %t, want %t", name, got, waits)
		}
	}
	take(5)
	q.Mark(keys("a", "b", "a", "c")...)
	state(3, "a", true)
	state(3, "x", false)
	take(2, "a", "b")
	state(3, "a", true) // being applied
	first := q.Target(keys("a")...)
	q.Mark(keys("a", "c")...) // a has changed again, c waits already
	state(4, "a", true)
	q.Done()
	if err := q.Wait(t.Context(), first); err != nil {
		t.Errorf("the first change of a is applied: %v", err)
	}
	state(2, "a", true)
	state(2, "b", false)
	take(5, "c", "a")
	q.Done()
	state(0, "a", false)
	if q.Target() != 0 {
		t.Error("there is something to wait for")
	}
}

// TestQueueUnderLoad marks and waits from many goroutines while one takes.
// Whoever waits for a mark must see that the batch with it has been applied.
func TestQueueUnderLoad(t *testing.T) {
	q := search.NewQueue()
	var mu sync.Mutex
	newest, applied := map[port.Key]int{}, map[port.Key]int{}
	ctx, stop := context.WithCancel(t.Context())
	var taker, writers sync.WaitGroup
	taker.Go(func() {
		for ctx.Err() == nil {
			batch := q.Take(7)
			mu.Lock()
			for _, k := range batch {
				applied[k] = newest[k]
			}
			mu.Unlock()
			if batch != nil {
				q.Done()
			}
		}
	})
	for w := range 16 {
		writers.Go(func() {
			for i := range 200 {
				k := port.Key{Type: "page", OUUID: fmt.Sprint(i * w % 23)}
				mu.Lock()
				newest[k]++
				mine := newest[k]
				mu.Unlock()
				q.Mark(k)
				if mark := q.Target(k); mark > 0 {
					if err := q.Wait(t.Context(), mark); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				if applied[k] < mine {
					t.Errorf("waited for change %d of %v, but %d is applied", mine, k, applied[k])
				}
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	stop()
	taker.Wait()
	if q.Pending() != 0 {
		t.Errorf("%d are left", q.Pending())
	}
}
