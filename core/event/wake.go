package event

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/work"
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
		work.Pause(ctx, quiet)
	}
}

// hear wakes the subscribers when another process tells of deliveries. A
// connection that breaks is made again.
func (b *Bus) hear(ctx context.Context) {
	b.db.Follow(ctx, channel, func(from string) {
		if from != b.instance {
			b.Wake()
		}
	}, func(err error) { b.o.Log.Warn("no notifications of events; they are found by polling", "error", err) })
}

// Wake makes every subscriber of this process look for deliveries now.
func (b *Bus) Wake() {
	for _, s := range b.subscribers() {
		s.runner.Wake()
	}
}
