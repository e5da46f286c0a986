package telemetry

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"sync"
	"time"
)

// State is the phase of the process. Only Ready takes new requests.
type State uint8

// The states, in the order a process goes through them.
const (
	Starting State = iota
	Ready
	Draining
)

// String gives "starting", "ready" or "draining".
func (s State) String() string {
	switch s {
	case Starting:
		return "starting"
	case Ready:
		return "ready"
	}
	return "draining"
}

// Check is one dependency without which requests cannot be answered. Run
// returns nil when it works; it is called from several goroutines but never
// twice at the same time, and should give up when its context ends.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// Result is the outcome of one check. Err is for the log and for operators who
// are signed in: it may hold addresses of dependencies.
type Result struct {
	Name string
	Err  error
	Took time.Duration
}

// Checks is the health of the process: its state and its named checks. It is
// safe for use by several goroutines.
type Checks struct {
	limit time.Duration
	mu    sync.Mutex
	state State
	runs  map[string]*run
}

// run is a check with its current execution, if there is one.
type run struct {
	check Check
	done  chan struct{} // closed when the current execution ends; nil when there is none
	start time.Time
	err   error
}

// NewChecks makes an empty registry in state Starting. Each check may take as
// long as the limit; probes of orchestrators often give up after one second.
func NewChecks(limit time.Duration) *Checks {
	return &Checks{limit: limit, runs: map[string]*run{}}
}

// Add registers a check. A second check with the same name is an error.
func (c *Checks) Add(check Check) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if check.Name == "" || check.Run == nil {
		return errors.New("a health check needs a name and a function")
	}
	if _, known := c.runs[check.Name]; known {
		return fmt.Errorf("two health checks have the name %q", check.Name)
	}
	c.runs[check.Name] = &run{check: check}
	return nil
}

// SetState moves the process to a state. It never moves back: once Draining,
// always Draining.
func (c *Checks) SetState(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = max(c.state, s)
}

// State gives the state of the process.
func (c *Checks) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Ready runs every check at the same time and gives the results sorted by
// name. It returns within the limit even when a check does not: that check
// has failed, and it is not started again before it ends, so a dependency
// that hangs costs one goroutine however often it is asked. Callers at the
// same time share one execution.
func (c *Checks) Ready(ctx context.Context) []Result {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	c.mu.Lock()
	runs := make([]*run, 0, len(c.runs))
	for _, r := range c.runs {
		runs = append(runs, r)
	}
	c.mu.Unlock()
	sort.Slice(runs, func(i, j int) bool { return runs[i].check.Name < runs[j].check.Name })
	waits := make([]<-chan struct{}, len(runs))
	for i, r := range runs {
		waits[i] = c.begin(ctx, r)
	}
	results := make([]Result, len(runs))
	for i, r := range runs {
		results[i] = c.result(ctx, r, waits[i])
	}
	return results
}

// Healthy reports whether every result is good.
func Healthy(results []Result) bool {
	for _, r := range results {
		if r.Err != nil {
			return false
		}
	}
	return true
}

// begin starts the check unless it runs already.
func (c *Checks) begin(ctx context.Context, r *run) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.done != nil {
		return r.done
	}
	done := make(chan struct{})
	r.done, r.start = done, time.Now()
	// The execution is shared, so the first caller who goes away must not end it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limit)
	go func() {
		defer cancel()
		err := guarded(ctx, r.check)
		c.mu.Lock()
		defer c.mu.Unlock()
		r.err, r.done = err, nil
		close(done)
	}()
	return done
}

// guarded turns a panic of a check into its failure.
func guarded(ctx context.Context, check Check) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panicked: %v\n%s", cause, debug.Stack())
		}
	}()
	return check.Run(ctx)
}

func (c *Checks) result(ctx context.Context, r *run, done <-chan struct{}) Result {
	select {
	case <-done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	took := time.Since(r.start)
	select {
	case <-done:
		return Result{Name: r.check.Name, Err: r.err, Took: took}
	default:
		return Result{Name: r.check.Name, Err: fmt.Errorf("no answer after %s", took.Round(time.Millisecond)), Took: took}
	}
}
