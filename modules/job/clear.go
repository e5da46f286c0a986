package job

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/db"
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
		err = s.store.db.InTx(ctx, func(ctx context.Context) error {
			for _, id := range ids {
				if err := s.store.remove(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += len(ids)
	}
	return removed, ctx.Err()
}
