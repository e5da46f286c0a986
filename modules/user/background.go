package user

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	flushEvery = 15 * time.Second // how late a last use may be stored
	sweepEvery = time.Hour
	keepFor    = 7 * 24 * time.Hour // expired tokens stay in the lists for a week
)

// keeper stores when tokens were last used, removes those that expired and tells
// of refused sign-ins, in the background.
type keeper struct {
	service *Service
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

func (k *keeper) start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // ctx ends with the start
	k.cancel = cancel
	k.done.Go(func() { k.run(ctx) })
	return nil
}

// stop ends the loop and stores what is left.
func (k *keeper) stop(ctx context.Context) error {
	if k.cancel != nil {
		k.cancel()
		k.done.Wait()
	}
	return errors.Join(k.service.authn.flush(ctx), k.service.tellRefusals(ctx))
}

func (k *keeper) run(ctx context.Context) {
	flush, sweep, tell := time.NewTicker(flushEvery), time.NewTicker(sweepEvery), time.NewTicker(tellEvery)
	defer flush.Stop()
	defer sweep.Stop()
	defer tell.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-flush.C:
			err = k.service.authn.flush(ctx)
		case <-sweep.C:
			_, err = k.service.store.deleteExpired(ctx, k.service.now().Add(-keepFor))
		case <-tell.C:
			err = k.service.tellRefusals(ctx)
		}
		if err != nil && ctx.Err() == nil {
			k.service.log.WarnContext(ctx, "what happened with tokens could not be stored; trying again", "error", err)
		}
	}
}
