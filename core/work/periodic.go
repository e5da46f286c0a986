package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// ScheduleTable is the table of periodic tasks; each is a queue of its own. The
// row of a task that no process has any more stays, and is due from then on.
const ScheduleTable = "work_schedule"

// Task is something to do again and again, by one of all processes each time.
type Task struct {
	// Name is unique and begins with that of its module, such as "event.sweep".
	Name string
	// Every is the time from the start of one run to the next. The first run
	// is due when the task is first seen.
	Every time.Duration
	// Run does it. After an error it is tried again with growing delays, never
	// later than Every. It must stand being cut short by ctx.
	Run func(ctx context.Context) error
}

// Periodic runs tasks. Each is a row of the table work_schedule, claimed like
// any other work, so one process runs it per due time and another takes over
// when that one dies.
type Periodic struct {
	db      *db.DB
	now     func() time.Time
	tasks   []Task
	runners []*Runner
}

// PeriodicOptions may all be left out.
type PeriodicOptions struct {
	Now     func() time.Time // nil is time.Now
	Lease   time.Duration    // 0 is one minute
	Log     *slog.Logger     // nil is slog.Default
	Observe func(queue, what string, n int)
}

var addTask = db.SQL(`INSERT INTO work_schedule (queue, due_at, attempt, created_at) VALUES (?, ?, 0, ?)
	ON CONFLICT (queue) DO UPDATE SET due_at = ? WHERE work_schedule.owner IS NULL AND work_schedule.due_at > ?`)

// NewPeriodic prepares tasks; nothing runs until Start.
func NewPeriodic(d *db.DB, o PeriodicOptions, tasks ...Task) (*Periodic, error) {
	c, err := New(d, Table{Name: ScheduleTable, Now: o.Now})
	if err != nil {
		return nil, err
	}
	p := &Periodic{db: d, now: c.now, tasks: tasks}
	for _, t := range tasks {
		if t.Name == "" || t.Every <= 0 || t.Run == nil {
			return nil, fmt.Errorf("work: the periodic task %q needs a name, an interval and a function", t.Name)
		}
		p.runners = append(p.runners, NewRunner(Options{
			Claimer: c, Queue: t.Name, Handle: Each(p.run(c, t)),
			Lease: cmp.Or(o.Lease, time.Minute), Poll: min(max(t.Every/4, time.Second), 30*time.Second),
			Backoff: Backoff{First: min(time.Second, t.Every), Max: t.Every}, Log: o.Log, Observe: o.Observe,
		}))
	}
	return p, nil
}

func (p *Periodic) run(c *Claimer, t Task) func(context.Context, Lease) error {
	return func(ctx context.Context, l Lease) error {
		next := p.now().Add(t.Every)
		if err := t.Run(ctx); err != nil {
			return err
		}
		if err := c.Again(context.WithoutCancel(ctx), next, l); err != nil {
			return err
		}
		return ErrFinished
	}
}

// Start enters the tasks into the schedule and begins to run them. A task whose
// interval became shorter comes due accordingly.
func (p *Periodic) Start(ctx context.Context) error {
	now := p.now()
	for _, t := range p.tasks {
		latest := db.Micros(now.Add(t.Every))
		if _, err := p.db.Exec(ctx, addTask, t.Name, db.Micros(now), db.Micros(now), latest, latest); err != nil {
			return fmt.Errorf("schedule %s: %w", t.Name, err)
		}
	}
	for _, r := range p.runners {
		if err := r.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Wake makes every task look at its due time now rather than at its next poll.
func (p *Periodic) Wake() {
	for _, r := range p.runners {
		r.Wake()
	}
}

// Stop ends all tasks; those that run are cut short and due again at once.
func (p *Periodic) Stop(ctx context.Context) error {
	errs := make([]error, len(p.runners))
	var stopping sync.WaitGroup
	for i, r := range p.runners {
		stopping.Go(func() { errs[i] = r.Stop(ctx) })
	}
	stopping.Wait()
	return errors.Join(errs...)
}
