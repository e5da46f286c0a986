package testkit

import (
	"sync"
	"time"
)

// Clock is a clock that only moves when a test moves it. It is safe for use by
// several goroutines. Code that sleeps and waits is better tested in a bubble
// of testing/synctest; this clock is for code that takes a Now function and for
// tests that talk to a database.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []timer
}

type timer struct {
	at time.Time
	c  chan time.Time
}

// NewClock makes a clock that shows the given time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now gives the time the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward and fires the timers that come due, in no
// particular order.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	rest := c.timers[:0]
	for _, t := range c.timers {
		if t.at.After(c.now) {
			rest = append(rest, t)
			continue
		}
		t.c <- c.now
	}
	c.timers = rest
}

// After gives a channel that receives the time once the clock was moved by d.
// A d that is not positive has come already.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	channel := make(chan time.Time, 1)
	if d <= 0 {
		channel <- c.now
		return channel
	}
	c.timers = append(c.timers, timer{at: c.now.Add(d), c: channel})
	return channel
}

// Waiting gives the number of timers that have not fired.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}
