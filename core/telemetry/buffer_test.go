package telemetry_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quoin-cms/quoin/core/telemetry"
)

// writes counts the calls of Write.
type writes struct {
	mu    sync.Mutex
	calls int
	text  string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.text += string(p)
	return len(p), nil
}

func (w *writes) read() (calls, lines int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls, strings.Count(w.text, "\n")
}

func TestLinesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writes{}
		buffer := telemetry.NewBuffer(w)
		log := telemetry.New(buffer, telemetry.Config{})
		expect := func(when string, calls, lines int) {
			t.Helper()
			synctest.Wait()
			if c, l := w.read(); c != calls || l != lines {
				t.Errorf("%s: %d lines in %d writes, want %d in %d", when, l, c, lines, calls)
			}
		}
		for range 10 {
			log.With("a", 1).Info("x")
		}
		expect("at once", 0, 0)
		<-time.After(50 * time.Millisecond)
		expect("after a moment", 1, 10)
		log.Info("x")
		log.Warn("y")
		expect("a warning takes the others along", 2, 12)
		<-time.After(time.Second)
		expect("nothing waits", 2, 12)
		for range 2000 {
			log.Info("a line that is long enough to fill the buffer with some of them")
		}
		if c, _ := w.read(); c < 3 {
			t.Error("a full buffer does not wait")
		}
		if err := buffer.Flush(); err != nil {
			t.Error(err)
		}
		calls, _ := w.read()
		expect("after a flush", calls, 2012)
	})
}

func BenchmarkBufferedLine(b *testing.B) {
	log := telemetry.New(telemetry.NewBuffer(&null{}), telemetry.Config{})
	b.ReportAllocs()
	for b.Loop() {
		log.Info("request", "method", "GET", "path", "/api/data/page/1", "status", 200)
	}
}

type null struct{}

func (*null) Write(p []byte) (int, error) { return len(p), nil }
