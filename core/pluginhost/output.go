package pluginhost

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// output takes what a plugin writes to standard error or through the log
// service: so many lines a second, the rest is counted. It keeps the last lines
// for when the plugin dies.
type output struct {
	log  *slog.Logger
	rate float64

	mu      sync.Mutex
	tokens  float64
	at      time.Time
	dropped int
	partial []byte
	last    []string
}

const (
	keepLines = 50
	maxLine   = 8 << 10 // bytes
)

func newOutput(log *slog.Logger, rate int) *output {
	return &output{log: log, rate: float64(rate), tokens: float64(rate), at: time.Now()}
}

// allow takes a token; it says how many lines were dropped before, once.
func (o *output) allow() bool {
	now := time.Now()
	o.tokens = min(o.rate, o.tokens+now.Sub(o.at).Seconds()*o.rate)
	o.at = now
	if o.tokens < 1 {
		o.dropped++
		return false
	}
	if o.dropped > 0 {
		o.log.Warn("the plugin writes too much; lines were dropped", "lines", o.dropped)
		o.dropped = 0
	}
	o.tokens--
	return true
}

// Write implements io.Writer for standard error.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(b)
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if room := maxLine - len(o.partial); len(line) > room {
			line = line[:room]
		}
		o.partial = append(o.partial, line...)
		if !whole {
			return n, nil
		}
		o.line(strings.ToValidUTF8(string(o.partial), "?"))
		o.partial = o.partial[:0]
		b = rest
	}
}

func (o *output) line(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if len(o.last) == keepLines {
		o.last = append(o.last[:0], o.last[1:]...)
	}
	o.last = append(o.last, text)
	if o.allow() {
		o.log.Info("plugin output", "line", text)
	}
}

// entry writes what comes through the log service.
func (o *output) entry(level slog.Level, message string, fields map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.allow() {
		return
	}
	group := make([]any, 0, 2*len(fields))
	for k, v := range fields {
		if len(group) == 100 {
			break
		}
		group = append(group, cut(k, 100), cut(v, maxLine))
	}
	o.log.Log(context.Background(), level, cut(message, maxLine), slog.Group("fields", group...)) //nolint:forbidigo // the line stands alone
}

// lastLines gives the last lines of standard error.
func (o *output) lastLines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.last...)
}

func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "?")
}
