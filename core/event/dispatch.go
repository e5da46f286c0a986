package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

// loadEvents answers the events of a JSON list of deliveries.
var loadEvents = db.Dual(
	`SELECT d.id, e.id, e.type, e.subject, e.data, e.at, e.actor, e.request_id, e.trace
		FROM event_delivery d JOIN event e ON e.id = d.event_id WHERE d.id IN (SELECT value FROM json_each(?))`,
	`SELECT d.id, e.id, e.type, e.subject, e.data, e.at, e.actor, e.request_id, e.trace
		FROM event_delivery d JOIN event e ON e.id = d.event_id
		WHERE d.id IN (SELECT value::bigint FROM json_array_elements_text(?::json))`)

// foreignDelay is how long a delivery that another process asked for is left to
// it.
const foreignDelay = 10 * time.Second

// item is a claimed delivery with its event.
type item struct {
	lease work.Lease
	event Event
	place int // in the batch
}

// handle is the work.Handle of the subscriber. Deliveries at their first
// attempt go to the handler together, all others alone.
func (s *subscriber) handle(ctx context.Context, batch []work.Lease) []error {
	events, err := s.bus.load(ctx, batch)
	wait := time.Second
	if ctx.Err() != nil {
		wait = 0 // the next process should not wait
	} else if err != nil {
		s.bus.o.Log.Warn("events could not be loaded", "subscriber", s.Name, "error", err)
	}
	errs := make([]error, len(batch))
	var fresh, alone []item
	for i, l := range batch {
		ev, found := events[l.ID]
		switch {
		case err != nil:
			errs[i] = work.NotNow(wait) // no fault of the event
		case !found:
			errs[i] = work.Permanent(errors.New("the event of this delivery is gone"))
		case !matchAny(s.Patterns, ev.Type):
			errs[i] = s.foreign(ctx, ev.Type)
		case l.Attempt == 1:
			fresh = append(fresh, item{l, ev, i})
		default:
			alone = append(alone, item{l, ev, i})
		}
	}
	if len(fresh) > 0 {
		err := s.run(ctx, fresh)
		if err != nil && !errors.Is(err, work.ErrFinished) && !work.IsNotNow(err) && len(fresh) > 1 {
			s.bus.o.Log.Warn("a batch of events failed and is handled one by one", "subscriber", s.Name, "events", len(fresh), "error", err)
			alone = append(fresh, alone...)
		} else {
			for _, it := range fresh {
				errs[it.place] = err
			}
		}
	}
	for _, it := range alone {
		errs[it.place] = s.runAlone(ctx, it)
	}
	return errs
}

// run calls the handler for some events and gives what work.Handle wants to
// know of each of them.
func (s *subscriber) run(ctx context.Context, items []item) error {
	events := make([]Event, len(items))
	leases := make([]work.Lease, len(items))
	for i, it := range items {
		events[i], leases[i] = it.event, it.lease
	}
	ctx, span := s.span(ctx, events)
	err := s.call(ctx, events, leases)
	if errors.Is(err, work.ErrFinished) || work.IsNotNow(err) {
		span.End(nil)
	} else {
		span.End(err)
	}
	return err
}

// span begins the span of a call of the handler, in the trace of the first of
// the events that has one that is recorded, with links to the others. Without any
// there is none.
func (s *subscriber) span(ctx context.Context, events []Event) (context.Context, telemetry.Span) {
	if s.bus.o.Tracing == nil {
		return ctx, telemetry.Span{}
	}
	var traces []string
	for _, ev := range events {
		if ev.Trace != "" {
			traces = append(traces, ev.Trace)
		}
	}
	if traces == nil {
		return ctx, telemetry.Span{}
	}
	if i := slices.IndexFunc(traces, telemetry.Sampled); i > 0 {
		traces[0], traces[i] = traces[i], traces[0]
	}
	ctx, span := s.bus.o.Tracing.Begin(ctx, traces[0], "handle "+s.Name, telemetry.Handles, traces[1:]...)
	span.Text("messaging.consumer.group.name", s.Name)
	span.Number("messaging.batch.message_count", int64(len(events)))
	return ctx, span
}

func (s *subscriber) call(ctx context.Context, events []Event, leases []work.Lease) error {
	if !s.Transactional {
		return work.Protect(func() error { return s.Handle(ctx, events) })
	}
	err := s.bus.db.InTx(ctx, func(ctx context.Context) error {
		// First the mark: it fails if the lease was lost, and holds the rows so
		// that nobody claims them before the commit.
		if err := s.bus.deliveries.Done(ctx, leases...); err != nil {
			return err
		}
		return s.Handle(ctx, events)
	})
	if err == nil {
		err = work.ErrFinished
	}
	return err
}

// runAlone handles one event and marks it at once, so that a crash at the next
// one does not bring it back.
func (s *subscriber) runAlone(ctx context.Context, it item) error {
	if ctx.Err() != nil {
		return work.NotNow(0)
	}
	err := s.run(ctx, []item{it})
	if err != nil {
		return err
	}
	if err := s.bus.deliveries.Done(context.WithoutCancel(ctx), it.lease); err != nil {
		return err
	}
	return work.ErrFinished
}

// foreign is about an event that this process did not ask for: another version
// of the program did, under the same name. It is left to that one, and dropped
// when no process asks for it any more.
func (s *subscriber) foreign(ctx context.Context, name string) error {
	var one int
	err := s.bus.db.Row(ctx, isWanted, s.Name, name, name).Scan(&one)
	if errors.Is(err, db.ErrNotFound) { // after any other error it is asked again
		s.bus.o.Log.Info("an event that its subscriber no longer wants was dropped", "subscriber", s.Name, "type", name)
		return nil
	}
	return work.NotNow(foreignDelay)
}

// load gives the events of deliveries, by the id of the delivery.
func (b *Bus) load(ctx context.Context, batch []work.Lease) (map[int64]Event, error) {
	list := []byte{'['}
	for i, l := range batch {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, l.ID, 10)
	}
	rows, err := b.db.Query(ctx, loadEvents, string(append(list, ']')))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	events := make(map[int64]Event, len(batch))
	for rows.Next() {
		var delivery int64
		ev, err := scanEvent(rows, &delivery)
		if err != nil {
			return nil, fmt.Errorf("read an event: %w", err)
		}
		events[delivery] = ev
	}
	return events, rows.Err()
}

// scanEvent reads the columns of an event that follow those given.
func scanEvent(rows db.Row, before ...any) (ev Event, err error) {
	var at int64
	var data string
	err = rows.Scan(append(before, &ev.ID, &ev.Type, &ev.Subject, &data, &at, &ev.Actor, &ev.RequestID, &ev.Trace)...)
	ev.At, ev.Data = db.Time(at), json.RawMessage(data)
	return ev, err
}
