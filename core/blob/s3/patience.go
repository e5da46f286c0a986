package s3

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// patience is how long a server may be silent before it counts as away.
type patience struct {
	answer time.Duration // until it begins to answer what has no body
	store  time.Duration // the same for what has one, or makes it copy something
	more   time.Duration // for the next bytes, in either direction
}

var patient = patience{answer: 20 * time.Second, store: time.Minute, more: time.Minute}

var errSilent = errors.New("the server has been silent for too long")

// transport makes requests fail when the server hangs: the library waits for
// ever for the rest of an answer, and until the rest of a body was taken.
func (p patience) transport(base *http.Transport) http.RoundTripper {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return writing{conn, p.more}, nil
	}
	base.ResponseHeaderTimeout = p.store
	base.MaxIdleConnsPerHost = 64
	return &waiting{next: base, patience: p}
}

// writing bounds each Write of a connection.
type writing struct {
	net.Conn
	within time.Duration
}

// Write implements io.Writer.
func (c writing) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.within)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// waiting bounds how long one waits for an answer, and for each part of it.
type waiting struct {
	next http.RoundTripper
	patience
}

// RoundTrip implements http.RoundTripper.
func (w *waiting) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(w.answer, func() { cancel(errSilent) })
	if req.Method == http.MethodPut || req.Method == http.MethodPost {
		timer.Stop() // the body may take its time; what follows it is bounded by the transport
	}
	res, err := w.next.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		defer cancel(nil)
		return nil, silence(ctx, err)
	}
	res.Body = &answer{ReadCloser: res.Body, ctx: ctx, cancel: cancel, timer: timer, within: w.more}
	return res, nil
}

// silence names the reason why a request was given up.
func silence(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

// answer bounds each Read of a body.
type answer struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request that ends with the body
	cancel context.CancelCauseFunc
	timer  *time.Timer
	within time.Duration
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	a.timer.Reset(a.within)
	n, err := a.ReadCloser.Read(p)
	a.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = silence(a.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (a *answer) Close() error {
	err := a.ReadCloser.Close()
	a.cancel(nil)
	return err
}
