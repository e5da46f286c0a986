package telemetry

import (
	"io"
	"sync"
	"time"
)

const (
	// bufferTime is how long a line may wait for others.
	bufferTime = 50 * time.Millisecond
	bufferSize = 64 << 10
)

// Buffer collects log lines and writes many at once: a system call per line is
// what costs most of it. Lines wait for at most 50 ms, and no longer than the
// next warning or error. A process that is killed loses those that wait. It is
// safe for concurrent use.
type Buffer struct {
	mu    sync.Mutex
	w     io.Writer
	lines []byte
	timer *time.Timer // nil while nothing waits
}

// NewBuffer makes an empty buffer in front of w.
func NewBuffer(w io.Writer) *Buffer { return &Buffer{w: w} }

// Write implements io.Writer. An error of an earlier line is lost: there is
// nobody to tell about a log that cannot be written.
func (b *Buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line...)
	if len(b.lines) >= bufferSize {
		return len(line), b.flush()
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(bufferTime, func() { _ = b.Flush() })
	}
	return len(line), nil
}

// Flush writes what waits.
func (b *Buffer) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

func (b *Buffer) flush() error {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	if len(b.lines) == 0 {
		return nil
	}
	_, err := b.w.Write(b.lines)
	b.lines = b.lines[:0]
	return err
}
