package file

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/work"
)

// sweepEvery is how often uploads that nobody goes on with are looked for.
const sweepEvery = 10 * time.Minute

// keeper stores the counters of files and sweeps uploads, in the background.
type keeper struct {
	service *Service
	tasks   *work.Periodic
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

func (k *keeper) run(ctx context.Context) (err error) {
	s := k.service
	k.tasks, err = work.NewPeriodic(s.store.db, work.PeriodicOptions{Now: s.now, Log: s.log}, work.Task{Name: "file.sweep", Every: sweepEvery, Run: s.Sweep})
	if err != nil {
		return err
	}
	if err := k.tasks.Start(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // ctx ends with the start
	k.cancel = cancel
	k.done.Go(func() { k.flush(ctx) })
	return nil
}

// stop ends the background work and stores what is left.
func (k *keeper) stop(ctx context.Context) error {
	var err error
	if k.cancel != nil {
		k.cancel()
		k.done.Wait()
		err = k.tasks.Stop(ctx)
	}
	return errors.Join(err, k.service.seen.flush(ctx))
}

func (k *keeper) flush(ctx context.Context) {
	work.Every(ctx, flushEvery, func() {
		if err := k.service.seen.flush(ctx); err != nil && ctx.Err() == nil {
			k.service.log.WarnContext(ctx, "the counters of files could not be stored; trying again", "error", err)
		}
	})
}

// Sweep removes uploads that nobody goes on with, and what uploads without a
// row have left in the storage.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.now()
	before := now.Add(-s.cfg.UploadTTL)
	idle, err := s.store.idle(ctx, before, now)
	if err != nil {
		return err
	}
	for _, u := range idle {
		if s.store.claims.held(u.ID, now) {
			continue
		}
		if err := s.discard(ctx, u); err != nil {
			return err
		}
	}
	return s.blobs.Stages(ctx, func(i blob.Info) error {
		if !i.Modified.Before(before) {
			return nil
		}
		u, err := s.store.upload(ctx, i.Key)
		if err != nil || u != nil {
			return err
		}
		return s.blobs.Discard(ctx, i.Key)
	})
}
