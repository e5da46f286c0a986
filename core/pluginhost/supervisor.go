package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/sdk/manifest"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// plan is what a supervised plugin should be: nil is to be down.
type plan struct {
	found Found
	wish  Wish
	stamp time.Time // of the program, in dev mode
}

// key is a text that differs between plans that differ.
func (p *plan) key() string {
	if p == nil {
		return ""
	}
	var m manifest.Manifest
	if p.found.Manifest != nil {
		m = *p.found.Manifest
	}
	return fmt.Sprintf("%s %+v %v %+v %s", p.found.Dir, m, p.found.Problem, p.wish, p.stamp)
}

// supervised is one plugin with whoever keeps it running.
type supervised struct {
	name string
	h    *Host
	log  *slog.Logger
	gate *gate

	change chan struct{} // the plan is another
	gone   chan struct{} // closed when the supervisor has ended

	mu     sync.Mutex
	plan   *plan
	proc   *process // nil unless ready
	state  State
	reason string
	ready  chan struct{} // closed while ready
}

func newSupervised(h *Host, name string) *supervised {
	return &supervised{
		name: name, h: h, log: h.log.With("plugin", name), gate: newGate(h.config.Concurrency),
		change: make(chan struct{}, 1), gone: make(chan struct{}), ready: make(chan struct{}), state: Stopped,
	}
}

// want sets the plan; it returns at once.
func (s *supervised) want(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := s.plan.key() == p.key()
	s.plan = p
	if !same {
		select { // never waits, so that plan and signal are one to take
		case s.change <- struct{}{}:
		default:
		}
	}
}

func (s *supervised) wanted() *plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}

// take gives the plan and marks it as seen.
func (s *supervised) take() *plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.change:
	default:
	}
	return s.plan
}

// set changes the state and tells those who watch.
func (s *supervised) set(state State, reason string, proc *process) {
	s.mu.Lock()
	was := s.proc
	s.state, s.reason, s.proc = state, reason, proc
	if was == nil && proc != nil {
		close(s.ready)
	} else if was != nil && proc == nil {
		s.ready = make(chan struct{})
	}
	s.mu.Unlock()
	s.h.told(s)
	if (was == nil) != (proc == nil) {
		s.h.changed()
	}
}

// current gives the process when it is ready, and what closes when it will be.
func (s *supervised) current() (*process, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc, s.ready
}

// run keeps the plugin as the plan says, until ctx ends. It stays on one
// thread: see
// dieWithParent.
func (s *supervised) run(ctx context.Context) {
	runtime.LockOSThread()
	defer close(s.gone)
	var crashes []time.Time
	for ctx.Err() == nil {
		p := s.take()
		if p == nil {
			s.set(Disabled, "", nil)
			crashes = nil
			s.wait(ctx, 0)
			continue
		}
		err := s.life(ctx, p)
		var keep *final
		switch {
		case ctx.Err() != nil:
		case err == nil: // another plan
			crashes = nil
		case errors.As(err, &keep):
			s.log.Error("the plugin stays down", "reason", err)
			s.set(Failed, err.Error(), nil)
			s.wait(ctx, 0)
			crashes = nil
		default:
			crashes = recent(append(crashes, time.Now()), s.h.config.CrashWindow)
			s.fallen(ctx, err, crashes)
			if len(crashes) >= s.h.config.MaxCrashes {
				crashes = nil
			}
		}
	}
	s.set(Stopped, "", nil)
}

// fallen waits after a crash, or for a reload when there were too many.
func (s *supervised) fallen(ctx context.Context, err error, crashes []time.Time) {
	n := len(crashes)
	if n >= s.h.config.MaxCrashes {
		reason := fmt.Sprintf("%v; crashed %d times within %s, so it stays down until quoin plugin reload %s", err, n, s.h.config.CrashWindow, s.name)
		s.log.Error("the plugin stays down", "reason", reason)
		s.set(Failed, reason, nil)
		s.wait(ctx, 0)
		return
	}
	pause := min(s.h.config.Backoff<<(n-1), time.Minute)
	s.log.Warn("the plugin crashed and is started again", "error", err, "in", pause)
	s.set(Backoff, err.Error(), nil)
	s.wait(ctx, pause)
}

// wait returns after d, or when the plan changes or ctx ends; 0 is for ever.
func (s *supervised) wait(ctx context.Context, d time.Duration) {
	var timer <-chan time.Time
	if d > 0 {
		timer = time.After(d)
	}
	select {
	case <-ctx.Done():
	case <-s.change:
	case <-timer:
	}
}

func recent(times []time.Time, window time.Duration) []time.Time {
	for len(times) > 0 && time.Since(times[0]) > window {
		times = times[1:]
	}
	return times
}

// final is a reason to stay down: starting again would not help.
type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// life is one start of the plugin until its end: nil when the plan changed.
func (s *supervised) life(ctx context.Context, p *plan) error {
	s.set(Starting, "", nil)
	proc, err := s.h.start(ctx, p, s.log)
	if err != nil {
		return err
	}
	s.gate.reset()
	s.set(Ready, "", proc)
	s.log.Info("the plugin is ready", "version", proc.about.Version, "pid", proc.pid)
	err = s.watch(ctx, proc)
	s.set(Starting, "", nil) // no new calls while it goes
	if err == nil {
		proc.stop()
		return nil
	}
	proc.kill()
	for _, line := range proc.output.lastLines() {
		s.log.Error("last words of the plugin", "line", line)
	}
	return err
}

// lookEvery is how often the process is looked at.
const lookEvery = 250 * time.Millisecond

// watch returns when the plugin must end (nil), or why it is bad.
func (s *supervised) watch(ctx context.Context, proc *process) error {
	look, health := time.NewTicker(lookEvery), time.NewTicker(s.h.config.Health)
	defer look.Stop()
	defer health.Stop()
	missed, answer := 0, make(chan error, 1)
	asking := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.change:
			return nil
		case <-s.gate.hung:
			return errors.New("calls of the plugin hang")
		case <-look.C:
			if proc.exited() {
				return errors.New("the process ended")
			}
			if used := memoryOf(proc.pid); used > int64(s.h.config.MaxMemory) {
				return fmt.Errorf("it held %d MiB of memory, and plugins.max_memory is %d MiB", used>>20, int64(s.h.config.MaxMemory)>>20)
			}
		case <-health.C:
			if !asking {
				asking = true
				go func() {
					ctx, cancel := context.WithTimeout(ctx, s.h.config.Health)
					defer cancel()
					answer <- proc.well(ctx)
				}()
			}
		case err := <-answer:
			asking = false
			if errors.Is(err, errChanged) {
				return &final{err}
			}
			if missed++; err == nil {
				missed = 0
			}
			if missed == 3 {
				return fmt.Errorf("it did not answer: %w", err)
			}
		}
	}
}

// start verifies, launches and configures a plugin.
func (h *Host) start(ctx context.Context, p *plan, log *slog.Logger) (*process, error) {
	path, prog, err := p.found.verify(h.config, p.wish.SHA256)
	if err != nil {
		return nil, &final{err}
	}
	proc, err := launch(ctx, h.config, p.found.Name, path, prog, log)
	if err != nil {
		return nil, err
	}
	if err := h.configure(ctx, p, proc); err != nil {
		proc.kill()
		return nil, err
	}
	return proc, nil
}

func (h *Host) configure(ctx context.Context, p *plan, proc *process) error {
	if err := checkDescription(p.found.Manifest, proc.about); err != nil {
		return &final{err}
	}
	folder := h.dataOf(p.found.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	address, token, err := h.serve(ctx, proc, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.StartWithin)
	defer cancel()
	answer, err := proc.lifecycle.Configure(ctx, &pluginv1.ConfigureRequest{
		Config: p.wish.Config, Granted: p.wish.Granted, HostVersion: h.version, DataDir: folder,
		HostServices: serviceNames(proc.host), HostAddress: address, HostToken: token,
	})
	if err != nil {
		return fmt.Errorf("it did not take its settings: %w", err)
	}
	return problemsOf(answer.Problems)
}
