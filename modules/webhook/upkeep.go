package webhook

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/work"
)

// upkeep are the things done now and then, by one of all processes.
func (s *Service) upkeep() []work.Task {
	return []work.Task{
		{Name: "webhook.validate", Every: time.Minute, Run: s.revalidate},
		{Name: "webhook.sweep", Every: 10 * time.Minute, Run: s.sweep},
		{Name: "webhook.release", Every: 10 * time.Second, Run: s.releaseAll},
	}
}

// revalidate asks for a validation call to each endpoint whose turn it is.
func (s *Service) revalidate(ctx context.Context) error {
	now := s.now()
	due, err := s.store.subscriptions(ctx, dueValidations, db.Micros(now))
	if err != nil {
		return err
	}
	for _, sub := range due {
		next := jitter(now.Add(s.cfg.ValidateEvery), s.cfg.ValidateEvery, 0.1)
		err := s.store.db.InTx(ctx, func(ctx context.Context) error {
			n, err := s.store.db.Exec(ctx, setValidateAt, db.Micros(next), sub.ID, db.Micros(sub.ValidateAt))
			if err != nil || n == 0 { // somebody else did it
				return err
			}
			_, err = s.store.addControl(ctx, sub.ID, controlValidate, controlID(), now, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(due) > 0 {
		s.wake()
	}
	return nil
}

// sweep deletes deliveries that ended long ago.
func (s *Service) sweep(ctx context.Context) error {
	n, err := s.store.sweep(ctx, s.now().Add(-s.cfg.Retention))
	if n > 0 {
		s.log.Info("old webhook deliveries were deleted", "rows", n)
	}
	return err
}

// jitter moves a time by up to a part of a span, either way.
func jitter(at time.Time, span time.Duration, part float64) time.Time {
	return at.Add(time.Duration((2*rand.Float64() - 1) * part * float64(span)))
}
