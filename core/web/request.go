package web

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// requestInfo is what the log line of a request needs to know; handlers fill
// it in through the context.
type requestInfo struct {
	err    error // the cause of an error answer
	user   *auth.Identity
	remote string
}

type infoKey struct{}

func infoOf(ctx context.Context) *requestInfo {
	info, _ := ctx.Value(infoKey{}).(*requestInfo)
	return info
}

// recorder notes the status and size of an answer. It passes ReadFrom on, so
// that files are still sent by the kernel.
type recorder struct {
	http.ResponseWriter
	status int
	size   int64
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 || w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.size += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom.
func (w *recorder) ReadFrom(r io.Reader) (int64, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := io.Copy(w.ResponseWriter, r)
	w.size += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// observe gives every request an id, catches panics and writes its log line.
func observe(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w}
		info := &requestInfo{remote: remoteIP(r)}
		id := requestID(r)
		w.Header().Set("X-Request-Id", id)
		ctx := telemetry.WithRequestID(context.WithValue(r.Context(), infoKey{}, info), id)
		r = r.WithContext(ctx)
		defer func() {
			if p := recover(); p != nil {
				answerPanic(rec, r, info, p)
			}
			line(ctx, log, r, rec, info, time.Since(start))
		}()
		next.ServeHTTP(rec, r)
	})
}

func line(ctx context.Context, log *slog.Logger, r *http.Request, rec *recorder, info *requestInfo, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case rec.status >= 500:
		level = slog.LevelError
	case info.err != nil:
		level = slog.LevelWarn
	}
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := [9]slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", rec.status),
		slog.Int64("bytes", rec.size), slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("remote", info.remote),
	}
	n := 6
	if info.user != nil {
		attrs[n] = slog.String("user", info.user.Username)
		n++
		if info.user.Actor != "" {
			attrs[n] = slog.String("actor", info.user.Actor)
			n++
		}
	}
	if info.err != nil {
		attrs[n] = slog.String("error", info.err.Error())
		n++
	}
	log.LogAttrs(ctx, level, "request", attrs[:n]...)
}

// requestID takes the caller's id when it is harmless, else makes one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
	}) {
		return strconv.FormatUint(rand.Uint64()|1<<63, 36)
	}
	return id
}

// remoteIP is the address the request came from, without its port.
func remoteIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
