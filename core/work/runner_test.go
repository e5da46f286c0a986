package work_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/work"
)

// journal hears what a runner does and lets a test wait for it.
type journal struct {
	mu    sync.Mutex
	count map[string]int
	moved chan struct{} // closed and replaced at each entry
	text  bytes.Buffer
}

func newJournal() *journal {
	return &journal{count: map[string]int{}, moved: make(chan struct{})}
}

func (j *journal) observe(_, what string, n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.count[what] += n
	close(j.moved)
	j.moved = make(chan struct{})
}

// Write takes the log.
func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) log() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) seen(what string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count[what]
}

// await waits until something happened to n leases in all.
func (j *journal) await(t *testing.T, what string, n int) {
	t.Helper()
	limit := time.After(2 * time.Minute) // only a failing test gets there
	for {
		j.mu.Lock()
		have, moved := j.count[what], j.moved
		j.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-moved:
		case <-limit:
			t.Fatalf("%s: %d of %d; log: %s", what, have, n, j.log())
		}
	}
}

// started makes and starts a runner on queue "a" that stops with the test. It
// polls once an hour, so that only wakes move it.
func started(t *testing.T, o work.Options) (*work.Runner, *journal) {
	t.Helper()
	j := newJournal()
	o.Observe, o.Log = j.observe, slog.New(slog.NewTextHandler(j, nil))
	if o.Queue == "" {
		o.Queue = "a"
	}
	if o.Poll == 0 {
		o.Poll = time.Hour
	}
	r := work.NewRunner(o)
	must(t, r.Start(t.Context()))
	t.Cleanup(func() { must(t, r.Stop(context.Background())) })
	return r, j
}

func TestRunnerWorksEverythingInBatches(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := claimer(t, d, testkit.NewClock(start).Now)
		var want, got []int64
		for range 25 {
			want = append(want, add(t, d, "a", start))
		}
		var sizes []int
		r, j := started(t, work.Options{Claimer: c, Batch: 10, Handle: func(_ context.Context, batch []work.Lease) []error {
			got = append(got, ids(batch)...)
			sizes = append(sizes, len(batch))
			return nil
		}})
		j.await(t, work.WasDone, 25)
		want = append(want, add(t, d, "a", start))
		r.Wake()
		j.await(t, work.WasDone, 26)
		if !slices.Equal(got, want) || !slices.Equal(sizes, []int{10, 10, 5, 1}) {
			t.Errorf("%v in batches of %v", got, sizes)
		}
	})
}

func TestRunnerPollsWithoutBeingWoken(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		_, j := started(t, work.Options{
			Claimer: claimer(t, d, testkit.NewClock(start).Now), Poll: 5 * time.Millisecond,
			Handle: func(context.Context, []work.Lease) []error { return nil },
		})
		add(t, d, "a", start)
		j.await(t, work.WasDone, 1)
		add(t, d, "a", start)
		j.await(t, work.WasDone, 2)
	})
}

func TestRunnerBoundsConcurrency(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for range 8 {
			add(t, d, "a", start)
		}
		entered, leave := make(chan struct{}, 8), make(chan struct{})
		var now, most atomic.Int64
		_, j := started(t, work.Options{Claimer: claimer(t, d, testkit.NewClock(start).Now), Concurrency: 3,
			Handle: func(context.Context, []work.Lease) []error {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				entered <- struct{}{}
				<-leave
				now.Add(-1)
				return nil
			}})
		for range 3 {
			<-entered
		}
		close(leave)
		j.await(t, work.WasDone, 8)
		if most.Load() != 3 {
			t.Errorf("%d ran at the same time", most.Load())
		}
	})
}

func TestWhatAHandlerCanAnswer(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		answer error
		want   row
		moment string
		gone   bool
	}{
		"done":        {answer: nil, moment: work.WasDone, gone: true},
		"finished":    {answer: work.ErrFinished, moment: work.WasDone, want: row{due: start.Add(time.Minute), owner: "*", attempt: 1}},
		"error":       {answer: boom, moment: work.WasRetried, want: row{due: start.Add(4 * time.Hour), attempt: 1, err: "boom"}},
		"retry after": {answer: work.RetryAfter(boom, time.Hour), moment: work.WasRetried, want: row{due: start.Add(time.Hour), attempt: 1, err: "boom"}},
		"permanent":   {answer: work.Permanent(boom), moment: work.WasBuried, want: row{due: start.Add(time.Minute), attempt: 1, buried: start, err: "boom"}},
		"not now":     {answer: work.NotNow(time.Hour), moment: work.WasReleased, want: row{due: start.Add(time.Hour)}},
		"lost":        {answer: work.ErrLost, moment: work.WasLost, want: row{due: start.Add(time.Minute), owner: "*", attempt: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				id := add(t, d, "a", start)
				_, j := started(t, work.Options{Claimer: claimer(t, d, testkit.NewClock(start).Now), Lease: time.Minute,
					Backoff: work.Backoff{First: 4 * time.Hour, Max: 4 * time.Hour},
					Handle:  work.Each(func(context.Context, work.Lease) error { return c.answer })})
				j.await(t, c.moment, 1)
				got, ok := read(t, d, id)
				want := c.want
				if want.owner == "*" {
					want.owner = got.owner
				}
				if name == "error" && got.due.After(start.Add(2*time.Hour-1)) && got.due.Before(want.due) {
					got.due = want.due // jitter
				}
				if ok == c.gone || got != want {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			})
		})
	}
}

func TestFailuresAreTriedAgainThenBuriedThenRevived(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		id := add(t, d, "a", start)
		var sick atomic.Bool
		sick.Store(true)
		r, j := started(t, work.Options{Claimer: c, MaxAttempts: 3, Handle: work.Each(func(_ context.Context, l work.Lease) error {
			if sick.Load() {
				panic("attempt failed")
			}
			return nil
		})})
		for n := range 2 {
			j.await(t, work.WasRetried, n+1)
			clock.Advance(time.Hour)
			r.Wake()
		}
		j.await(t, work.WasBuried, 1)
		got, _ := read(t, d, id)
		if got.attempt != 3 || got.buried != clock.Now() || !strings.HasPrefix(got.err, "panic: attempt failed\n") || !strings.Contains(got.err, "runner_test.go") {
			t.Errorf("%+v", got)
		}
		sick.Store(false)
		if n, err := c.Revive(t.Context(), "a", id); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		r.Wake()
		j.await(t, work.WasDone, 1)
	})
}

func TestHeartbeatKeepsTheLease(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const lease = 50 * time.Millisecond // how often the heart beats; what it holds is told by the clock of the test
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		add(t, d, "a", start)
		until := make(chan struct{})
		_, j := started(t, work.Options{Claimer: c, Lease: lease, Handle: func(ctx context.Context, batch []work.Lease) []error {
			<-until
			return []error{ctx.Err()}
		}})
		j.await(t, work.WasClaimed, 1)
		for range 4 { // three leases long
			clock.Advance(lease * 3 / 4)
			if got := claim(t, c, "a", "thief", 1); got != nil {
				t.Errorf("claimed %v while its worker lives", got)
			}
			j.await(t, work.WasExtended, j.seen(work.WasExtended)+2) // one may have been under way
		}
		close(until)
		j.await(t, work.WasDone, 1)
	})
}

func TestLostLeaseEndsTheHandlersContext(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		id := add(t, d, "a", start)
		entered := make(chan struct{})
		_, j := started(t, work.Options{Claimer: c, Lease: 50 * time.Millisecond, Handle: func(ctx context.Context, batch []work.Lease) []error {
			entered <- struct{}{}
			<-ctx.Done()
			return []error{context.Cause(ctx)}
		}})
		<-entered
		var thief []work.Lease
		for len(thief) == 0 { // the heartbeat may come between
			clock.Advance(time.Hour) // as if this process had stood still
			thief = claim(t, c, "a", "thief", 1)
		}
		j.await(t, work.WasLost, 1)
		if r, _ := read(t, d, id); r.owner != "thief" || r.attempt != 2 {
			t.Errorf("%+v", r)
		}
		must(t, c.Done(t.Context(), thief...))
	})
}

func TestStopGivesLeasesBack(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := claimer(t, d, testkit.NewClock(start).Now)
		id, waits := add(t, d, "a", start), add(t, d, "a", start)
		entered := make(chan struct{})
		r, _ := started(t, work.Options{Claimer: c, Batch: 2, Handle: work.Each(func(ctx context.Context, _ work.Lease) error {
			close(entered)
			<-ctx.Done()
			return errors.New("cut short")
		})})
		<-entered
		must(t, r.Stop(t.Context()))
		for _, id := range []int64{id, waits} {
			if got, _ := read(t, d, id); got != (row{due: start}) {
				t.Errorf("row %d: %+v", id, got)
			}
		}
		must(t, r.Stop(t.Context())) // twice is fine
		if r.Start(t.Context()) == nil {
			t.Error("started again")
		}
	})
}

func TestStopLetsHandlersFinishWithinTheGrace(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := claimer(t, d, testkit.NewClock(start).Now)
		id := add(t, d, "a", start)
		entered, leave := make(chan struct{}), make(chan struct{})
		r, _ := started(t, work.Options{Claimer: c, Grace: time.Hour, Handle: func(ctx context.Context, _ []work.Lease) []error {
			close(entered)
			<-leave
			return []error{ctx.Err()}
		}})
		<-entered
		stopped := make(chan error)
		go func() { stopped <- r.Stop(t.Context()) }()
		close(leave)
		must(t, <-stopped)
		if _, ok := read(t, d, id); ok {
			t.Error("the row is still there")
		}
	})
}

func TestStopDoesNotWaitForeverForADeafHandler(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		add(t, d, "a", start)
		entered, leave := make(chan struct{}), make(chan struct{})
		r, _ := started(t, work.Options{Claimer: claimer(t, d, testkit.NewClock(start).Now), Handle: func(context.Context, []work.Lease) []error {
			close(entered)
			<-leave
			return nil
		}})
		<-entered
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.Stop(gone); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "queue a") {
			t.Error(err)
		}
		close(leave)
	})
}

// A row that kills its process every time is given up, and rows that were
// claimed together with it are not.
func TestCrashingRowDoesNotTakeItsNeighboursAlong(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		var poison int64
		for n := range 9 {
			if id := add(t, d, "a", start); n == 4 {
				poison = id
			}
		}
		worked := map[int64]int{}
		for crashes := 0; crashes < 20; crashes++ {
			if crash(t, c, poison, worked) {
				clock.Advance(time.Hour)
				continue
			}
			for id, n := range worked {
				if id != poison && n == 0 {
					t.Errorf("row %d was never worked", id)
				}
			}
			got, _ := read(t, d, poison)
			if got.buried.IsZero() || worked[poison] != 3 || len(worked) != 9 {
				t.Errorf("the poisoned row after %d crashes: %+v; worked: %v", crashes, got, worked)
			}
			if s, err := c.Stats(t.Context()); err != nil || len(s) != 1 || s[0] != (work.Stats{Queue: "a", Buried: 1}) {
				t.Errorf("%+v, %v", s, err)
			}
			return
		}
		t.Error("it crashed again and again")
	})
}

// crash is one life of a process that dies when it works the poisoned row, and
// tells whether it did; else it ends when nothing is left. The handler never
// answering is how a dead process looks to the table.
func crash(t *testing.T, c *work.Claimer, poison int64, worked map[int64]int) bool {
	t.Helper()
	died, forever := make(chan struct{}), make(chan struct{})
	j := newJournal()
	r := work.NewRunner(work.Options{Claimer: c, Queue: "a", Batch: 5, MaxAttempts: 3, Lease: time.Hour, Poll: time.Hour,
		Observe: j.observe, Log: slog.New(slog.NewTextHandler(j, nil)),
		Handle: func(_ context.Context, batch []work.Lease) []error {
			for _, l := range batch {
				worked[l.ID]++
				if l.ID == poison {
					close(died)
					<-forever
					errs := make([]error, len(batch))
					for i := range errs {
						errs[i] = work.ErrFinished // it wrote nothing
					}
					return errs
				}
			}
			return nil
		}})
	must(t, r.Start(t.Context()))
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		for {
			if s, err := c.Stats(t.Context()); err != nil || len(s) == 1 && s[0].Pending+s[0].Leased == 0 {
				return
			}
			select {
			case <-died:
				return
			default:
				r.Wake()
			}
		}
	}()
	crashed := false
	select {
	case <-died:
		crashed = true
	case <-idle:
		select {
		case <-died:
			crashed = true
		default:
		}
	}
	<-idle
	close(forever)
	must(t, r.Stop(t.Context()))
	return crashed
}

func TestWrongNumberOfAnswersIsAFailure(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		id := add(t, d, "a", start)
		_, j := started(t, work.Options{Claimer: claimer(t, d, testkit.NewClock(start).Now),
			Handle: func(context.Context, []work.Lease) []error { return make([]error, 2) }})
		j.await(t, work.WasRetried, 1)
		if r, _ := read(t, d, id); r.err != "work: the handler of a answered 2 results for 1 leases" {
			t.Error(r.err)
		}
	})
}

func TestStopBeforeStart(t *testing.T) {
	r := work.NewRunner(work.Options{Queue: "a"})
	must(t, r.Stop(t.Context()))
	if r.Start(t.Context()) == nil {
		t.Error("a stopped runner started")
	}
}
