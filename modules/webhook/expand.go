package webhook

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// subscriberName is what the outbox knows the module by.
const subscriberName = "webhook"

// subscription is how the module hears of everything that happens. Doing it
// twice does no harm, as there is one delivery per event and endpoint.
func subscription(s *Service) []event.Subscription {
	return []event.Subscription{{Name: subscriberName, Patterns: []string{"*"}, Batch: 200, Handle: s.expand}}
}

// wish is a call to be made.
type wish struct {
	to *Subscription
	ev *event.Event
}

// expand makes of each event one delivery for each subscription that wants it.
func (s *Service) expand(ctx context.Context, events []event.Event) error {
	subscriptions, err := s.directory.current(ctx)
	if err != nil || len(subscriptions) == 0 {
		return err
	}
	var wishes []wish
	for i := range events {
		for _, sub := range subscriptions {
			if !sub.wants(&events[i]) {
				continue
			}
			ok, err := s.directory.mayHear(ctx, sub, &events[i])
			if err != nil {
				return err
			}
			if ok {
				wishes = append(wishes, wish{sub, &events[i]})
			}
		}
	}
	if len(wishes) == 0 {
		return nil
	}
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		var last *event.Event
		now := s.now()
		for _, w := range wishes {
			if w.ev != last {
				last = w.ev
				if err := s.store.addMessage(ctx, w.ev, payload(w.ev.Type, w.ev.Data)); err != nil {
					return err
				}
			}
			if err := s.store.addDelivery(ctx, w.to, w.ev, now); err != nil {
				return err
			}
		}
		db.AfterCommit(ctx, func() { s.asked(wishes) })
		return nil
	})
}

// asked notes what was asked for.
func (s *Service) asked(wishes []wish) {
	for _, w := range wishes {
		if w.to.Ordered && w.ev.Subject != "" {
			s.order.add(queueOf{w.to.ID, w.ev.Subject})
		}
	}
	s.wake()
}

// dataOf is the data in the body of a call.
func dataOf(body []byte) []byte {
	data, _ := rawjson.Get(body, "data")
	return data
}

// payload is the body of a call (spec.md 6.1).
func payload(kind string, data []byte) []byte {
	b := make([]byte, 0, len(kind)+len(data)+32)
	b = append(b, `{"event":`...)
	b = rawjson.AppendString(b, kind)
	b = append(b, `,"data":`...)
	if len(data) == 0 {
		data = []byte("null")
	}
	b = append(b, data...)
	return append(b, '}')
}
