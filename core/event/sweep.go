package event

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
)

var (
	// pageOfEvents answers the last id and the oldest time of the events after
	// an id.
	pageOfEvents = db.SQL(`SELECT coalesce(max(id), 0), coalesce(min(at), 0)
		FROM (SELECT id, at FROM event WHERE id > ? ORDER BY id LIMIT ?) AS page`)
	sweepPage = db.SQL(`DELETE FROM event WHERE id > ? AND id <= ? AND at < ?
		AND id NOT IN (SELECT event_id FROM event_delivery WHERE event_id > ? AND event_id <= ?)`)
)

// Sweep deletes the events that are older than the retention and have no
// delivery that waits or is buried, and tells how many there were. The bus does
// it every ten minutes in one of the processes.
//
// Ids grow with time, about: it reads pages of them from the oldest on and ends
// at the first page that holds nothing old.
func (b *Bus) Sweep(ctx context.Context) (swept int64, err error) {
	before := db.Micros(b.o.Now().Add(-b.o.Retention))
	for after := int64(0); ; {
		var last, oldest int64
		if err := b.db.Row(ctx, pageOfEvents, after, dropAtOnce).Scan(&last, &oldest); err != nil {
			return swept, err
		}
		if last == 0 || oldest >= before {
			return swept, nil
		}
		n, err := b.db.Exec(ctx, sweepPage, after, last, before, after, last)
		swept += n
		if err != nil {
			return swept, err
		}
		after = last
	}
}
