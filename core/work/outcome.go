package work

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff says how long to wait after a failed attempt: First after the first,
// twice as long after each further one, never more than Max. The zero value is
// one second, up to one hour.
type Backoff struct{ First, Max time.Duration }

// Delay gives the wait after the given attempt, counted from 1, with jitter:
// evenly spread between half of it and all of it, so that what failed together
// does not come back together.
func (b Backoff) Delay(attempt int) time.Duration {
	first, limit := b.First, b.Max
	if first <= 0 {
		first = time.Second
	}
	if limit <= 0 {
		limit = max(time.Hour, first)
	}
	d := min(first, limit)
	for ; attempt > 1 && d < limit; attempt-- {
		d = min(2*d, limit)
	}
	return d/2 + rand.N(d/2+1)
}

// ErrFinished is what a handler gives for a lease that it has finished itself,
// such as by Done in its own transaction.
var ErrFinished = errors.New("work: finished by the handler")

// outcome is an error that steers what happens to the lease.
type outcome struct {
	cause error
	kind  outcomeKind
	after time.Duration
}

type outcomeKind int

const (
	retryAfter outcomeKind = iota
	permanent
	notNow
)

func (o *outcome) Error() string {
	if o.cause == nil {
		return "work: given back"
	}
	return o.cause.Error()
}

func (o *outcome) Unwrap() error { return o.cause }

// RetryAfter is a failure that is tried again after the delay rather than after
// the backoff. It counts as an attempt.
func RetryAfter(cause error, delay time.Duration) error {
	return &outcome{cause: cause, kind: retryAfter, after: delay}
}

// Permanent is a failure that no further attempt can cure: the row is buried.
func Permanent(cause error) error { return &outcome{cause: cause, kind: permanent} }

// NotNow gives the row back, due after the delay. It does not count as an
// attempt.
func NotNow(delay time.Duration) error { return &outcome{kind: notNow, after: delay} }

// IsNotNow tells whether an error was made by NotNow.
func IsNotNow(err error) bool {
	var o *outcome
	return errors.As(err, &o) && o.kind == notNow
}
