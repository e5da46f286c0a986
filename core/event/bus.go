package event

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the tables of this package. It needs those of core/work.
func Migrations() db.Source {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return db.Source{Module: "event", Files: files}
}

// Options may all be left out.
type Options struct {
	Log *slog.Logger     // nil is slog.Default
	Now func() time.Time // nil is time.Now
	// Lease is how long a delivery waits when its process was killed; 0 is 30 s.
	Lease time.Duration
	// Poll is how often each subscriber looks for deliveries without being
	// woken; 0 is 1 s.
	Poll time.Duration
	// Grace is how long Stop lets handlers finish; 0 is 5 s, less than 0 none.
	Grace time.Duration
	// Retention is how long events are kept; 0 is 7 days.
	Retention time.Duration
	// Observe is told what happened to how many deliveries of a subscriber (or
	// runs of the task "event.sweep"), with the words of core/work; it must be
	// quick. It may be nil.
	Observe func(subscriber, what string, n int)
	// Tracing puts the handling of an event into the trace of what emitted it;
	// nil is off.
	Tracing *telemetry.Tracing
}

// Bus emits events and delivers them. It is safe for concurrent use.
type Bus struct {
	db         *db.DB
	o          Options
	deliveries *work.Claimer
	instance   string // tells our own notifications from those of others

	served    atomic.Pointer[[]*subscriber] // replaced as a whole, under mu
	elsewhere []string                      // names of those that get nothing of this process; not nil
	live      []Live
	liveMu    sync.Mutex // one call of Deliver at a time
	sweeper   *work.Periodic

	mu      sync.Mutex
	started bool
	stopped bool
	dirty   chan struct{} // something was committed that others should hear of
	known   chan struct{} // closed when the subscribers are in the table
	end     context.CancelFunc
	running sync.WaitGroup
}

// New makes a bus that can emit. It touches nothing until Start.
func New(d *db.DB, o Options) *Bus {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Retention = cmp.Or(o.Retention, 7*24*time.Hour)
	o.Grace = max(0, cmp.Or(o.Grace, 5*time.Second))
	deliveries, err := work.New(d, work.Table{Name: "event_delivery", Now: o.Now})
	if err != nil {
		panic(err) // the name is right
	}
	b := &Bus{db: d, o: o, deliveries: deliveries, instance: rand.Text(), elsewhere: []string{}, dirty: make(chan struct{}, 1), known: make(chan struct{})}
	b.served.Store(&[]*subscriber{})
	return b
}

// subscribers are those that this process serves.
func (b *Bus) subscribers() []*subscriber { return *b.served.Load() }

// add appends a subscriber; mu is held.
func (b *Bus) add(s *subscriber) {
	list := append(slices.Clone(b.subscribers()), s)
	b.served.Store(&list)
}

// Known is closed once every event that is emitted from then on, by whichever
// process, gets a delivery for the durable subscribers of this one.
func (b *Bus) Known() <-chan struct{} { return b.known }

// Register adds the subscribers that this process serves. It must be called
// before Start; the error names every subscriber that is not complete.
func (b *Bus) Register(durable []Subscription, live []Live) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.started {
		return errors.New("event: subscribers must be registered before the bus starts")
	}
	names := map[string]bool{}
	for _, s := range b.subscribers() {
		names[s.Name] = true
	}
	var errs []error
	for _, s := range durable {
		if err := s.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if names[s.Name] {
			errs = append(errs, fmt.Errorf("event: there are two subscribers %q", s.Name))
			continue
		}
		names[s.Name] = true
		b.add(newSubscriber(b, s))
		if s.Elsewhere {
			b.elsewhere = append(b.elsewhere, s.Name)
		}
	}
	for _, l := range live {
		if err := l.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		b.live = append(b.live, l)
	}
	return errors.Join(errs...)
}

// Start makes the subscribers known and begins to deliver to them. The tables
// must be there. ctx is for starting only.
func (b *Bus) Start(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.started {
		return errors.New("event: the bus starts once")
	}
	if err := b.announce(ctx, true); err != nil {
		return fmt.Errorf("make the event subscribers known: %w", err)
	}
	sweeper, err := work.NewPeriodic(b.db, work.PeriodicOptions{Now: b.o.Now, Log: b.o.Log, Observe: b.o.Observe},
		work.Task{Name: "event.sweep", Every: 10 * time.Minute, Run: func(ctx context.Context) error {
			_, err := b.Sweep(ctx)
			return err
		}})
	if err != nil {
		return err
	}
	b.started, b.sweeper = true, sweeper
	close(b.known)
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	b.end = end
	b.running.Go(func() { b.heartbeat(background) })
	if b.db.Dialect() == db.Postgres {
		b.running.Go(func() { b.tell(background) })
		b.running.Go(func() { b.hear(background) })
	}
	for _, s := range b.subscribers() {
		if err := s.runner.Start(ctx); err != nil {
			return err
		}
	}
	return sweeper.Start(ctx)
}

// Stop ends the deliveries: handlers that run are let finish within the grace,
// the leases of those cut short are given back. Emit still works; what it emits
// waits for another process or the next start.
func (b *Bus) Stop(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		return nil
	}
	b.stopped = true
	errs := make([]error, len(b.subscribers())+1)
	var stopping sync.WaitGroup
	for i, s := range b.subscribers() {
		stopping.Go(func() { errs[i] = s.runner.Stop(ctx) })
	}
	stopping.Go(func() { errs[len(errs)-1] = b.sweeper.Stop(ctx) })
	stopping.Wait()
	b.end()
	gone := make(chan struct{})
	go func() { b.running.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("the event bus did not stop in time: %w", ctx.Err()))
	}
	return errors.Join(errs...)
}
