package event

import (
	"context"
	"math/rand/v2"
	"time"
)

// channel is where processes on one PostgreSQL tell each other that there are
// deliveries. It is a hint only.
const channel = "quoin_event"

// quiet is the least time between two notifications of a process.
const quiet = 50 * time.Millisecond

// tell notifies other processes after commits, at most once per quiet.
func (b *Bus) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.dirty:
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		err := b.db.Notify(within, channel, b.instance)
		cancel()
		if err != nil {
			b.o.Log.Warn("other processes could not be told of events; they find them by polling", "error", err)
		}
		pause(ctx, quiet)
	}
}

// hear wakes the subscribers when another process tells of deliveries. A
// connection that breaks is made again.
func (b *Bus) hear(ctx context.Context) {
	for {
		err := b.db.Listen(ctx, channel, func(from string) {
			if from != b.instance {
				b.Wake()
			}
		})
		if ctx.Err() != nil {
			return
		}
		b.o.Log.Warn("no notifications of events; they are found by polling", "error", err)
		pause(ctx, 5*time.Second+rand.N(5*time.Second))
	}
}

// Wake makes every subscriber of this process look for deliveries now.
func (b *Bus) Wake() {
	for _, s := range b.subscribers() {
		s.runner.Wake()
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
