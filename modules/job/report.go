package job

import (
	"context"
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
)

// Report is what every message of a worker bears.
type Report struct {
	ID    int64
	Token string // of the claim; empty from workers that know none
}

// News is what a worker is told in return.
type News struct {
	Cancel bool  // the job should end
	Size   int64 // of the output, bytes
	Lease  time.Duration
}

// backoff is how long a job that failed waits for its next attempt.
func backoff() work.Backoff { return work.Backoff{First: 10 * time.Second, Max: time.Hour} }

// reported holds the job of a report while fn works on it. It is a Conflict
// when the claim is not the newest one, and when the server runs the job
// itself. It is Forbidden for a command of the server that belongs to somebody
// else. A lease that ran out but was taken by nobody is renewed.
func (s *Service) reported(ctx context.Context, r Report, fn func(context.Context, *Job) error) error {
	return s.change(ctx, r.ID, func(ctx context.Context, j *Job) error {
		if r.Token != "" && r.Token != j.claim {
			return problem.New(problem.Conflict, "the job %d was given to another worker", r.ID).WithCode("stale_claim")
		}
		if r.Token == "" && j.Tag == "" && j.State == Running {
			return problem.New(problem.Conflict, "the job %d runs inside the server", r.ID).WithCode("job_running")
		}
		if err := mayFollow(ctx, j); err != nil {
			return err
		}
		if j.State == Running {
			err := s.jobs.Extend(ctx, j.lease, j.row())
			if err != nil {
				return err
			}
		}
		return fn(ctx, j)
	})
}

// row is the lease that a running job is under.
func (j *Job) row() work.Lease {
	return work.Lease{ID: j.ID, Queue: queueOf(j.Tag), Owner: j.owner, Attempt: j.Attempt}
}

// Write appends to the output. With an offset (not nil: the size of the output
// before this text) a repeated call appends nothing; Conflict when the text
// would leave a gap, with the size in the message.
func (s *Service) Write(ctx context.Context, r Report, text string, offset *int64) (n News, err error) {
	err = s.reported(ctx, r, func(ctx context.Context, j *Job) error {
		fresh := text
		if offset != nil && !j.Cut {
			known := j.Size - *offset
			if known < 0 {
				return problem.New(problem.Conflict, "the output has %d bytes, so nothing can be written at %d", j.Size, *offset).WithCode("gap")
			}
			fresh = fresh[min(known, int64(len(fresh))):]
		}
		if err := s.write(ctx, j, fresh); err != nil {
			return err
		}
		n = News{j.cancel, j.Size, j.lease}
		return nil
	})
	return n, err
}

// Heartbeat renews the lease. It is a Conflict for a job that does not run.
func (s *Service) Heartbeat(ctx context.Context, r Report) (n News, err error) {
	err = s.reported(ctx, r, func(_ context.Context, j *Job) error {
		if j.State != Running {
			return problem.New(problem.Conflict, "the job %d does not run: it is %s", r.ID, j.State).WithCode("job_not_running")
		}
		n = News{j.cancel, j.Size, j.lease}
		return nil
	})
	return n, err
}

// Complete ends a job with success; a second time it does nothing. It is a
// Conflict for one that has ended otherwise.
func (s *Service) Complete(ctx context.Context, r Report, exit *int64) error {
	return s.over(ctx, r, true, exit, func(ctx context.Context, j *Job) error { return s.end(ctx, j, Done, statusCompleted) })
}

// Fail ends a job without success, or makes it wait for its next attempt if it
// has any; a second time it does nothing. It is a Conflict for one that has
// completed.
func (s *Service) Fail(ctx context.Context, r Report, message string, exit *int64) error {
	return s.over(ctx, r, false, exit, func(ctx context.Context, j *Job) error { return s.failed(ctx, j, message) })
}

// over ends a job, with success or not, unless it has ended in that way.
func (s *Service) over(ctx context.Context, r Report, success bool, exit *int64, end func(ctx context.Context, j *Job) error) error {
	return s.reported(ctx, r, func(ctx context.Context, j *Job) error {
		switch {
		case j.State.Over() && (j.State == Done) == success:
			return nil
		case j.State.Over():
			return ended(j)
		case j.State == Waiting && (r.Token != "" || j.failures > 0): // the claim that this is about has ended
			if success {
				return problem.New(problem.Conflict, "the job %d has failed, and waits for its next attempt", r.ID).WithCode("job_not_running")
			}
			return nil
		}
		j.ExitCode = exit
		return end(ctx, j)
	})
}

// failed ends a held job that failed, or makes it wait for its next attempt.
func (s *Service) failed(ctx context.Context, j *Job, message string) error {
	if err := s.note(ctx, j, "%s", message); err != nil {
		return err
	}
	if j.cancel {
		return s.end(ctx, j, Cancelled, statusCancelled)
	}
	if j.failures++; j.failures > j.retries || j.State != Running {
		return s.end(ctx, j, Failed, statusFailed)
	}
	after := backoff().Delay(int(j.failures))
	if err := s.note(ctx, j, "[attempt %d of %d failed; the next one in %s]", j.failures, j.retries+1, after.Round(time.Second)); err != nil {
		return err
	}
	if err := s.jobs.Retry(ctx, errors.New(message), after, j.row()); err != nil {
		return err
	}
	return s.store.again(ctx, j)
}

func ended(j *Job) error {
	return problem.New(problem.Conflict, "the job %d is over: it is %s", j.ID, j.State).WithCode("job_over")
}

// Cancel ends a job that waits, and asks the worker of one that runs to end it.
// For one that is over it does nothing. Forbidden for the job of another, unless
// the caller is an administrator.
func (s *Service) Cancel(ctx context.Context, id int64) (*Job, error) {
	var cancelled *Job
	err := s.change(ctx, id, func(ctx context.Context, j *Job) error {
		if err := mayManage(ctx, j); err != nil {
			return err
		}
		cancelled = j
		switch j.State {
		case Waiting:
			return s.end(ctx, j, Cancelled, statusCancelled)
		case Running:
			j.cancel = true
			return s.store.cancel(ctx, id, s.now())
		}
		return nil
	})
	return cancelled, err
}

// Retry makes a job that is over wait anew, with all its attempts. It is a
// Conflict for one that is not.
func (s *Service) Retry(ctx context.Context, id int64) (*Job, error) {
	var again *Job
	err := s.change(ctx, id, func(ctx context.Context, j *Job) error {
		if err := mayManage(ctx, j); err != nil {
			return err
		}
		if !j.State.Over() {
			return problem.New(problem.Conflict, "the job %d is not over: it is %s", id, j.State).WithCode("job_not_over")
		}
		again = j
		if err := s.note(ctx, j, "[begun again]"); err != nil {
			return err
		}
		return s.store.restart(ctx, id, s.now())
	})
	if err == nil {
		s.hub.wake(queueOf(again.Tag))
	}
	return again, err
}
