// Package telemetry is what operators watch: the structured log, the request
// id that joins the lines of one request, metrics, traces and health checks.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Config is the shape of the log.
type Config struct {
	Level  string // "debug", "info", "warn" or "error"; empty is info
	Format string // "json" for machines, "text" for people; empty is json
}

// level gives the least level that is written; an error when it is not known.
func (c Config) level() (slog.Level, error) {
	switch strings.ToLower(c.Level) {
	case "debug":
		return slog.LevelDebug, nil
	case "", "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("the log level %q is not one of debug, info, warn, error", c.Level)
}

// New makes a logger that writes one line per record to w, each in one Write.
// A record that is logged with a context that has a request id carries it as
// request_id, and the id of its trace as trace_id. In front of a Buffer a
// warning or error is written at once, with the lines before it. Instead of a
// level that is not known it takes info, and instead of such a format json: a
// server without a log is worse than one with the wrong log.
func New(w io.Writer, c Config) *slog.Logger {
	level, err := c.level()
	if err != nil {
		level = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: level}
	buffer, _ := w.(*Buffer)
	if c.Format == "text" {
		return slog.New(handler{slog.NewTextHandler(w, options), buffer})
	}
	return slog.New(handler{slog.NewJSONHandler(w, options), buffer})
}

// Discard is a logger that drops everything, for tests and tools.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// handler adds the ids of the request and the trace of the context to each record.
type handler struct {
	next   slog.Handler
	buffer *Buffer // nil when lines are written at once
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	if id := traceID(ctx); id != "" {
		r.AddAttrs(slog.String("trace_id", id))
	}
	err := h.next.Handle(ctx, r)
	if h.buffer != nil && r.Level >= slog.LevelWarn {
		err = errors.Join(err, h.buffer.Flush())
	}
	return err
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.next.WithAttrs(attrs), h.buffer}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.next.WithGroup(name), h.buffer}
}

type requestIDKey struct{}

// WithRequestID gives a context that carries the id of the request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID gives the id of the request, or "" outside of one.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
