package web

import (
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Direct makes a Stream of a handler that writes its answer by itself, such as
// a file that the kernel sends. An error that fn gives before it has written
// anything becomes the answer; one that comes later cuts the answer off, so that
// nobody takes half of it for the whole.
func Direct(fn func(w http.ResponseWriter, r *http.Request) error) *Stream {
	return &Stream{Body: func(ctx huma.Context) {
		c := ctx.(*call)
		err := fn(c.rec, c.req.Request.WithContext(c.ctx))
		switch {
		case err != nil && c.rec.status == 0:
			writeError(c.rec, err)
		case err != nil:
			c.rec.info.err, c.rec.cut = err, true
		}
	}}
}

// Upload is a field of the input of an operation that reads its body itself,
// piece by piece. Give the operation MaxBody -1.
type Upload struct {
	// Length is what the client announced, in bytes; negative when it did not.
	Length int64
	body   io.Reader
	rc     *http.ResponseController
	since  time.Time
}

// Resolve implements huma.Resolver: it takes hold of the body.
func (u *Upload) Resolve(ctx huma.Context) []error {
	c := ctx.(*call)
	u.Length, u.body, u.rc, u.since = c.req.ContentLength, c.req.Body, http.NewResponseController(c.rec), time.Now()
	return nil
}

// Read implements io.Reader. A client may take as long as it likes, if only it
// does not stop sending for a minute.
func (u *Upload) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(u.since) > time.Second {
		u.since = now
		_ = u.rc.SetReadDeadline(now.Add(bodyTime)) // not every test server can
	}
	return u.body.Read(p)
}
