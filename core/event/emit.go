package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// A subscriber is in the table once for each pattern, and gets one delivery
// however many of them fit: GROUP BY follows the primary key, where DISTINCT
// makes a temporary table for each event.
var (
	insertEvent = db.Dual(`INSERT INTO event (type, subject, data, at, actor, request_id, trace) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`, "")

	insertDeliveries = db.Dual(`INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at)
		SELECT ?1, name, ?2, 0, ?2 FROM event_subscriber
		WHERE heartbeat_at > ?4 AND low <= ?3 AND high >= ?3
		GROUP BY name`, "")

	insertBoth = db.Dual("", `WITH happened AS (INSERT INTO event (id, type, subject, data, at, actor, request_id, trace)
			VALUES ($1::bigint, $3::text, $5, $6, $7, $8, $9, $11))
		INSERT INTO event_delivery (event_id, queue, due_at, attempt, created_at)
		SELECT $1::bigint, name, $2::bigint, 0, $2::bigint FROM event_subscriber
		WHERE heartbeat_at > $4 AND low <= $3 AND high >= $3 AND name <> ALL($10::text[])
		GROUP BY name`)

	// eventIDs is as the migration makes it.
	eventIDs = db.NewSequence("event_id", 256)
)

// emitted is what a transaction has emitted so far.
type emitted struct{ events []Event }

// Emit adds an event to the transaction of ctx, with one delivery for each
// durable subscriber whose pattern fits; it must be called inside db.InTx.
// After the commit live subscribers are told and durable ones are woken.
//
// ev.ID is given by Emit. ev.Data must be JSON in UTF-8, which is not checked
// here, and must not be changed until the transaction has ended.
//
// On PostgreSQL the statement travels with the next one or with the commit, and
// so does its error.
func (b *Bus) Emit(ctx context.Context, ev Event) (err error) {
	if !db.InTransaction(ctx) {
		return errors.New("event: Emit outside a transaction")
	}
	if err := checkName(ev.Type); err != nil {
		return fmt.Errorf("emit %q: %w", ev.Type, err)
	}
	if len(ev.Data) == 0 {
		ev.Data = json.RawMessage("null")
	}
	ctx, span := telemetry.Step(ctx, "emit", telemetry.Emits)
	defer func() { span.End(err) }()
	if span.Recorded() {
		span.Name("emit " + ev.Type)
		span.Text("messaging.destination.name", ev.Type)
	}
	if ev.Trace == "" {
		ev.Trace = telemetry.TraceParent(ctx)
	}
	now := b.o.Now()
	if ev.At.IsZero() {
		ev.At = now
	}
	ev.At = db.Time(db.Micros(ev.At))
	if b.db.Dialect() == db.Postgres {
		err = b.insertPostgres(ctx, &ev, db.Micros(now), db.Micros(now.Add(-silence)))
	} else {
		err = b.insertLite(ctx, &ev, db.Micros(now), db.Micros(now.Add(-silence)))
	}
	if err != nil {
		return fmt.Errorf("emit %s: %w", ev.Type, err)
	}
	e := db.Local(ctx, b, func() *emitted {
		e := &emitted{}
		db.AfterCommit(ctx, func() { b.committed(e.events) })
		return e
	})
	e.events = append(e.events, ev)
	return nil
}

func (b *Bus) insertLite(ctx context.Context, ev *Event, now, silent int64) error {
	err := b.db.Row(ctx, insertEvent, ev.Type, ev.Subject, db.Text(ev.Data), db.Micros(ev.At), ev.Actor, ev.RequestID, ev.Trace).Scan(&ev.ID)
	if err != nil {
		return err
	}
	return b.db.Queue(ctx, insertDeliveries, ev.ID, now, ev.Type, silent)
}

// insertPostgres sends one statement that waits for no answer.
func (b *Bus) insertPostgres(ctx context.Context, ev *Event, now, silent int64) (err error) {
	if ev.ID, err = b.db.NextID(ctx, eventIDs); err != nil {
		return err
	}
	return b.db.Queue(ctx, insertBoth, ev.ID, now, ev.Type, silent, ev.Subject, db.Text(ev.Data), db.Micros(ev.At), ev.Actor, ev.RequestID, b.elsewhere, ev.Trace)
}

// committed runs after the commit, on SQLite on the writer's goroutine.
func (b *Bus) committed(events []Event) {
	for _, l := range b.live {
		b.deliverLive(l, events)
	}
	for _, s := range b.subscribers() {
		if s.wantsAny(events) {
			s.runner.Wake()
		}
	}
	select {
	case b.dirty <- struct{}{}:
	default:
	}
}
