package webtest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Router is what is checked: a web.Router.
type Router interface {
	http.Handler
	OpenAPI() ([]byte, error)
}

// Checked gives the router with a test that fails when it answers what is not
// in its document. A benchmark gets it as it is.
func Checked(t testing.TB, router Router) http.Handler {
	if _, measures := t.(*testing.B); measures {
		return router
	}
	document := sync.OnceValues(func() (*Document, error) {
		text, err := router.OpenAPI()
		if err != nil {
			return nil, err
		}
		return Read(text)
	})
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, at := r.Method, r.URL.EscapedPath()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		router.ServeHTTP(rec, r)
		d, err := document()
		if err == nil {
			err = d.check(method, at, rec.status, w.Header(), rec.body.Bytes(), rec.lost)
		}
		select {
		case <-over: // nobody is there to fail
		default:
			if err != nil {
				t.Errorf("%s %s: the API document lies: %v\n%.1000s", method, at, err, rec.body.Bytes())
			}
		}
	})
}

// largest bounds what is kept of an answer to check it, in bytes.
const largest = 1 << 20

// recorder keeps an answer of JSON.
type recorder struct {
	http.ResponseWriter
	status int
	begun  bool
	lost   bool // more was sent than is kept
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.begun && status >= 200 {
		r.begun, r.status = true, status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.begun = true
	switch {
	case len(p) == 0:
	case !strings.Contains(r.Header().Get("Content-Type"), "json"):
		r.body.Reset()
		r.body.WriteString(" ") // something was there
	case r.body.Len()+len(p) > largest:
		r.lost = true
	default:
		r.body.Write(p)
	}
	return r.ResponseWriter.Write(p)
}

// ReadFrom implements io.ReaderFrom: files stay with the kernel.
func (r *recorder) ReadFrom(from io.Reader) (int64, error) {
	r.begun, r.lost = true, true
	return io.Copy(r.ResponseWriter, from)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
