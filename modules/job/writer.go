package job

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/work"
)

const (
	flushEvery = 250 * time.Millisecond // how late output may be seen
	flushAt    = 64 << 10               // bytes that are stored without waiting
)

// writer stores what a command of this process prints, some of it at a time.
// It is safe for concurrent use. It takes everything: when its text cannot be
// stored the command goes on and close tells.
type writer struct {
	s     *Service
	ctx   context.Context //nolint:containedctx // the writer lives as long as the command
	id    int64
	owner string

	mu     sync.Mutex
	text   []byte
	last   string // line that was printed
	err    error
	storer sync.Mutex // one store at a time, in order
	quit   chan struct{}
	ended  sync.WaitGroup
}

func (s *Service) newWriter(ctx context.Context, j *Job) *writer {
	w := &writer{s: s, ctx: ctx, id: j.ID, owner: j.owner, quit: make(chan struct{})}
	w.ended.Go(func() {
		tick := time.NewTicker(flushEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.flush()
			case <-w.quit:
				return
			}
		}
	})
	return w
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.text = append(w.text, p...)
	full := len(w.text) >= flushAt
	w.mu.Unlock()
	if full {
		w.flush()
	}
	return len(p), nil
}

// close stores the rest and tells the first failure.
func (w *writer) close() error {
	close(w.quit)
	w.ended.Wait()
	w.flush()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// flush stores what was printed since the last time, but for the first bytes
// of a letter whose rest has not been printed yet.
func (w *writer) flush() {
	w.storer.Lock()
	defer w.storer.Unlock()
	w.mu.Lock()
	whole := len(w.text) - unfinished(w.text)
	text := string(w.text[:whole])
	w.text = append(w.text[:0], w.text[whole:]...)
	w.mu.Unlock()
	if text == "" {
		return
	}
	w.last = lastLine(text, w.last)
	err := w.s.change(w.ctx, w.id, func(ctx context.Context, j *Job) error {
		if j.State != Running || j.owner != w.owner {
			return work.ErrLost
		}
		if err := w.s.write(ctx, j, text); err != nil {
			return err
		}
		return w.s.store.setStatus(ctx, j.ID, w.last)
	})
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
}

// unfinished counts the bytes at the end that begin a letter.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// lastLine is the last line of a text that says something, bounded.
func lastLine(text, otherwise string) string {
	for rest := []byte(text); len(rest) > 0; {
		rest = bytes.TrimRight(rest, " \t\r\n")
		line := rest[bytes.LastIndexByte(rest, '\n')+1:]
		if len(line) > maxStatus {
			line = line[:maxStatus]
		}
		if s := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(string(line), ""), "\x00", "")); s != "" {
			return s
		}
		rest = rest[:len(rest)-len(line)]
	}
	return otherwise
}
