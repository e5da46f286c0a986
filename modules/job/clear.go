package job

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// Clear removes jobs that have been over for longer than the age, with their
// output, and tells how many; 0 or less keeps all.
func (s *Service) Clear(ctx context.Context, age time.Duration) (removed int, err error) {
	if age <= 0 {
		return 0, nil
	}
	return s.clearBefore(ctx, s.now().Add(-age))
}

// clearBefore removes jobs that were over before a time.
func (s *Service) clearBefore(ctx context.Context, at time.Time) (removed int, err error) {
	before := db.Micros(at)
	for ctx.Err() == nil {
		ids, err := s.store.ids(ctx, selectOld, before)
		if err != nil || len(ids) == 0 {
			return removed, err
		}
		gone := 0
		err = s.store.db.InTx(ctx, func(ctx context.Context) error {
			gone = 0
			for _, id := range ids {
				j, err := s.store.hold(ctx, id, s.now())
				if problem.Is(err, problem.NotFound) || err == nil && (j.Finished.IsZero() || !j.Finished.Before(at)) {
					continue // removed or begun anew since
				}
				if err == nil {
					err = s.store.remove(ctx, id)
				}
				if err != nil {
					return err
				}
				gone++
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += gone
	}
	return removed, ctx.Err()
}
