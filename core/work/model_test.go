package work_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/work"
)

// model is what the table should hold, kept beside it.
type model struct{ rows map[int64]*modelRow } // SQLite uses the numbers of deleted rows again

type modelRow struct {
	due      time.Time
	owner    string
	attempt  int
	buried   bool
	finished int
}

// claim says which rows a claim must give.
func (m *model) claim(now time.Time, limit int) (due []int64) {
	for id, r := range m.rows {
		if !r.buried && !r.due.After(now) {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, func(a, b int64) int {
		if c := m.rows[a].due.Compare(m.rows[b].due); c != 0 {
			return c
		}
		return int(a - b)
	})
	due = due[:min(limit, len(due))]
	slices.Sort(due)
	return due
}

// holds tells whether the claim still owns its row.
func (m *model) holds(l work.Lease) bool {
	r := m.rows[l.ID]
	return r != nil && !r.buried && r.owner == l.Owner && r.attempt == l.Attempt
}

// TestRandomInterleavings runs random claims, endings by current and by long
// dead owners, and jumps of the clock against a model: each step must do what
// the model says, so that no row is lost and none is finished twice.
func TestRandomInterleavings(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for range 10 {
			seed := rand.Uint64()
			if ok := t.Run(fmt.Sprint(seed), func(t *testing.T) { interleave(t, d, rand.New(rand.NewPCG(seed, 0))) }); !ok {
				t.Logf("replay with seed %d", seed)
			}
		}
	})
}

func interleave(t *testing.T, d *db.DB, r *rand.Rand) {
	clock := testkit.NewClock(start)
	c := claimer(t, d, clock.Now)
	queue := "q" + fmt.Sprint(r.Uint64())
	m := &model{rows: map[int64]*modelRow{}}
	var leases []work.Lease // every claim there ever was, zombies included
	var added []*modelRow
	for step := range 150 {
		now := clock.Now()
		switch r.IntN(6) {
		case 0:
			due := now.Add(time.Duration(r.IntN(90)-30) * time.Second)
			id := add(t, d, queue, due)
			m.rows[id] = &modelRow{due: due}
			added = append(added, m.rows[id])
		case 1:
			clock.Advance(time.Duration(r.IntN(50)) * time.Second)
		case 2, 3:
			limit, owner := 1+r.IntN(4), fmt.Sprint("owner", step)
			want := m.claim(now, limit)
			got := claim(t, c, queue, owner, limit)
			if !slices.Equal(ids(got), want) {
				t.Fatalf("step %d: claimed %v, want %v", step, ids(got), want)
			}
			for _, l := range got {
				row := m.rows[l.ID]
				row.due, row.owner, row.attempt = now.Add(time.Minute), owner, row.attempt+1
				if l.Attempt != row.attempt {
					t.Fatalf("step %d: attempt %d of row %d, want %d", step, l.Attempt, l.ID, row.attempt)
				}
			}
			leases = append(leases, got...)
		default:
			if len(leases) > 0 {
				end(t, c, m, now, leases[r.IntN(len(leases))], r.IntN(6))
			}
		}
	}
	finishAll(t, c, m, clock, queue)
	for n, row := range added {
		if row.finished != 1 {
			t.Errorf("the row added as number %d was finished %d times", n, row.finished)
		}
	}
	var left int
	must(t, d.Row(t.Context(), countParcels).Scan(&left))
	if left != 0 {
		t.Errorf("%d rows are left", left)
	}
}

// end applies one way of ending an attempt to the table and to the model.
func end(t *testing.T, c *work.Claimer, m *model, now time.Time, l work.Lease, how int) {
	t.Helper()
	held := m.holds(l)
	row := m.rows[l.ID]
	var err error
	after := modelRow{}
	switch how {
	case 0:
		err = c.Extend(t.Context(), 2*time.Minute, l)
		after = modelRow{due: now.Add(2 * time.Minute), owner: l.Owner, attempt: l.Attempt}
	case 1:
		err = c.Retry(t.Context(), errors.New("x"), time.Second, l)
		after = modelRow{due: now.Add(time.Second), attempt: l.Attempt}
	case 2:
		err = c.Bury(t.Context(), errors.New("x"), l)
		after = modelRow{due: time.Time{}, attempt: l.Attempt, buried: true}
	case 3:
		err = c.Release(t.Context(), 0, l)
		after = modelRow{due: now, attempt: l.Attempt - 1}
	default:
		err = c.Done(t.Context(), l)
	}
	if held != (err == nil) || err != nil && !errors.Is(err, work.ErrLost) {
		t.Fatalf("way %d of ending %+v: %v, but held is %t", how, l, err, held)
	}
	switch {
	case held && how > 3:
		row.finished++
		delete(m.rows, l.ID)
	case held:
		after.finished = row.finished
		*row = after
	}
}

// finishAll lets every lease run out and works what is left.
func finishAll(t *testing.T, c *work.Claimer, m *model, clock *testkit.Clock, queue string) {
	t.Helper()
	if _, err := c.Revive(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	for n := 0; ; n++ {
		leases := claim(t, c, queue, fmt.Sprint("last", n), 7)
		if leases == nil {
			return
		}
		for _, l := range leases {
			m.rows[l.ID].finished++
		}
		must(t, c.Done(t.Context(), leases...))
	}
}
