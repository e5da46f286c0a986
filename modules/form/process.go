package form

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// Filter picks submissions; empty members let everything pass.
type Filter struct {
	Name, Instance, Locale string
	Since, Until           time.Time // of their creation
	Processed              string    // "yes", "no" or ""
}

// maxPage is how many submissions a list holds at most.
const maxPage = 500

// List gives submissions after one (its Seq; 0 for the first), the oldest
// first, without their files.
func (s *Service) List(ctx context.Context, f Filter, after int64, limit int) ([]*Submission, error) {
	if err := crm(ctx); err != nil {
		return nil, err
	}
	switch {
	case limit < 1 || limit > maxPage:
		return nil, problem.Field(problem.Invalid, "limit", "must be between 1 and %d", maxPage)
	case f.Processed != "" && f.Processed != "yes" && f.Processed != "no":
		return nil, problem.Field(problem.Invalid, "processed", "must be yes or no")
	}
	return s.store.page(ctx, f, after, s.now(), limit)
}

// Claim gives a submission to the caller to be processed: the oldest of a form
// that waits, nil when there is none, or the one with the id. It belongs to the
// caller for a while (form.hold), under a new processId. Conflict when the one
// with the id was processed or belongs to somebody else.
func (s *Service) Claim(ctx context.Context, form, id string) (*Submission, error) {
	if err := crm(ctx); err != nil {
		return nil, err
	}
	who, _ := auth.Require(ctx)
	if (form == "") == (id == "") {
		return nil, problem.Field(problem.Invalid, "form_name", "is needed")
	}
	var sub *Submission
	err := s.store.db.InTx(ctx, func(ctx context.Context) (err error) {
		now := s.now()
		if id == "" {
			sub, err = db.Found(scan(s.store.db.Row(ctx, nextFree, form, db.Micros(now), db.Micros(now))))
		} else if sub, err = s.store.one(ctx, id, now); sub == nil && err == nil {
			err = unknown()
		}
		if err != nil || sub == nil {
			return err
		}
		n, err := s.store.db.Exec(ctx, hold, uuid.NewString(), who.Username, db.Micros(now.Add(s.cfg.Hold)), db.Micros(now), sub.ID, db.Micros(now))
		if err != nil {
			return err
		}
		if n == 0 {
			return problem.New(problem.Conflict, "the submission was processed, or belongs to somebody else at this moment").WithCode("submission_taken")
		}
		if sub, err = s.store.one(ctx, sub.ID, now); err != nil {
			return err
		}
		return s.note(ctx, who, sub.ID, "claim")
	})
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// Complete ends the processing that Claim began. The data and the files of the
// submission go, unless they are to be kept. Conflict when processID is not the
// one of the last claim.
func (s *Service) Complete(ctx context.Context, id, processID string, keep bool) error {
	return s.end(ctx, id, processID, func(ctx context.Context, now time.Time) (int64, error) {
		n, err := s.store.db.Exec(ctx, process, db.Micros(now), db.Micros(now), keep, id, processID)
		if err == nil && n == 1 && !keep {
			_, err = s.store.removeFiles(ctx, id, now)
		}
		return n, err
	})
}

// Failed gives a claimed submission back.
func (s *Service) Failed(ctx context.Context, id, processID string) error {
	return s.end(ctx, id, processID, func(ctx context.Context, now time.Time) (int64, error) {
		return s.store.db.Exec(ctx, letGo, db.Micros(now), id, processID)
	})
}

func (s *Service) end(ctx context.Context, id, processID string, change func(ctx context.Context, now time.Time) (int64, error)) error {
	if err := crm(ctx); err != nil {
		return err
	}
	if processID == "" {
		return problem.Field(problem.Invalid, "processId", "is needed: the one that the claim gave")
	}
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		now := s.now()
		n, err := change(ctx, now)
		if err != nil || n == 1 {
			return err
		}
		sub, err := s.store.one(ctx, id, now)
		if err != nil {
			return err
		}
		if sub == nil {
			return unknown()
		}
		return problem.New(problem.Conflict, "the submission is not claimed under this processId").WithCode("claim_lost")
	})
}

// Delete removes a submission with its files.
func (s *Service) Delete(ctx context.Context, id string) error {
	if err := crm(ctx); err != nil {
		return err
	}
	who, _ := auth.Require(ctx)
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		sub, err := s.store.one(ctx, id, s.now())
		if err != nil {
			return err
		}
		if sub == nil {
			return unknown()
		}
		if _, err := s.store.remove(ctx, id, s.now()); err != nil {
			return err
		}
		return s.note(ctx, who, id, "delete")
	})
}
