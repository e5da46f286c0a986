package work

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// within bounds how long a claim, its extension and its end wait for the
// database.
const within = 10 * time.Second

// Protect calls fn and makes an error of a panic.
func Protect(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return fn()
}

// work takes a batch from claim to end.
func (r *Runner) work(batch []Lease) {
	if batch = r.sift(batch); len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		r.heartbeat(quit, cancel, batch)
	}()
	var errs []error
	err := Protect(func() error { errs = r.o.Handle(ctx, batch); return nil })
	close(quit)
	<-gone
	stopped := ctx.Err() != nil
	cancel(nil)
	if err == nil && errs != nil && len(errs) != len(batch) {
		err = fmt.Errorf("work: the handler of %s answered %d results for %d leases", r.o.Queue, len(errs), len(batch))
	}
	if err != nil || errs == nil {
		errs = make([]error, len(batch))
		for i := range errs {
			errs[i] = err
		}
	}
	r.finish(batch, errs, stopped)
}

// sift keeps of a batch what may be worked now. A row that used up its attempts
// without an answer (its process died, each time) is buried. A row on its last
// attempt goes alone and the others are given back: a row that kills its
// process must not use up the attempts of its neighbours.
func (r *Runner) sift(batch []Lease) []Lease {
	if r.o.MaxAttempts == 0 {
		return batch
	}
	keep, last := batch[:0:0], -1
	var over []Lease
	for _, l := range batch {
		if l.Attempt > r.o.MaxAttempts {
			over = append(over, l)
			continue
		}
		if last < 0 && l.Attempt == r.o.MaxAttempts && l.Attempt > 1 {
			last = len(keep)
		}
		keep = append(keep, l)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if over != nil {
		cause := fmt.Errorf("given up after %d attempts of which the last ended without an answer", r.o.MaxAttempts)
		r.report(WasBuried, over, r.o.Claimer.Bury(ctx, cause, over...))
	}
	if last < 0 || len(keep) == 1 {
		return keep
	}
	alone := keep[last]
	rest := append(keep[:last:last], keep[last+1:]...)
	r.report(WasReleased, rest, r.o.Claimer.Release(ctx, 0, rest...))
	r.Wake()
	return []Lease{alone}
}

// heartbeat extends the leases at half-time until quit is closed. When none is
// left to extend the handler is told. An extension that is under way is waited
// for: ending it would cost the connection.
func (r *Runner) heartbeat(quit <-chan struct{}, lost context.CancelCauseFunc, batch []Lease) {
	tick := time.NewTicker(r.o.Lease / 2)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), within)
		err := r.o.Claimer.Extend(ctx, r.o.Lease, batch...)
		cancel()
		var l *LostError
		switch {
		case errors.As(err, &l) && len(l.IDs) == len(batch):
			lost(ErrLost)
			return
		case err != nil && l == nil:
			r.o.Log.Warn("leases could not be extended", "queue", r.o.Queue, "error", err)
		default:
			r.o.Observe(r.o.Queue, WasExtended, len(batch))
		}
	}
}

// finish writes how each lease ended. What cannot be written is due again when
// its lease runs out.
func (r *Runner) finish(batch []Lease, errs []error, stopped bool) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	c := r.o.Claimer
	var done, given []Lease
	for i, l := range batch {
		var o *outcome
		err := errs[i]
		steered := errors.As(err, &o)
		switch {
		case err == nil:
			done = append(done, l)
		case errors.Is(err, ErrFinished):
			r.o.Observe(r.o.Queue, WasDone, 1)
		case errors.Is(err, ErrLost):
			r.report(WasLost, []Lease{l}, &LostError{IDs: []int64{l.ID}})
		case steered && o.kind == notNow && o.after > 0:
			r.report(WasReleased, []Lease{l}, c.Release(ctx, o.after, l))
		case steered && o.kind == notNow, stopped && !(steered && o.kind == permanent):
			given = append(given, l)
		case steered && o.kind == permanent, r.o.MaxAttempts > 0 && l.Attempt >= r.o.MaxAttempts:
			r.o.Log.Error("work was given up", "queue", r.o.Queue, "id", l.ID, "attempt", l.Attempt, "error", clean(err.Error()))
			r.report(WasBuried, []Lease{l}, c.Bury(ctx, err, l))
		default:
			delay := r.o.Backoff.Delay(l.Attempt)
			if steered {
				delay = o.after
			}
			r.o.Log.Warn("work failed and is tried again", "queue", r.o.Queue, "id", l.ID, "attempt", l.Attempt, "after", delay, "error", clean(err.Error()))
			r.report(WasRetried, []Lease{l}, c.Retry(ctx, err, delay, l))
		}
	}
	if done != nil {
		r.report(WasDone, done, c.Done(ctx, done...))
	}
	if given != nil {
		r.report(WasReleased, given, c.Release(ctx, 0, given...))
	}
}

// report tells the observer what happened to the leases and the log what did
// not.
func (r *Runner) report(what string, leases []Lease, err error) {
	var l *LostError
	switch {
	case errors.As(err, &l):
		r.o.Log.Warn("leases were lost", "queue", r.o.Queue, "rows", l.IDs)
		r.o.Observe(r.o.Queue, WasLost, len(l.IDs))
		if n := len(leases) - len(l.IDs); n > 0 {
			r.o.Observe(r.o.Queue, what, n)
		}
	case err != nil:
		r.o.Log.Warn("the end of work could not be written", "queue", r.o.Queue, "outcome", what, "error", err)
	default:
		r.o.Observe(r.o.Queue, what, len(leases))
	}
}
