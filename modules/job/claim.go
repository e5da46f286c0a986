package job

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
)

// Claim is a job that a worker has taken.
type Claim struct {
	*Job
	// Token names the claim; a worker that sends it with its reports is told
	// when the job is no longer its own.
	Token string
	Lease time.Duration
}

// lookEvery is how often somebody who waits for a job looks without being
// woken, give or take a quarter: for jobs that become due by the time.
const lookEvery = 4 * time.Second

// Next takes the oldest job with the tag that is due, or the one with the
// number (0 for any), and waits for one until ctx ends or the wait is over; nil
// when there is none. Errors: NotFound and Invalid for a number that cannot be
// taken.
func (s *Service) Next(ctx context.Context, tag string, id int64, lease, wait time.Duration) (*Claim, error) {
	lease = s.leaseOf(lease)
	over := time.NewTimer(min(max(wait, 0), s.cfg.MaxWait))
	defer over.Stop()
	for {
		ctx, err := auth.Again(ctx) // no job for a worker that was locked out while it waited
		if err != nil {
			return nil, err
		}
		woken, leave := s.hub.wait(queueOf(tag))
		c, err := s.claim(ctx, queueOf(tag), id, lease)
		if err != nil || c != nil || id != 0 || wait <= 0 {
			leave()
			return c, err
		}
		look := time.NewTimer(lookEvery*3/4 + mathrand.N(lookEvery/2))
		again := true
		select {
		case <-woken:
		case <-look.C:
		case <-over.C:
			again = false
		case <-s.stopping:
			again = false
		case <-ctx.Done():
			again = false
		}
		look.Stop()
		leave()
		if !again {
			return nil, ctx.Err()
		}
	}
}

// leaseOf is the lease that is given to who asks for one; 0 asks for none.
func (s *Service) leaseOf(asked time.Duration) time.Duration {
	if asked <= 0 {
		return s.cfg.Lease
	}
	return min(max(asked, minLease), maxLease)
}

// claim takes a job and begins it. Jobs whose worker fell silent are ended on
// the way if they may not be begun again.
func (s *Service) claim(ctx context.Context, queue string, id int64, lease time.Duration) (*Claim, error) {
	if id == 0 { // most who ask find nothing: a read is cheaper than a transaction
		ids, err := s.store.ids(ctx, anyDue, queue, db.Micros(s.now()))
		if err != nil || len(ids) == 0 {
			return nil, err
		}
	}
	var taken *Claim
	for more := true; more; {
		err := s.store.db.InTx(ctx, func(ctx context.Context) (err error) {
			taken, more, err = s.claimOnce(ctx, queue, id, lease)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// claimOnce tries one row; more tells to try another.
func (s *Service) claimOnce(ctx context.Context, queue string, id int64, lease time.Duration) (c *Claim, more bool, err error) {
	l := work.Lease{ID: id, Owner: rand.Text(), Queue: queue}
	if id != 0 {
		if err := s.claimNumber(ctx, &l, lease); err != nil {
			return nil, false, err
		}
	} else {
		list, err := s.jobs.Claim(ctx, queue, l.Owner, 1, lease)
		if err != nil || len(list) == 0 {
			return nil, false, err
		}
		l = list[0]
	}
	j, err := s.begin(ctx, l, lease)
	if err != nil || j == nil {
		return nil, id == 0, err
	}
	return &Claim{Job: j, Token: l.Owner, Lease: lease}, false, nil
}

// claimNumber takes the job with a number.
func (s *Service) claimNumber(ctx context.Context, l *work.Lease, lease time.Duration) error {
	j, err := s.store.hold(ctx, l.ID, s.now())
	if err != nil {
		return err
	}
	if queueOf(j.Tag) != l.Queue {
		return problem.New(problem.Invalid, "the job %d does not have this tag", l.ID).WithCode("other_tag")
	}
	got, err := s.jobs.ClaimOne(ctx, l.Queue, l.Owner, l.ID, lease)
	if err != nil {
		return err
	}
	if got == nil {
		return problem.New(problem.Invalid, "the job %d is not waiting: it is %s", l.ID, j.State).WithCode("job_not_waiting")
	}
	*l = *got
	return nil
}

// begin marks a claimed job as running; nil when it had to be ended instead.
func (s *Service) begin(ctx context.Context, l work.Lease, lease time.Duration) (*Job, error) {
	j, err := s.store.hold(ctx, l.ID, s.now())
	if err != nil {
		return nil, err
	}
	db.AfterCommit(ctx, func() { s.hub.wake(jobKey(l.ID)) })
	if j.State == Running { // and its lease ran out
		if ended, err := s.lose(ctx, j); err != nil || ended {
			return nil, err
		}
		j.losses++
		if err := s.note(ctx, j, "[nothing was heard of the worker for %s; attempt %d begins]", j.lease, l.Attempt); err != nil {
			return nil, err
		}
	}
	j.State, j.Status, j.Started, j.claim, j.owner, j.lease = Running, "", s.now(), l.Owner, l.Owner, lease
	return j, s.store.begin(ctx, j)
}

// lose ends a held job whose worker fell silent, unless it may be begun again.
func (s *Service) lose(ctx context.Context, j *Job) (ended bool, err error) {
	switch {
	case j.cancel:
		return true, s.end(ctx, j, Cancelled, statusCancelled)
	case j.lost == lostRequeue && j.losses < int64(s.cfg.MaxLosses):
		return false, nil
	}
	if err := s.note(ctx, j, "nothing was heard of the worker for %s", j.lease); err != nil {
		return true, err
	}
	return true, s.end(ctx, j, Failed, statusFailed)
}

// Sweep ends jobs whose worker fell silent and that may not be begun again.
// Those that may wait for the next worker.
func (s *Service) Sweep(ctx context.Context) error {
	ids, err := s.store.ids(ctx, selectLost, db.Micros(s.now()))
	for _, id := range ids {
		if err != nil {
			break
		}
		err = s.change(ctx, id, func(ctx context.Context, j *Job) error {
			if j.State != Running || j.due.After(s.now()) {
				return nil
			}
			_, err := s.lose(ctx, j)
			return err
		})
	}
	return err
}
