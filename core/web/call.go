package web

import (
	"context"
	"crypto/tls"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/queryparam"
	"github.com/uptrace/bunrouter"
)

// call is one request on its way through huma: it implements huma.Context on
// bunrouter. Parameters are unescaped exactly once, and the header of the
// answer waits for the body, so that its length is known.
type call struct {
	op     *huma.Operation
	req    bunrouter.Request
	rec    *recorder
	ctx    context.Context
	status int
}

func (c *call) Operation() *huma.Operation { return c.op }
func (c *call) Context() context.Context   { return c.ctx }
func (c *call) Method() string             { return c.req.Method }
func (c *call) Host() string               { return c.req.Host }
func (c *call) RemoteAddr() string         { return c.req.RemoteAddr }
func (c *call) URL() url.URL               { return *c.req.URL }
func (c *call) TLS() *tls.ConnectionState  { return c.req.TLS }
func (c *call) Query(name string) string   { return queryparam.Get(c.req.URL.RawQuery, name) }
func (c *call) Header(name string) string  { return c.req.Header.Get(name) }
func (c *call) BodyReader() io.Reader      { return c.req.Body }
func (c *call) Status() int                { return c.status }

// Param gives a parameter of the path. The router works on the escaped path
// when the request has one, and leaves the parameters escaped.
func (c *call) Param(name string) string {
	v := c.req.Param(name)
	if c.req.URL.RawPath == "" {
		return v
	}
	if plain, err := url.PathUnescape(v); err == nil {
		return plain
	}
	return v
}

func (c *call) EachHeader(fn func(name, value string)) {
	for name, values := range c.req.Header {
		for _, v := range values {
			fn(name, v)
		}
	}
}

func (c *call) GetMultipartForm() (*multipart.Form, error) {
	const inMemory = 1 << 20
	err := c.req.ParseMultipartForm(inMemory)
	return c.req.MultipartForm, err
}

func (c *call) SetReadDeadline(t time.Time) error { return huma.SetReadDeadline(c.rec, t) }

func (c *call) Version() huma.ProtoVersion {
	return huma.ProtoVersion{Proto: c.req.Proto, ProtoMajor: c.req.ProtoMajor, ProtoMinor: c.req.ProtoMinor}
}

func (c *call) SetStatus(code int)              { c.status = code }
func (c *call) SetHeader(name, value string)    { c.rec.Header().Set(name, value) }
func (c *call) AppendHeader(name, value string) { c.rec.Header().Add(name, value) }
func (c *call) BodyWriter() io.Writer           { return c }

// Write sends the body: huma gives it in one piece.
func (c *call) Write(body []byte) (int, error) {
	if c.rec.status == 0 {
		c.rec.Header().Set("Content-Length", strconv.Itoa(len(body)))
		c.flush()
	}
	return c.rec.Write(body)
}

// flush sends the header of an answer that has none yet.
func (c *call) flush() {
	if c.rec.status == 0 {
		c.rec.WriteHeader(max(c.status, http.StatusOK))
	}
}
