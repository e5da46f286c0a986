package plugin

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// logHandler hands lines to the host, or to standard error when there is none.
type logHandler struct {
	to    hostv1.LogClient
	attrs []slog.Attr
	group string
}

// logWithin bounds how long a line may take; the host drops what is too much.
const logWithin = 2 * time.Second

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{h.to, append(slices.Clone(h.attrs), h.named(attrs)...), h.group}
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.to, h.attrs, h.group + name + "."}
}

func (h *logHandler) named(attrs []slog.Attr) []slog.Attr {
	attrs = slices.Clone(attrs)
	for i := range attrs {
		attrs[i].Key = h.group + attrs[i].Key
	}
	return attrs
}

// Handle implements slog.Handler.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, h.named([]slog.Attr{a})...)
		return true
	})
	if h.to == nil {
		r = slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
		r.AddAttrs(attrs...)
		return slog.NewTextHandler(os.Stderr, nil).Handle(context.Background(), r) //nolint:forbidigo // the line stands alone
	}
	fields := map[string]string{}
	for _, a := range attrs {
		fields[valid(a.Key)] = valid(a.Value.Resolve().String())
	}
	// Not the context of the call: the last words of a call that ended count.
	ctx, cancel := context.WithTimeout(context.Background(), logWithin) //nolint:forbidigo // see above
	defer cancel()
	_, err := h.to.Write(ctx, &hostv1.LogRequest{Level: level(r.Level), Message: valid(r.Message), Fields: fields})
	return err
}

func level(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}
