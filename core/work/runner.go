package work

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	randv2 "math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Handle does the work of a batch and tells how it ended for each lease, in
// their order: nil for done, ErrFinished, RetryAfter, Permanent, NotNow, or any
// other error for a try after the backoff. A nil list means that all are done.
//
// ctx ends when the runner stops (after its grace) or when every lease of the
// batch was lost (its cause is then ErrLost).
type Handle func(ctx context.Context, batch []Lease) []error

// Each makes a Handle of a function for one lease, called for one after the
// other. Those it did not come to before ctx ended are given back.
func Each(fn func(ctx context.Context, l Lease) error) Handle {
	return func(ctx context.Context, batch []Lease) []error {
		errs := make([]error, len(batch))
		for i, l := range batch {
			if ctx.Err() != nil {
				errs[i] = NotNow(0)
				continue
			}
			errs[i] = Protect(func() error { return fn(ctx, l) })
		}
		return errs
	}
}

// What happened to leases, for Options.Observe.
const (
	WasClaimed  = "claimed"
	WasExtended = "extended" // by the heartbeat
	WasDone     = "done"
	WasRetried  = "retried"  // failed, due again later
	WasReleased = "released" // given back without having been tried
	WasBuried   = "buried"
	WasLost     = "lost" // the end came too late
)

// Options say what a Runner works on and how.
type Options struct {
	Claimer *Claimer
	Queue   string
	Handle  Handle
	// Batch is the largest number of leases of one call of Handle; 0 is 1.
	Batch int
	// Concurrency is how many calls run at the same time; 0 is 1.
	Concurrency int
	// Lease is how long a claim holds without being extended, which happens at
	// half of it while Handle runs; 0 is 30 s. It is how long the work of a
	// process that was killed waits for another.
	Lease time.Duration
	// Poll is how often the runner looks without being woken, give or take a
	// quarter; 0 is 1 s.
	Poll time.Duration
	// Grace is how long Stop lets handlers go on before their context ends; 0
	// ends it at once.
	Grace time.Duration
	// MaxAttempts buries a row after so many failed attempts; 0 is never.
	MaxAttempts int
	Backoff     Backoff
	// Log takes failures; nil is slog.Default.
	Log *slog.Logger
	// Observe is told what happened to how many leases, for metrics and tests;
	// it must be quick. It may be nil.
	Observe func(queue, what string, n int)
}

// Runner claims rows of one queue and hands them to a function. Any number of
// runners in any number of processes may share a queue.
type Runner struct {
	o     Options
	owner string
	claim atomic.Int64 // numbers the claims, so that no two have the same owner

	wake  chan struct{}
	slots chan struct{}
	quit  chan struct{} // closed by Stop: no more claims
	ended chan struct{} // closed when loop and handlers are done
	ctx   context.Context
	end   context.CancelCauseFunc

	mu      sync.Mutex
	started bool
	stopped bool
}

var errStopped = errors.New("work: the runner stops")

// NewRunner makes a runner that does nothing until Start.
func NewRunner(o Options) *Runner {
	o.Batch, o.Concurrency = max(o.Batch, 1), max(o.Concurrency, 1)
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Observe == nil {
		o.Observe = func(string, string, int) {}
	}
	host, _ := os.Hostname() // only to be read by people
	r := &Runner{
		o: o, owner: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:10]),
		wake: make(chan struct{}, 1), slots: make(chan struct{}, o.Concurrency),
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	r.ctx, r.end = context.WithCancelCause(context.Background())
	return r
}

// Wake makes the runner look for work now rather than at the next poll. It
// never blocks; many calls make one look.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Start begins to claim. It returns at once; ctx is not kept.
func (r *Runner) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || r.stopped {
		return errors.New("work: a runner starts once")
	}
	r.started = true
	go r.loop()
	return nil
}

// Stop ends the claiming, lets handlers finish within the grace, then ends
// their context; the leases of those that were cut short are given back. It
// returns when all have returned, or with an error when ctx ends first: what
// then still runs is claimed by others once its lease has run out.
func (r *Runner) Stop(ctx context.Context) error {
	r.mu.Lock()
	first := !r.stopped
	r.stopped = true
	if first {
		close(r.quit)
	}
	started := r.started
	r.mu.Unlock()
	if !started {
		return nil
	}
	grace := time.NewTimer(r.o.Grace)
	defer grace.Stop()
	select {
	case <-r.ended:
		return nil
	case <-grace.C:
	case <-ctx.Done():
	}
	r.end(errStopped)
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the work of queue %s did not stop in time: %w", r.o.Queue, ctx.Err())
	}
}

// loop claims whenever there is a free slot and a reason to look.
func (r *Runner) loop() {
	var running sync.WaitGroup
	defer func() {
		running.Wait()
		r.end(errStopped)
		close(r.ended)
	}()
	for {
		select {
		case r.slots <- struct{}{}:
		case <-r.quit:
			return
		}
		select {
		case <-r.quit: // both may have been ready
			return
		default:
		}
		batch := r.take()
		if len(batch) == 0 {
			<-r.slots
		} else {
			running.Go(func() {
				defer func() { <-r.slots }()
				r.work(batch)
			})
		}
		if len(batch) < r.o.Batch && !r.wait() {
			return
		}
	}
}

// take claims a batch under an owner of its own.
func (r *Runner) take() []Lease {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	owner := fmt.Sprintf("%s/%d", r.owner, r.claim.Add(1))
	batch, err := r.o.Claimer.Claim(ctx, r.o.Queue, owner, r.o.Batch, r.o.Lease)
	if err != nil {
		r.o.Log.Warn("no work could be claimed", "queue", r.o.Queue, "error", err)
		return nil
	}
	if len(batch) > 0 {
		r.o.Observe(r.o.Queue, WasClaimed, len(batch))
	}
	return batch
}

// wait returns at the next reason to look, false when the runner stops.
func (r *Runner) wait() bool {
	poll := time.NewTimer(r.o.Poll*3/4 + randv2.N(r.o.Poll/2+1))
	defer poll.Stop()
	select {
	case <-r.wake:
	case <-poll.C:
	case <-r.quit:
		return false
	}
	return true
}
