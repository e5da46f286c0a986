package work

import (
	"context"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// Stats counts the rows of one queue.
type Stats struct {
	Queue   string `json:"queue"`
	Pending int64  `json:"pending"` // wait, due or not yet, or their lease ran out
	Leased  int64  `json:"leased"`
	Buried  int64  `json:"buried"`
	// Lag is for how long the oldest row that is due has been due.
	Lag time.Duration `json:"lag"`
}

// Stats counts the rows of every queue of the table, sorted by queue. Queues
// without rows are not there.
func (c *Claimer) Stats(ctx context.Context) ([]Stats, error) {
	now := db.Micros(c.now())
	return db.All(ctx, c.db, func(row db.Row) (s Stats, err error) {
		var oldest int64
		err = row.Scan(&s.Queue, &s.Pending, &s.Leased, &s.Buried, &oldest)
		if oldest > 0 && oldest < now {
			s.Lag = time.Duration(now-oldest) * time.Microsecond
		}
		return s, err
	}, c.stats, now, now)
}

// Revive makes buried rows of a queue due now with all their attempts ahead;
// all of the queue's when no ids are given. It tells how many there were.
func (c *Claimer) Revive(ctx context.Context, queue string, ids ...int64) (int, error) {
	now := db.Micros(c.now())
	if len(ids) == 0 {
		n, err := c.db.Exec(ctx, c.reviveAll, now, queue)
		return int(n), err
	}
	return c.count(ctx, c.revive, ids, now, queue)
}

// count runs a statement for each id, after args, and counts those it found.
func (c *Claimer) count(ctx context.Context, s *db.Statement, ids []int64, args ...any) (n int, err error) {
	list := make([][]any, len(ids))
	for i, id := range ids {
		list[i] = append(append([]any{}, args...), id)
	}
	err = c.db.InTx(ctx, func(ctx context.Context) error {
		n = 0 // a transaction may run again
		return c.db.Each(ctx, s, list, func(_ int, rows db.Rows) error {
			if rows.Next() {
				n++
			}
			return nil
		})
	})
	return n, err
}

// clean bounds a text and takes out what PostgreSQL refuses: bytes that are not
// UTF-8, and NUL.
func clean(s string) string {
	if len(s) > maxError {
		s = s[:maxError] + " …"
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}
