package event

import (
	"context"
	"fmt"
	"slices"
)

// Serve adds a subscriber to a bus that runs, or gives one that is there other
// patterns and another function. It returns once every event that is emitted
// from then on gets a delivery for it. Elsewhere is not for such ones.
func (b *Bus) Serve(ctx context.Context, s Subscription) error {
	if err := s.check(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started || b.stopped || s.Elsewhere { // nobody would stop it a second time
		return fmt.Errorf("event: the subscriber %q cannot be added to a bus that does not run", s.Name)
	}
	list := slices.Clone(b.subscribers())
	at := slices.IndexFunc(list, func(o *subscriber) bool { return o.Name == s.Name })
	sub := newSubscriber(b, s)
	if at < 0 {
		list = append(list, sub)
	} else {
		if err := list[at].runner.Stop(ctx); err != nil {
			return fmt.Errorf("event: the subscriber %q does not stop: %w", s.Name, err)
		}
		list[at] = sub
	}
	b.served.Store(&list)
	if err := b.announce(ctx, false); err != nil {
		return fmt.Errorf("make the subscriber %q known: %w", s.Name, err)
	}
	return sub.runner.Start(ctx)
}
