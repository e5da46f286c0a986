package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/telemetry"
)

// ServeHTTP implements http.Handler: it gives every request an id, catches
// panics and writes its log line.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	start := time.Now()
	id := requestID(req)
	SecurityHeaders(w.Header())
	w.Header().Set("X-Request-Id", id)
	rec := &recorder{ResponseWriter: w}
	rec.info.remote, rec.info.proxied = r.remoteIP(req)
	rec.info.dialect = r.opt.ProxyHeaders
	rec.ctx = telemetry.WithRequestID(context.WithValue(req.Context(), infoKey{}, &rec.info), id)
	if r.opt.Tracing != nil {
		rec.ctx, rec.info.span = r.opt.Tracing.Serve(rec.ctx, req)
	}
	defer func() {
		cause := recover()
		if cause != nil {
			answerPanic(rec, cause)
		}
		rec.begin() // net/http answers 200 for a handler that wrote nothing
		took := time.Since(start)
		line(r.opt.Log, req, rec, took)
		endSpan(rec)
		if r.opt.Observe != nil {
			r.opt.Observe(rec.info.operation, rec.status, took)
		}
		if rec.cut || cause == http.ErrAbortHandler { //nolint:errorlint // the value of a panic, which net/http compares like this
			panic(http.ErrAbortHandler)
		}
	}()
	if !r.cors(rec, req) {
		r.route(rec, req)
	}
}

// SecurityHeaders sets what browsers are told with every answer, unless the
// operation says otherwise: believe the Content-Type, run and frame nothing,
// tell nobody the address, keep nothing without asking.
func SecurityHeaders(h http.Header) {
	all := []string{"nosniff", "default-src 'none'; frame-ancestors 'none'", "no-referrer", "private, no-cache"} // one piece of memory for all
	h["X-Content-Type-Options"] = all[0:1:1]
	h["Content-Security-Policy"] = all[1:2:2]
	h["Referrer-Policy"] = all[2:3:3]
	h["Cache-Control"] = all[3:4:4]
}

// endSpan ends the span of a request. That a client is refused is no failure of
// the server (OpenTelemetry's conventions for HTTP).
func endSpan(rec *recorder) {
	span := rec.info.span
	if !span.Recorded() {
		return
	}
	span.Number("http.response.status_code", int64(rec.status))
	var err error
	if rec.status >= 500 {
		if err = rec.info.err; err == nil {
			err = errors.New(http.StatusText(rec.status))
		}
	}
	span.End(err)
}

// answerPanic turns a panic into a 500, unless the answer has begun: then the
// client sees it cut off.
func answerPanic(rec *recorder, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // see ServeHTTP
		rec.info.err = http.ErrAbortHandler
		return
	}
	err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	if rec.status == 0 {
		writeError(rec, err)
		return
	}
	rec.info.err, rec.cut = err, true
	rec.status = http.StatusInternalServerError // for the log
}

// line writes the log line of a request: an error when the server is to blame,
// a warning when something else went wrong that somebody may want to look at.
func line(log *slog.Logger, req *http.Request, rec *recorder, took time.Duration) {
	ctx, info := rec.ctx, &rec.info
	level := slog.LevelInfo
	switch {
	case rec.status >= 500 && !gone(req, info.err):
		level = slog.LevelError
	case info.err != nil:
		level = slog.LevelWarn
	}
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs,
		slog.String("method", req.Method), slog.String("path", req.URL.Path), slog.Int("status", rec.status),
		slog.Int64("bytes", rec.size), slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("remote", info.remote))
	if info.user != nil {
		attrs = append(attrs, slog.String("user", info.user.Username))
		if info.user.Actor != "" {
			attrs = append(attrs, slog.String("actor", info.user.Actor))
		}
	}
	if info.err != nil {
		attrs = append(attrs, slog.String("error", info.err.Error()))
	}
	log.LogAttrs(ctx, level, "request", attrs...)
}

// gone reports whether the client went away before it had its answer.
func gone(req *http.Request, err error) bool {
	return errors.Is(err, context.Canceled) && req.Context().Err() != nil
}

// requestID takes the caller's id when it is harmless, else makes one.
func requestID(req *http.Request) string {
	id := req.Header.Get("X-Request-Id")
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.'
	}) {
		return strconv.FormatUint(rand.Uint64()|1<<63, 36)
	}
	return id
}
