package work_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed testdata
var files embed.FS

var (
	addParcel    = db.SQL("INSERT INTO parcel (queue, due_at, created_at) VALUES (?, ?, ?) RETURNING id")
	readParcel   = db.SQL("SELECT due_at, coalesce(owner, ''), attempt, coalesce(buried_at, 0), coalesce(last_error, '') FROM parcel WHERE id = ?")
	countParcels = db.SQL("SELECT count(*) FROM parcel")
	start        = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
)

// each runs a test on SQLite and on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		fn(t, open(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		fn(t, open(t, db.Config{URL: testkit.Postgres(t, testkit.WithoutFsync())}))
	})
}

func open(t testing.TB, c db.Config) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Migrate(context.Background(), []db.Source{work.Migrations(), {Module: "parcel", Files: sub}}); err != nil {
		t.Fatal(err)
	}
	return d
}

func claimer(t testing.TB, d *db.DB, now func() time.Time) *work.Claimer {
	t.Helper()
	c, err := work.New(d, work.Table{Name: "parcel", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// add adds a row of the queue that is due at a time.
func add(t testing.TB, d *db.DB, queue string, due time.Time) (id int64) {
	t.Helper()
	err := d.InTx(t.Context(), func(ctx context.Context) error {
		return d.Row(ctx, addParcel, queue, db.Micros(due), db.Micros(start)).Scan(&id)
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

type row struct {
	due     time.Time
	owner   string
	attempt int
	buried  time.Time
	err     string
}

func read(t testing.TB, d *db.DB, id int64) (r row, ok bool) {
	t.Helper()
	var due, buried int64
	err := d.Row(t.Context(), readParcel, id).Scan(&due, &r.owner, &r.attempt, &buried, &r.err)
	if errors.Is(err, db.ErrNotFound) {
		return r, false
	}
	if err != nil {
		t.Fatal(err)
	}
	r.due, r.buried = db.Time(due), db.Time(buried)
	return r, true
}

func claim(t testing.TB, c *work.Claimer, queue, owner string, limit int) []work.Lease {
	t.Helper()
	leases, err := c.Claim(t.Context(), queue, owner, limit, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return leases
}

func claimOne(t testing.TB, c *work.Claimer, queue, owner string) work.Lease {
	t.Helper()
	leases := claim(t, c, queue, owner, 1)
	if len(leases) != 1 {
		t.Fatalf("claimed %v", leases)
	}
	return leases[0]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ids(leases []work.Lease) (list []int64) {
	for _, l := range leases {
		list = append(list, l.ID)
	}
	return list
}

func TestTableNames(t *testing.T) {
	for name, good := range map[string]bool{
		"event_delivery": true, "a": true, "": false, "A": false, "a b": false, "a;DROP TABLE b": false, "1a": false, "a.b": false,
		`a"`: false, strings.Repeat("a", 63): true, strings.Repeat("a", 64): false,
	} {
		if _, err := work.New(nil, work.Table{Name: name}); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestClaimTakesWhatIsDueOldestFirst(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		third := add(t, d, "a", start)
		second := add(t, d, "a", start.Add(-time.Second))
		first := add(t, d, "a", start.Add(-time.Minute))
		later := add(t, d, "a", start.Add(time.Microsecond))
		other := add(t, d, "b", start)

		if got := ids(claim(t, c, "a", "x", 2)); !slices.Equal(got, []int64{second, first}) {
			t.Errorf("first claim: %v", got)
		}
		if got := ids(claim(t, c, "a", "y", 10)); !slices.Equal(got, []int64{third}) {
			t.Errorf("second claim: %v", got)
		}
		if got := claim(t, c, "a", "z", 10); got != nil {
			t.Errorf("third claim: %v", got)
		}
		clock.Advance(time.Microsecond)
		got := claim(t, c, "a", "z", 10)
		if len(got) != 1 || got[0] != (work.Lease{ID: later, Queue: "a", Owner: "z", Attempt: 1, Created: start, Until: clock.Now().Add(time.Minute)}) {
			t.Errorf("fourth claim: %+v", got)
		}
		if r, _ := read(t, d, later); r.owner != "z" || r.attempt != 1 || r.due != clock.Now().Add(time.Minute) {
			t.Errorf("the row: %+v", r)
		}
		if got := ids(claim(t, c, "b", "z", 10)); !slices.Equal(got, []int64{other}) {
			t.Errorf("the other queue: %v", got)
		}
	})
}

func TestExpiredLeaseIsClaimedByAnother(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		id := add(t, d, "a", start)
		old := claimOne(t, c, "a", "dead")
		clock.Advance(time.Minute - time.Microsecond)
		if got := claim(t, c, "a", "eager", 1); got != nil {
			t.Fatalf("claimed under a lease: %v", got)
		}
		clock.Advance(time.Microsecond)
		heir := claimOne(t, c, "a", "heir")
		if heir.ID != id || heir.Attempt != 2 {
			t.Fatalf("%+v", heir)
		}
		for name, late := range map[string]error{
			"done":    c.Done(t.Context(), old),
			"extend":  c.Extend(t.Context(), time.Hour, old),
			"retry":   c.Retry(t.Context(), errors.New("x"), 0, old),
			"bury":    c.Bury(t.Context(), errors.New("x"), old),
			"release": c.Release(t.Context(), 0, old),
			"again":   c.Again(t.Context(), start, old),
		} {
			var lost *work.LostError
			if !errors.Is(late, work.ErrLost) || !errors.As(late, &lost) || !slices.Equal(lost.IDs, []int64{id}) {
				t.Errorf("%s of a zombie: %v", name, late)
			}
		}
		if r, _ := read(t, d, id); r.owner != "heir" || r.attempt != 2 || r.err != "" {
			t.Errorf("the zombie changed the row: %+v", r)
		}
		must(t, c.Done(t.Context(), heir))
	})
}

func TestFenceNeedsOwnerAndAttempt(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := claimer(t, d, testkit.NewClock(start).Now)
		id := add(t, d, "a", start)
		l := claimOne(t, c, "a", "x")
		for _, wrong := range []work.Lease{
			{ID: id, Owner: "y", Attempt: 1}, {ID: id, Owner: "x", Attempt: 2}, {ID: id, Owner: "x", Attempt: 0},
			{ID: id, Owner: "", Attempt: 1}, {ID: id + 1, Owner: "x", Attempt: 1},
		} {
			if err := c.Done(t.Context(), wrong); !errors.Is(err, work.ErrLost) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		must(t, c.Done(t.Context(), l))
		if err := c.Done(t.Context(), l); !errors.Is(err, work.ErrLost) {
			t.Errorf("twice done: %v", err)
		}
	})
}

func TestLostLeaseLeavesTheOthersOfItsBatch(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := claimer(t, d, testkit.NewClock(start).Now)
		for range 3 {
			add(t, d, "a", start)
		}
		leases := claim(t, c, "a", "x", 3)
		must(t, c.Done(t.Context(), leases[1]))
		var lost *work.LostError
		if err := c.Done(t.Context(), leases...); !errors.As(err, &lost) || !slices.Equal(lost.IDs, []int64{leases[1].ID}) {
			t.Fatalf("%v", err)
		}
		var n int
		must(t, d.Row(t.Context(), countParcels).Scan(&n))
		if n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestDoneIsPartOfTheCallersTransaction(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := claimer(t, d, testkit.NewClock(start).Now)
		id := add(t, d, "a", start)
		l := claimOne(t, c, "a", "x")
		wrong := errors.New("no")
		err := d.InTx(t.Context(), func(ctx context.Context) error { return errors.Join(c.Done(ctx, l), wrong) })
		if !errors.Is(err, wrong) || errors.Is(err, work.ErrLost) {
			t.Fatal(err)
		}
		if _, ok := read(t, d, id); !ok {
			t.Fatal("the row is gone although the transaction was rolled back")
		}
		must(t, c.Done(t.Context(), l))
	})
}

func TestHowAnAttemptEnds(t *testing.T) {
	const lease = time.Minute
	cause := errors.New("bad address\x00\xff" + strings.Repeat("x", 9000))
	for name, c := range map[string]struct {
		end  func(ctx context.Context, c *work.Claimer, l work.Lease) error
		want row
	}{
		"extend": {func(ctx context.Context, c *work.Claimer, l work.Lease) error { return c.Extend(ctx, time.Hour, l) },
			row{due: start.Add(time.Hour), owner: "x", attempt: 1}},
		"retry": {func(ctx context.Context, c *work.Claimer, l work.Lease) error {
			return c.Retry(ctx, errors.New("busy"), 7*time.Second, l)
		}, row{due: start.Add(7 * time.Second), attempt: 1, err: "busy"}},
		"bury": {func(ctx context.Context, c *work.Claimer, l work.Lease) error { return c.Bury(ctx, cause, l) },
			row{due: start.Add(lease), attempt: 1, buried: start, err: "bad address??" + strings.Repeat("x", 4000-13) + " …"}},
		"release": {func(ctx context.Context, c *work.Claimer, l work.Lease) error { return c.Release(ctx, time.Second, l) },
			row{due: start.Add(time.Second)}},
		"again": {func(ctx context.Context, c *work.Claimer, l work.Lease) error {
			return c.Again(ctx, start.Add(time.Hour), l)
		}, row{due: start.Add(time.Hour)}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				claims := claimer(t, d, testkit.NewClock(start).Now)
				id := add(t, d, "a", start)
				must(t, c.end(t.Context(), claims, claimOne(t, claims, "a", "x")))
				if r, _ := read(t, d, id); r != c.want {
					t.Errorf("got  %+v\nwant %+v", r, c.want)
				}
			})
		})
	}
}

func TestKeptRowsAreNeverDueAgain(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c, err := work.New(d, work.Table{Name: "parcel", Keep: true, Now: clock.Now})
		must(t, err)
		id := add(t, d, "a", start)
		must(t, c.Done(t.Context(), claimOne(t, c, "a", "x")))
		clock.Advance(200 * 365 * 24 * time.Hour)
		if got := claim(t, c, "a", "y", 1); got != nil {
			t.Errorf("claimed %v", got)
		}
		if _, ok := read(t, d, id); !ok {
			t.Error("the row is gone")
		}
		if s, err := c.Stats(t.Context()); err != nil || s != nil {
			t.Errorf("%v, %v", s, err)
		}
	})
}

func TestStatsBuriedAndRevival(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(start)
		c := claimer(t, d, clock.Now)
		for range 5 {
			add(t, d, "a", start.Add(-10*time.Second))
		}
		add(t, d, "b", start.Add(time.Hour))
		leases := claim(t, c, "a", "x", 3)
		must(t, c.Bury(t.Context(), errors.New("hopeless"), leases[:2]...))
		want := []work.Stats{{Queue: "a", Pending: 2, Leased: 1, Buried: 2, Lag: 10 * time.Second}, {Queue: "b", Pending: 1}}
		if got, err := c.Stats(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
		clock.Advance(time.Minute) // the lease of the third ends
		if got, err := c.Stats(t.Context()); err != nil || got[0] != (work.Stats{Queue: "a", Pending: 3, Buried: 2, Lag: 70 * time.Second}) {
			t.Errorf("%+v, %v", got, err)
		}

		for i, step := range []struct {
			n    int
			ids  []int64
			name string
		}{
			{0, []int64{leases[2].ID}, "a"}, // not buried
			{0, []int64{leases[0].ID}, "b"}, // of another queue
			{1, []int64{leases[0].ID, 999}, "a"},
			{0, []int64{leases[0].ID}, "a"}, // already
			{1, nil, "a"},
			{0, nil, "a"},
		} {
			if n, err := c.Revive(t.Context(), step.name, step.ids...); err != nil || n != step.n {
				t.Errorf("step %d: %d, %v", i, n, err)
			}
		}
		if r, _ := read(t, d, leases[0].ID); r != (row{due: clock.Now(), err: "hopeless"}) {
			t.Errorf("revived: %+v", r)
		}
		must(t, c.Bury(t.Context(), nil, claim(t, c, "a", "y", 10)...))
		if n, err := c.Revive(t.Context(), "a"); err != nil || n != 5 {
			t.Errorf("all: %d, %v", n, err)
		}
	})
}

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		b       work.Backoff
		attempt int
		want    time.Duration
	}{
		{work.Backoff{}, 0, time.Second}, {work.Backoff{}, 1, time.Second}, {work.Backoff{}, 2, 2 * time.Second},
		{work.Backoff{}, 12, 2048 * time.Second}, {work.Backoff{}, 13, time.Hour}, {work.Backoff{}, 1 << 40, time.Hour},
		{work.Backoff{First: 2 * time.Hour}, 9, 2 * time.Hour},
		{work.Backoff{First: time.Hour, Max: time.Minute}, 1, time.Minute},
		{work.Backoff{First: 3, Max: 10}, 2, 6}, {work.Backoff{First: 3, Max: 10}, 3, 10},
	} {
		least, most := c.want, time.Duration(0)
		for range 200 {
			d := c.b.Delay(c.attempt)
			least, most = min(least, d), max(most, d)
		}
		if least < c.want/2 || most > c.want || most == least {
			t.Errorf("%+v attempt %d: from %s to %s, want up to %s", c.b, c.attempt, least, most, c.want)
		}
	}
}

// Claimers on many goroutines never share a row, and every row is finished.
func TestClaimersDoNotShareRows(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		const rows, workers = 400, 8
		c := claimer(t, d, time.Now)
		for range rows {
			add(t, d, "a", start.AddDate(-10, 0, 0))
		}
		finished := make(chan int64, 2*rows)
		failed := make(chan error, workers)
		for w := range workers {
			go func() {
				for n := 0; ; n++ {
					leases, err := c.Claim(t.Context(), "a", fmt.Sprint(w, "/", n), 1+w, time.Minute)
					if err == nil && len(leases) > 0 {
						err = c.Done(t.Context(), leases...)
					}
					if err != nil || len(leases) == 0 {
						failed <- err
						return
					}
					for _, l := range leases {
						finished <- l.ID
					}
				}
			}()
		}
		for range workers {
			must(t, <-failed)
		}
		seen := map[int64]bool{}
		for len(finished) > 0 {
			id := <-finished
			if seen[id] {
				t.Errorf("row %d was finished twice", id)
			}
			seen[id] = true
		}
		if len(seen) != rows {
			t.Errorf("%d of %d rows were finished", len(seen), rows)
		}
	})
}
