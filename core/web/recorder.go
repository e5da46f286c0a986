package web

import (
	"context"
	"io"
	"net/http"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// recorder notes what the log line of a request tells about its answer. It
// passes ReadFrom on, so that files are still sent by the kernel.
type recorder struct {
	http.ResponseWriter
	status int // 0 until the header is written
	size   int64
	cut    bool // the answer has begun, and its end will not come
	ctx    context.Context
	info   requestInfo
}

// requestInfo is what handlers know about a request and its log line tells;
// they reach it through the context.
type requestInfo struct {
	err    error // the cause of an error answer
	user   *auth.Identity
	remote string
	// proxied tells that a trusted proxy sent the request, and dialect how it
	// speaks.
	proxied bool
	dialect ProxyHeaders
	// operation is the id of the one that took the request.
	operation string
	span      telemetry.Span
}

type infoKey struct{}

func infoOf(ctx context.Context) *requestInfo {
	info, _ := ctx.Value(infoKey{}).(*requestInfo)
	return info
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 { // 1xx comes before the answer
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(b)
	w.size += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom.
func (w *recorder) ReadFrom(r io.Reader) (int64, error) {
	w.begin()
	n, err := io.Copy(w.ResponseWriter, r)
	w.size += n
	return n, err
}

func (w *recorder) begin() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
