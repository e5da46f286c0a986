package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// notReady is how long the events of a plugin that is not ready are left alone.
const notReady = time.Second

// handle hands events to a plugin. Those of a plugin that is not ready wait, and
// that is no failure of theirs.
func (h *Host) handle(ctx context.Context, name string, events []event.Event) error {
	s := h.find(name)
	if s == nil {
		return work.NotNow(notReady)
	}
	if p, ready := s.current(); p == nil {
		select {
		case <-ready:
		case <-time.After(notReady): // another process may have it ready
			return work.NotNow(notReady)
		case <-ctx.Done():
			return work.NotNow(0)
		}
	}
	var answer *pluginv1.EventsResponse
	err := s.call(ctx, h.config.CallTimeout, func(ctx context.Context, p *process) (err error) {
		from, end := p.calls.begin(ctx)
		defer end()
		answer, err = p.events.Handle(ctx, &pluginv1.EventsRequest{Caller: from, Events: wire(events)})
		return err
	})
	var p *problem.Problem
	if errors.As(err, &p) && p.Code == notLetIn {
		return work.NotNow(notReady) // it was not even asked
	}
	if err != nil {
		return err
	}
	if len(answer.Verdicts) != len(events) {
		return fmt.Errorf("the plugin %s answered %d verdicts to %d events", name, len(answer.Verdicts), len(events))
	}
	return verdictOf(answer.Verdicts)
}

func wire(events []event.Event) []*pluginv1.Event {
	list := make([]*pluginv1.Event, len(events))
	for i, e := range events {
		list[i] = &pluginv1.Event{Id: e.ID, Type: e.Type, Subject: e.Subject, Data: e.Data, AtMicros: e.At.UnixMicro(), Actor: e.Actor, RequestId: e.RequestID}
	}
	return list
}

// verdictOf is the outcome of a batch: when one failed all come again, each
// alone (event.Subscription), and those that were well are handled twice.
func verdictOf(verdicts []*pluginv1.Verdict) error {
	for _, v := range verdicts {
		cause := errors.New(cut(v.Message, 2000))
		switch v.Kind {
		case pluginv1.Verdict_KIND_DONE:
		case pluginv1.Verdict_KIND_BURY:
			return work.Permanent(cause)
		default:
			if v.RetryAfterMillis > 0 {
				return work.RetryAfter(cause, time.Duration(min(v.RetryAfterMillis, 24*3600*1000))*time.Millisecond)
			}
			return cause
		}
	}
	return nil
}

// subscription makes the plugin a durable subscriber: what happens while it is
// down waits for it.
func (h *Host) subscription(name string, patterns []string) event.Subscription {
	return event.Subscription{
		Name: "plugin:" + name, Patterns: patterns, Batch: 20, Concurrency: 2,
		Handle: func(ctx context.Context, events []event.Event) error { return h.handle(ctx, name, events) },
	}
}

// subscriptions are those of the plugins that are enabled now.
func (h *Host) subscriptions(ctx context.Context) ([]event.Subscription, error) {
	found, wishes, err := h.lookUp(ctx)
	if err != nil {
		return nil, err
	}
	var list []event.Subscription
	for _, f := range found {
		if p := h.planFor(f, wishes[f.Name]); p != nil && f.Manifest != nil && len(f.Manifest.Events) > 0 {
			list = append(list, h.subscription(f.Name, f.Manifest.Events))
			h.subscribed[f.Name] = f.Manifest.Events
		}
	}
	return list, nil
}

// subscribe serves the subscription of a plugin that was enabled, or whose
// patterns changed, while the server runs.
func (h *Host) subscribe(ctx context.Context, p *plan) {
	if p == nil || p.found.Manifest == nil || slices.Equal(h.subscribed[p.found.Name], p.found.Manifest.Events) {
		return
	}
	name, patterns := p.found.Name, p.found.Manifest.Events
	if len(patterns) == 0 {
		return // what is left of former ones goes to a plugin that ignores them
	}
	select {
	case <-h.Bus.Known():
	default:
		return // the bus starts in a moment
	}
	if err := h.Bus.Serve(ctx, h.subscription(name, patterns)); err != nil {
		h.log.Warn("the plugin gets no events yet", "plugin", name, "error", err)
		return
	}
	h.subscribed[name] = patterns
}
