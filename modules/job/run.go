package job

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

// serverLease is how long a command of a server that was killed waits for
// another one.
const serverLease = 30 * time.Second

var (
	errCancelled = errors.New("cancelled")
	errTimeLimit = errors.New("the time limit is over")
)

// newRunner makes what runs the commands of this process.
func (s *Service) newRunner() *work.Runner {
	return work.NewRunner(work.Options{
		Claimer: s.jobs, Queue: serverQueue, Handle: work.Each(s.run), Concurrency: s.cfg.Workers,
		Lease: serverLease, Poll: lookEvery, Grace: 5 * time.Second, Log: s.log,
	})
}

// run runs one command from its claim to its end.
func (s *Service) run(ctx context.Context, l work.Lease) error {
	store := context.WithoutCancel(ctx)
	var j *Job
	err := s.store.db.InTx(store, func(ctx context.Context) (err error) {
		j, err = s.begin(ctx, l, serverLease)
		return err
	})
	if err != nil {
		return err
	}
	if j == nil {
		return work.ErrFinished
	}
	ctx, span := s.span(ctx, j)
	store = context.WithoutCancel(ctx)
	out := s.newWriter(store, j)
	err = s.protected(ctx, j, out)
	span.End(err)
	stopped := ctx.Err() != nil
	if last := out.close(); err == nil {
		err = last
	}
	if err := s.conclude(store, l, err, stopped); err != nil {
		return err
	}
	return work.ErrFinished
}

// span begins the span of a command, in the trace of the request that created
// the job. The arguments may hold secrets, and stay out.
func (s *Service) span(ctx context.Context, j *Job) (context.Context, telemetry.Span) {
	ctx, span := s.tracing.Begin(ctx, j.trace, "job", telemetry.Handles)
	if span.Recorded() {
		name, _, _ := strings.Cut(j.Command, " ")
		span.Name("job " + name)
		span.Number("quoin.job", j.ID)
	}
	return ctx, span
}

// protected is execute, but for a panic, which is for the log.
func (s *Service) protected(ctx context.Context, j *Job, out *writer) (err error) {
	crash := work.Protect(func() error {
		err = s.execute(ctx, j, out)
		return nil
	})
	if crash != nil {
		s.log.ErrorContext(ctx, "a command crashed", "job", j.ID, "error", crash)
		err = errors.New("the command crashed; the log of the server tells more")
	}
	return err
}

// execute runs the command of a job with the rights that its owner has now.
func (s *Service) execute(ctx context.Context, j *Job, out *writer) error {
	if s.people == nil {
		return errors.New("there are no accounts, so nobody can own a command")
	}
	who, err := s.people.Identity(ctx, j.User)
	if err != nil {
		return err
	}
	line, err := s.commands.Parse(j.Command, who)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(auth.With(ctx, who), s.cfg.TimeLimit, errTimeLimit)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	quit := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.watch(ctx, j.ID, end, quit)
	}()
	err = line.Run(ctx, out)
	close(quit)
	<-gone
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, errCancelled) || errors.Is(cause, errTimeLimit)) {
		err = cause
	}
	end(nil)
	return err
}

// watch ends a command when its job is cancelled.
func (s *Service) watch(ctx context.Context, id int64, end context.CancelCauseFunc, quit <-chan struct{}) {
	for {
		woken, leave := s.hub.wait(jobKey(id))
		if j, err := s.store.job(ctx, id); err == nil && j.cancel {
			end(errCancelled)
		}
		look := time.NewTimer(lookEvery)
		select {
		case <-quit:
			look.Stop()
			leave()
			return
		case <-woken:
		case <-look.C:
		}
		look.Stop()
		leave()
	}
}

// conclude ends a job that was run here, unless it was taken away meanwhile.
func (s *Service) conclude(ctx context.Context, l work.Lease, cause error, stopped bool) error {
	return s.change(ctx, l.ID, func(ctx context.Context, j *Job) error {
		if j.State != Running || j.owner != l.Owner {
			s.log.WarnContext(ctx, "a job was taken over by another process while it ran", "job", j.ID)
			return nil
		}
		code := int64(0)
		if cause == nil {
			j.ExitCode = &code
			return s.end(ctx, j, Done, statusCompleted)
		}
		if stopped && !j.cancel && j.lost == lostRequeue {
			if err := s.note(ctx, j, "[the server stops: the command begins again later]"); err != nil {
				return err
			}
			if err := s.jobs.Release(ctx, 0, l); err != nil {
				return err
			}
			db.AfterCommit(ctx, func() { s.hub.wake(serverQueue) })
			return s.store.again(ctx, j)
		}
		code = 1
		j.ExitCode = &code
		return s.failed(ctx, j, sentence(cause))
	})
}

// sentence is an error as the owner of a job reads it.
func sentence(err error) string {
	var p *problem.Problem
	if errors.As(err, &p) && p.Cause == nil {
		return p.Detail
	}
	return err.Error()
}

// Start makes a job of the caller that waits due now. When this process runs
// commands it waits for the end of it, or of ctx, or for the configured time;
// already tells that the job was over before. Errors: NotFound, Forbidden for
// the job of another.
func (s *Service) Start(ctx context.Context, id int64) (j *Job, already bool, err error) {
	j, already, err = s.begun(ctx, id)
	if err != nil || already || j.Tag != "" || !s.runs {
		return j, already, err
	}
	j, err = s.await(ctx, id)
	return j, false, err
}

// begun is Start without the waiting.
func (s *Service) begun(ctx context.Context, id int64) (j *Job, already bool, err error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, false, err
	}
	err = s.change(ctx, id, func(ctx context.Context, held *Job) error {
		j = held
		if j.User != who.Username {
			return problem.New(problem.Forbidden, "the job %d belongs to %s: only who created a job starts it", id, j.User).WithCode("foreign_job")
		}
		if j.Tag != "" || j.State != Waiting {
			return nil
		}
		db.AfterCommit(ctx, func() { s.hub.wake(serverQueue) })
		return s.store.start(ctx, id, s.now())
	})
	return j, err == nil && j.State.Over(), err
}

// await waits until a job is over, ctx ends, the server stops, or a start has
// waited long enough.
func (s *Service) await(ctx context.Context, id int64) (*Job, error) {
	within := time.NewTimer(s.cfg.StartWait)
	defer within.Stop()
	for {
		woken, leave := s.hub.wait(jobKey(id))
		j, err := s.store.job(ctx, id)
		if err != nil || j.State.Over() {
			leave()
			return j, err
		}
		look := time.NewTimer(lookEvery)
		over := false
		select {
		case <-woken:
		case <-look.C:
		case <-within.C:
			over = true
		case <-s.stopping:
			over = true
		case <-ctx.Done():
			over = true
		}
		look.Stop()
		leave()
		if over {
			return j, ctx.Err()
		}
	}
}
