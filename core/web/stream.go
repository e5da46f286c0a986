package web

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Stream is an answer that is written while the request is read.
type Stream = huma.StreamResponse

// Streaming makes a Stream: fn reads the request body and writes the answer;
// flush sends what is written so far. The status is 200 by then, so fn reports
// errors inside the stream. Give the operation MaxBody -1.
func Streaming(contentType string, fn func(ctx context.Context, r io.Reader, w io.Writer, flush func())) *Stream {
	return &Stream{Body: func(ctx huma.Context) {
		c := ctx.(*call)
		rc := http.NewResponseController(c.rec)
		_ = rc.EnableFullDuplex()           // HTTP/2 always is; an old proxy may not be
		_ = rc.SetReadDeadline(time.Time{}) // a stream lasts as long as it lasts
		c.SetHeader("Content-Type", contentType)
		c.rec.WriteHeader(http.StatusOK)
		fn(c.ctx, c.req.Body, c.rec, func() { _ = rc.Flush() })
		// What fn left of the request must not be left to the server: in full
		// duplex it would meet its own background reader there, and panic.
		_ = rc.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.Copy(io.Discard, c.req.Body)
	}}
}

// limitBodyTime keeps a client from holding a connection by sending its body
// for ever. It counts also when the body is thrown away.
func limitBodyTime(rec *recorder, req *http.Request) {
	if req.ContentLength != 0 {
		_ = http.NewResponseController(rec).SetReadDeadline(time.Now().Add(bodyTime)) // not every test server can
	}
}
