package work_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/work"
)

var readTask = db.SQL("SELECT due_at, coalesce(owner, ''), attempt, coalesce(last_error, '') FROM work_schedule WHERE queue = ?")

func task(t *testing.T, d *db.DB, name string) (due time.Time, owner string, attempt int, message string) {
	t.Helper()
	var at int64
	must(t, d.Row(t.Context(), readTask, name).Scan(&at, &owner, &attempt, &message))
	return db.Time(at), owner, attempt, message
}

func periodic(t *testing.T, d *db.DB, clock *testkit.Clock, tasks ...work.Task) (*work.Periodic, *journal) {
	t.Helper()
	j := newJournal()
	p, err := work.NewPeriodic(d, work.PeriodicOptions{Now: clock.Now, Observe: j.observe, Log: slog.New(slog.NewTextHandler(j, nil))}, tasks...)
	must(t, err)
	must(t, p.Start(t.Context()))
	t.Cleanup(func() { must(t, p.Stop(context.Background())) })
	return p, j
}

func TestPeriodicRunsOncePerDueTime(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		var runs atomic.Int64
		ran := make(chan struct{}, 100)
		tick := work.Task{Name: "tick", Every: time.Hour, Run: func(context.Context) error { runs.Add(1); ran <- struct{}{}; return nil }}
		a, first := periodic(t, d, clock, tick)
		b, second := periodic(t, d, clock, tick)
		for n := 1; n <= 5; n++ {
			<-ran
			testkit.Eventually(t, func() bool { // either of the two wrote its end
				return first.seen(work.WasDone)+second.seen(work.WasDone) == n
			})
			if due, owner, attempt, _ := task(t, d, "tick"); due != clock.Now().Add(time.Hour) || owner != "" || attempt != 0 {
				t.Errorf("run %d: due %s, owner %q, attempt %d", n, due, owner, attempt)
			}
			a.Wake() // not due yet
			b.Wake()
			clock.Advance(time.Hour)
			a.Wake()
			b.Wake()
		}
		<-ran
		if runs.Load() != 6 {
			t.Errorf("%d runs in six due times", runs.Load())
		}
	})
}

func TestPeriodicTaskFailsAndRecovers(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		answers := make(chan error, 3)
		p, j := periodic(t, d, clock, work.Task{Name: "tick", Every: time.Minute, Run: func(context.Context) error { return <-answers }})
		answers <- errors.New("no disk")
		j.await(t, work.WasRetried, 1)
		if due, _, attempt, message := task(t, d, "tick"); due.After(start.Add(time.Second)) || attempt != 1 || message != "no disk" {
			t.Errorf("due %s, attempt %d, %q", due, attempt, message)
		}
		answers <- nil
		clock.Advance(time.Second)
		p.Wake()
		j.await(t, work.WasDone, 1)
		if due, _, attempt, message := task(t, d, "tick"); due != clock.Now().Add(time.Minute) || attempt != 0 || message != "" {
			t.Errorf("due %s, attempt %d, %q", due, attempt, message)
		}
	})
}

func TestShorterIntervalComesDueAccordingly(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		nothing := func(context.Context) error { return nil }
		p, j := periodic(t, d, clock, work.Task{Name: "tick", Every: 24 * time.Hour, Run: nothing})
		j.await(t, work.WasDone, 1)
		must(t, p.Stop(t.Context()))
		for every, want := range map[time.Duration]time.Time{48 * time.Hour: start.Add(24 * time.Hour), time.Minute: start.Add(time.Minute)} {
			p, _ := periodic(t, d, clock, work.Task{Name: "tick", Every: every, Run: nothing})
			must(t, p.Stop(t.Context()))
			if due, _, _, _ := task(t, d, "tick"); !due.Equal(want) && every == time.Minute || due.After(want) {
				t.Errorf("every %s: due %s", every, due)
			}
		}
	})
}

func TestPeriodicRefusesHalfATask(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	for _, half := range []work.Task{{Every: 1, Run: nothing}, {Name: "a", Run: nothing}, {Name: "a", Every: -1, Run: nothing}, {Name: "a", Every: 1}} {
		if _, err := work.NewPeriodic(nil, work.PeriodicOptions{}, half); err == nil {
			t.Errorf("%+v was taken", half)
		}
	}
}
