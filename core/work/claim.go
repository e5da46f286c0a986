package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// Lease is one claimed row.
type Lease struct {
	ID    int64
	Queue string
	// Owner and Attempt are the fence: they name the claim. Attempt counts from
	// 1 and includes attempts that ended without an answer.
	Owner   string
	Attempt int
	Created time.Time
	// Until is the end of the lease as claimed; Extend moves the row's, not this.
	Until time.Time
}

// ErrLost tells that a lease ran out and the row was claimed by another, or
// was finished: the caller's work on it no longer counts. The error is a
// *LostError.
var ErrLost = errors.New("work: the lease was lost")

// LostError names the rows whose lease was lost.
type LostError struct{ IDs []int64 }

// Error implements error.
func (e *LostError) Error() string { return fmt.Sprintf("%v: rows %v", ErrLost, e.IDs) }

// Is makes errors.Is(err, ErrLost) true.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// maxError bounds last_error, in bytes.
const maxError = 4000

// Claim takes up to limit rows of the queue that are due and leases them to the
// owner, the oldest first; nil when there are none. The owner must be a text
// that no other claim uses, so that the fence holds even where the numbers of
// deleted rows are used again.
func (c *Claimer) Claim(ctx context.Context, queue, owner string, limit int, lease time.Duration) ([]Lease, error) {
	now := c.now()
	until := now.Add(lease)
	var claimed []Lease
	err := c.db.InTx(ctx, func(ctx context.Context) error {
		claimed = nil // a transaction may run again
		rows, err := c.db.Query(ctx, c.claim, db.Micros(until), owner, queue, db.Micros(now), limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			l := Lease{Queue: queue, Owner: owner, Until: until}
			var created int64
			if err := rows.Scan(&l.ID, &l.Attempt, &created); err != nil {
				return err
			}
			l.Created = db.Time(created)
			claimed = append(claimed, l)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("claim from %s: %w", queue, err)
	}
	slices.SortFunc(claimed, func(a, b Lease) int { return cmp.Compare(a.ID, b.ID) })
	return claimed, nil
}

// ClaimOne takes the row with the number, which must be one of the queue and
// due; nil when it is not. The owner is as for Claim.
func (c *Claimer) ClaimOne(ctx context.Context, queue, owner string, id int64, lease time.Duration) (*Lease, error) {
	now := c.now()
	l := &Lease{Queue: queue, Owner: owner, Until: now.Add(lease)}
	err := c.db.InTx(ctx, func(ctx context.Context) error {
		var created int64
		err := c.db.Row(ctx, c.claimOne, db.Micros(l.Until), owner, id, queue, db.Micros(now)).Scan(&l.ID, &l.Attempt, &created)
		l.Created = db.Time(created)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim row %d of %s: %w", id, queue, err)
	}
	return l, nil
}

// Extend makes the leases end that long after now.
func (c *Claimer) Extend(ctx context.Context, lease time.Duration, leases ...Lease) error {
	return c.fenced(ctx, c.extend, leases, db.Micros(c.now().Add(lease)))
}

// Done finishes the rows. Inside a transaction of the caller, that one makes it
// durable together with the work's own rows.
func (c *Claimer) Done(ctx context.Context, leases ...Lease) error {
	return c.fenced(ctx, c.done, leases)
}

// Retry makes the rows due again after a delay and keeps why.
func (c *Claimer) Retry(ctx context.Context, cause error, after time.Duration, leases ...Lease) error {
	return c.fenced(ctx, c.retry, leases, db.Micros(c.now().Add(after)), message(cause))
}

// Bury gives the rows up: they are kept with the reason, and claimed again only
// after Revive.
func (c *Claimer) Bury(ctx context.Context, cause error, leases ...Lease) error {
	return c.fenced(ctx, c.bury, leases, db.Micros(c.now()), message(cause))
}

// Release gives the rows back, due after a delay, as if this attempt had not
// been.
func (c *Claimer) Release(ctx context.Context, after time.Duration, leases ...Lease) error {
	return c.fenced(ctx, c.release, leases, db.Micros(c.now().Add(after)))
}

// Again finishes an attempt with success and makes the rows due at a time, with
// no attempts and no error: for work that is never done.
func (c *Claimer) Again(ctx context.Context, at time.Time, leases ...Lease) error {
	return c.fenced(ctx, c.again, leases, db.Micros(at))
}

// fenced runs a statement for each lease; args come before the fence's. Leases
// that were lost make a LostError; the others are changed all the same, unless
// the caller's transaction is rolled back.
func (c *Claimer) fenced(ctx context.Context, s *db.Statement, leases []Lease, args ...any) error {
	var lost []int64
	list := make([][]any, len(leases))
	for i, l := range leases {
		list[i] = append(slices.Clone(args), l.ID, l.Owner, l.Attempt)
	}
	err := c.db.InTx(ctx, func(ctx context.Context) error {
		lost = nil // a transaction may run again
		return c.db.Each(ctx, s, list, func(i int, rows db.Rows) error {
			if !rows.Next() && rows.Err() == nil {
				lost = append(lost, leases[i].ID)
			}
			return nil
		})
	})
	if err == nil && lost != nil {
		return &LostError{IDs: lost}
	}
	return err
}

// message is a cause as last_error keeps it: bounded, and free of what
// PostgreSQL refuses in a text.
func message(cause error) string {
	if cause == nil {
		return ""
	}
	return clean(cause.Error())
}
