package pluginhost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// ask makes a call of the server's own API with the rights of the identity of
// ctx, and gives the answer. The rules of the API are thereby those of plugins.
func (s *service) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	w := &answer{header: http.Header{}, limit: maxAnswer}
	if err := s.send(ctx, w, method, path, "application/json", bytes.NewReader(body)); err != nil {
		return nil, err
	}
	return w.body.Bytes(), nil
}

// maxAnswer bounds what is kept of an answer: it must fit into a message.
const maxAnswer = 15 << 20

// send makes a call whose answer goes to w.
func (s *service) send(ctx context.Context, w *answer, method, path, contentType string, body io.Reader) error {
	if auth.From(ctx) == nil {
		return problem.New(problem.Unauthenticated, "the plugin %s acts for nobody here: outside a request it needs a user (quoin plugin enable %s --run-as USER)", s.name, s.name)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return problem.New(problem.Invalid, "%v", err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("User-Agent", "plugin/"+s.name)
	if id := telemetry.RequestID(ctx); id != "" {
		req.Header.Set("X-Request-Id", id)
	}
	req.RemoteAddr = "127.0.0.1:0"
	s.h.API.ServeHTTP(w, req)
	if w.over {
		return problem.New(problem.TooLarge, "the answer is larger than %d bytes", w.limit)
	}
	if w.status >= 300 {
		return refused(w.status, w.body.Bytes())
	}
	return nil
}

// refused makes a problem of an answer of the API.
func refused(status int, body []byte) error {
	var told struct {
		Detail string               `json:"detail"`
		Errors []problem.FieldError `json:"errors"`
		Error  []string             `json:"error"`
	}
	_ = json.Unmarshal(body, &told) // else the status says enough
	p := &problem.Problem{Kind: problem.KindOf(status), Detail: told.Detail, Fields: told.Errors}
	if p.Detail == "" {
		p.Detail = strings.Join(told.Error, "; ")
	}
	if p.Detail == "" {
		p.Detail = fmt.Sprintf("the server answers %d", status)
	}
	return p
}

// escape makes one element of a path of what a plugin gives.
func escape(s string) (string, error) {
	if s == "" || s == "." || s == ".." || len(s) > 500 {
		return "", problem.New(problem.Invalid, "%.60q is not a name", s)
	}
	return url.PathEscape(s), nil
}

// answer takes the answer of a call of the API: into body, or piece by piece
// into to.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	limit  int
	over   bool
	to     func([]byte) error
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
}

// Write implements io.Writer.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.to != nil && a.status < 300 {
		if err := a.to(b); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	if a.body.Len()+len(b) > a.limit {
		a.over = true
		return 0, io.ErrShortWrite
	}
	return a.body.Write(b)
}

// Flush implements http.Flusher.
func (a *answer) Flush() {}
