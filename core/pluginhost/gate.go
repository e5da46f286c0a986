package pluginhost

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quoin-cms/quoin/core/problem"
)

// gate lets so many calls to a plugin run at a time, and none for a moment
// after several in a row have failed for reasons of the plugin itself.
type gate struct {
	slots chan struct{}
	hung  chan struct{} // gets one when the plugin must be ended

	mu     sync.Mutex
	failed int // in a row
	slow   int // of these, without an answer in time
	open   time.Time
}

const (
	breakAfter = 5
	breakFor   = 5 * time.Second
	hungAfter  = 5
)

func newGate(n int) *gate {
	return &gate{slots: make(chan struct{}, n), hung: make(chan struct{}, 1)}
}

// reset forgets what a former process did.
func (g *gate) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed, g.slow, g.open = 0, 0, time.Time{}
	select {
	case <-g.hung:
	default:
	}
}

// enter waits for a slot; leave must be called with the error of the call.
func (g *gate) enter(ctx context.Context) (leave func(error), err error) {
	g.mu.Lock()
	wait := time.Until(g.open)
	g.mu.Unlock()
	if wait > 0 {
		return nil, busy("too many calls of the plugin failed", wait)
	}
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, busy("the plugin is busy with other calls", time.Second)
	}
	return func(err error) { <-g.slots; g.note(err) }, nil
}

func (g *gate) note(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		g.slow++
	case codes.Unavailable, codes.Internal, codes.ResourceExhausted, codes.Unimplemented:
	case codes.Canceled: // the caller left: says nothing
		return
	default:
		g.failed, g.slow = 0, 0
		return
	}
	if g.slow >= hungAfter {
		select {
		case g.hung <- struct{}{}:
		default:
		}
	}
	if g.failed++; g.failed >= breakAfter {
		g.open, g.failed = time.Now().Add(breakFor), 0
	}
}

// notLetIn is the code of a call that was not made.
const notLetIn = "plugin_not_ready"

func busy(why string, wait time.Duration) error {
	p := problem.New(problem.Unavailable, "%s; try again in a moment", why)
	p.RetryAfter, p.Code = wait, notLetIn
	return p
}
