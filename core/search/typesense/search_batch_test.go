package typesense

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
)

// echo answers each search with its filter as a number, and notes how many
// searches each message had.
func echo(messages *[]int) func(context.Context, []entry) ([]rawResult, error) {
	return func(_ context.Context, entries []entry) ([]rawResult, error) {
		*messages = append(*messages, len(entries))
		out := make([]rawResult, len(entries))
		for i, e := range entries {
			out[i].Found = int64(len(e.FilterBy))
			if e.FilterBy == "bad" {
				return nil, errors.New("bad")
			}
		}
		return out, nil
	}
}

// TestBatch checks that searches that do not wait for each other share a
// message.
func TestBatch(t *testing.T) {
	var messages []int
	b := newBatch(t.Context(), echo(&messages))
	ask := func(n int) error {
		answer, err := b.one(entry{FilterBy: strings.Repeat("x", n)})
		if err == nil && answer.Found != int64(n) {
			err = fmt.Errorf("%d for %d", answer.Found, n)
		}
		return err
	}
	err := b.each(3, func(i int) error {
		if i == 2 {
			return nil // has nothing to ask
		}
		if err := ask(1 + i); err != nil {
			return err
		}
		return b.each(4, func(k int) error {
			if k == 0 {
				return nil
			}
			return ask(10*i + k)
		})
	})
	if err == nil {
		err = ask(7)
	}
	if want := []int{2, 6, 1}; err != nil || !slices.Equal(messages, want) {
		t.Errorf("messages of %v, %v, want %v", messages, err, want)
	}
}

// TestBatchSplits checks that long filters are not sent together, and that there
// is an end to them.
func TestBatchSplits(t *testing.T) {
	var messages []int
	b := newBatch(t.Context(), echo(&messages))
	long := entry{FilterBy: strings.Repeat("x", maxMessage/2-1)}
	if _, err := b.ask(long, long, long); err != nil || !slices.Equal(messages, []int{2, 1}) {
		t.Errorf("messages of %v, %v", messages, err)
	}
	for range maxFilters / maxMessage {
		if _, err := b.ask(long, long); err != nil {
			if !problem.Is(err, problem.Invalid) {
				t.Errorf("too many filters: %v", err)
			}
			return
		}
	}
	t.Error("no limit of filters")
}

// TestBatchFails checks that an error or a panic of one part is that of the
// whole, and that nobody waits for ever.
func TestBatchFails(t *testing.T) {
	var messages []int
	b := newBatch(t.Context(), echo(&messages))
	err := b.each(3, func(i int) error {
		if i == 1 {
			panic("odd")
		}
		_, err := b.one(entry{FilterBy: "x"})
		return err
	})
	if !problem.Is(err, problem.Internal) {
		t.Errorf("a panic: %v", err)
	}
	err = b.each(2, func(i int) error {
		_, err := b.one(entry{FilterBy: []string{"good", "bad"}[i]})
		return err
	})
	if err == nil || err.Error() != "bad" {
		t.Errorf("an error of the server: %v", err)
	}
	b.most = 6
	if _, err := b.ask(make([]entry, 5)...); !problem.Is(err, problem.Invalid) {
		t.Errorf("more than the limit: %v", err)
	}
}
