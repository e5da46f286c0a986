package typesense

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/quoin-cms/quoin/core/problem"
)

// maxFilters is how many bytes the filters of one request may have in all.
const maxFilters = 64 << 20

// maxQuestions is how many searches of the server one request may need.
const maxQuestions = 4_000

// batch puts the searches that the parts of one request need at the same time
// into one message. Each part is a goroutine that just asks and waits; the
// message leaves when all of them wait. So a request takes as many round trips
// as its steps depend on each other, however many buckets it makes.
type batch struct {
	ctx  context.Context
	send func(ctx context.Context, entries []entry) ([]rawResult, error)
	most int // searches of the server

	mu      sync.Mutex
	running int // goroutines that do not wait for an answer
	waiting []*question
	asked   int
	bytes   int // of filters
}

type question struct {
	entries []entry
	results []rawResult
	err     error
	done    chan struct{}
}

func newBatch(ctx context.Context, send func(context.Context, []entry) ([]rawResult, error)) *batch {
	return &batch{ctx: ctx, send: send, most: maxQuestions, running: 1}
}

// ask gives the answers to some searches, in their order.
func (b *batch) ask(entries ...entry) ([]rawResult, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	q := &question{entries: entries, done: make(chan struct{})}
	b.mu.Lock()
	for i := range entries {
		b.bytes += len(entries[i].FilterBy)
	}
	if b.bytes > maxFilters {
		b.mu.Unlock()
		return nil, problem.Field(problem.Invalid, "query", "the engine %q would need filters of more than %d MB for this request: ask for fewer buckets, or narrow the query", engineName, maxFilters>>20)
	}
	if b.asked += len(entries); b.asked > b.most {
		b.mu.Unlock()
		return nil, problem.Field(problem.Invalid, "aggs", "the engine %q would need more than %d searches of its server for this request: ask for fewer buckets or clauses", engineName, b.most)
	}
	b.waiting = append(b.waiting, q)
	b.pass()
	<-q.done
	return q.results, q.err
}

// one is ask for a single search.
func (b *batch) one(e entry) (rawResult, error) {
	out, err := b.ask(e)
	if err != nil {
		return rawResult{}, err
	}
	return out[0], nil
}

// pass ends the turn of a goroutine; the last one sends what all wait for. The
// lock is held, and not any more afterwards.
func (b *batch) pass() {
	b.running--
	if b.running > 0 || len(b.waiting) == 0 {
		b.mu.Unlock()
		return
	}
	list := b.waiting
	b.waiting, b.running = nil, len(list)
	b.mu.Unlock()
	results, err := b.deliver(list)
	for _, q := range list {
		q.err = err
		if err == nil {
			q.results, results = results[:len(q.entries)], results[len(q.entries):]
		}
		close(q.done)
	}
}

// maxMessage is about how many bytes of filters one message holds.
const maxMessage = 4 << 20

// deliver sends questions, in several messages if their filters are long.
func (b *batch) deliver(list []*question) (results []rawResult, err error) {
	var entries []entry
	size := 0
	flush := func() error {
		if len(entries) == 0 {
			return nil
		}
		part, err := b.send(b.ctx, entries)
		results = append(results, part...)
		entries, size = entries[:0], 0
		return err
	}
	for _, q := range list {
		for _, e := range q.entries {
			n := len(e.FilterBy) + len(e.SortBy)
			if size+n > maxMessage {
				if err := flush(); err != nil {
					return nil, err
				}
			}
			entries, size = append(entries, e), size+n
		}
	}
	return results, flush()
}

// each runs f for 0 to n-1, side by side, and gives the first error by number.
func (b *batch) each(n int, f func(i int) error) error {
	switch n {
	case 0:
		return nil
	case 1:
		return f(0)
	}
	errs := make([]error, n)
	left := n
	over := make(chan struct{})
	b.mu.Lock()
	b.running += n - 1
	b.mu.Unlock()
	for i := range n {
		go func() {
			errs[i] = guarded(f, i)
			b.mu.Lock()
			left--
			if left == 0 { // its turn becomes that of the caller
				b.mu.Unlock()
				close(over)
				return
			}
			b.pass()
		}()
	}
	<-over
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// guarded makes an error of a panic, which in a goroutine would end the process
// instead of the request.
func guarded(f func(i int) error, i int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = problem.Wrap(fmt.Errorf("panic: %v\n%s", v, debug.Stack()), problem.Internal, "the search failed")
		}
	}()
	return f(i)
}
