package web

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humabunrouter"
)

// Stream is an answer that is written while the request is read.
type Stream = huma.StreamResponse

// Streaming makes a Stream: fn reads the request body and writes the answer;
// flush sends what is written so far. The status is 200 by then, so fn reports
// errors inside the stream. Give the operation MaxBody -1.
func Streaming(contentType string, fn func(ctx context.Context, r io.Reader, w io.Writer, flush func())) *Stream {
	return &Stream{Body: func(ctx huma.Context) {
		_, w := humabunrouter.Unwrap(ctx)
		rc := http.NewResponseController(w)
		_ = rc.EnableFullDuplex() // HTTP/2 always is; an old proxy may not be
		ctx.SetHeader("Content-Type", contentType)
		ctx.SetStatus(http.StatusOK)
		fn(ctx.Context(), ctx.BodyReader(), w, func() { _ = rc.Flush() })
	}}
}

// RemoteIP is the address the request of ctx came from, without its port;
// empty outside a request.
func RemoteIP(ctx context.Context) string {
	if info := infoOf(ctx); info != nil {
		return info.remote
	}
	return ""
}

// OpenAPI is the API document (OpenAPI 3.1, JSON) of all operations.
func (r *Router) OpenAPI() ([]byte, error) { return r.api.OpenAPI().MarshalJSON() }

// Routes lists "METHOD path" with the module that offers each.
func (r *Router) Routes() map[string]string {
	list := map[string]string{}
	for _, o := range r.opt.Operations {
		for _, p := range append([]string{o.Path}, o.Also...) {
			list[o.Method+" "+p] = o.Module
		}
	}
	return list
}
