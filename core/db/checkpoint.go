package db

import (
	"context"
	"os"
)

// SQLite copies its write-ahead log back into the database by itself, but it
// can begin the log anew only at a moment when nobody reads from it. Where one
// read overlaps the next there is no such moment: the log grows without end,
// and every read becomes slower (https://www.sqlite.org/wal.html, "Avoiding
// Excessively Large WAL Files"). So the writer, beyond a size, holds new
// commits back for a moment and waits for the readers of old pages.
const (
	// keptLog is the size in bytes that the log file keeps when it begins anew.
	keptLog = 32 << 20
	// largeLog is the size in bytes beyond which the log is to begin anew.
	largeLog = 2 * keptLog
	// logEvery is after how many commits the size is looked at.
	logEvery = 16
)

var (
	// A read that lasts, such as a backup, must not hold up the writers.
	waitShort  = SQL("PRAGMA busy_timeout = 250")
	waitLong   = SQL("PRAGMA busy_timeout = 10000")
	restartLog = SQL("PRAGMA wal_checkpoint(RESTART)")
)

// checkpoint keeps the log of SQLite small. It belongs to the writer's
// goroutine.
type checkpoint struct {
	path    string // of the log
	commits int
	due     int64 // the size at which to try next
}

// keep begins the log anew when it has become large. When readers do not let it,
// it tries again after the log has grown some more.
func (c *checkpoint) keep(ctx context.Context, w *writer) {
	if c.commits++; c.commits%logEvery != 0 {
		return
	}
	info, err := os.Stat(c.path)
	if err != nil || info.Size() < c.due {
		return
	}
	c.due = info.Size() + keptLog
	if w.control(ctx, waitShort) != nil {
		return
	}
	var busy, frames, copied int64
	if err := w.row(ctx, restartLog, nil).Scan(&busy, &frames, &copied); err == nil && busy == 0 {
		c.due = largeLog
	}
	_ = w.control(ctx, waitLong) // it has been accepted before, so it is
}
