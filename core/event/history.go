package event

import (
	"context"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

var history = db.SQL(`SELECT e.id, e.type, e.subject, e.data, e.at, e.actor, e.request_id, e.trace FROM event e WHERE e.id > ? ORDER BY e.id LIMIT ?`)

// History gives up to limit events with an id after the given one, by id, and
// of these only what happened at the time or later; as far back as events are
// kept (Options.Retention). last is the largest id that was looked at, to go on
// from; 0 when there was none.
func (b *Bus) History(ctx context.Context, after int64, since time.Time, limit int) (events []Event, last int64, err error) {
	rows, err := b.db.Query(ctx, history, after, limit)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		ev, err := scanEvent(rows)
		if err != nil {
			return nil, 0, err
		}
		if last = ev.ID; db.Micros(ev.At) >= db.Micros(since) {
			events = append(events, ev)
		}
	}
	return events, last, rows.Err()
}

var historyOf = db.SQL(`SELECT e.id, e.type, e.subject, e.data, e.at, e.actor, e.request_id, e.trace FROM event e
	WHERE e.id > ? AND substr(e.type, 1, ?) = ? ORDER BY e.id LIMIT ?`)

// HistoryOf gives up to limit events that fit a pattern with an id after the
// given one, by id, as far back as events are kept (Options.Retention). It reads
// every event there is.
func (b *Bus) HistoryOf(ctx context.Context, pattern string, after int64, limit int) (events []Event, err error) {
	prefix := strings.TrimSuffix(pattern, "*")
	for len(events) < limit {
		rows, err := b.db.Query(ctx, historyOf, after, len([]rune(prefix)), prefix, limit)
		if err != nil {
			return nil, err
		}
		n := 0
		for ; rows.Next(); n++ {
			ev, err := scanEvent(rows)
			if err != nil {
				rows.Close()
				return nil, err
			}
			if after = ev.ID; Match(pattern, ev.Type) {
				events = append(events, ev)
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil || n < limit {
			return events, err
		}
	}
	return events, nil
}

var oldest = db.SQL(`SELECT coalesce(min(created_at), 0) FROM event_delivery WHERE queue = ? AND buried_at IS NULL`)

// Oldest tells when the oldest event happened that a subscriber has still to
// handle, or handles at this moment; the zero time when there is none.
func (b *Bus) Oldest(ctx context.Context, subscriber string) (time.Time, error) {
	var at int64
	err := b.db.Row(ctx, oldest, subscriber).Scan(&at)
	return db.Time(at), err
}
