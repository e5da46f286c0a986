package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is an answer of the server that says no (spec 7, RFC 9457).
type Error struct {
	Method, Path string // of the call
	Status       int    // of the answer; 200 when it is success: false
	Kind         string // such as not-found; empty when the server does not say
	Code         string // finer, such as draft_exists or offset_mismatch; may be empty
	Detail       string // a sentence for people
	Messages     []string
	Fields       []FieldError  // what is wrong with which field
	RequestID    string        // the request in the server's log
	RetryAfter   time.Duration // 0: the server does not say
}

// FieldError is a finding about one field.
type FieldError struct {
	Path    string `json:"path"` // such as fr.blocks[2].title
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string {
	told := e.Detail
	if len(e.Messages) > 0 {
		told = strings.Join(e.Messages, "; ")
	}
	s := fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, told)
	if e.Status == http.StatusOK { // success: false
		s = fmt.Sprintf("%s %s: %s", e.Method, e.Path, told)
	}
	if e.RequestID != "" && e.Status >= 500 {
		s += " (request " + e.RequestID + ")"
	}
	return s
}

// Temporary tells whether the same call may succeed in a moment: the server is
// busy, throttles the caller, or something before it cannot reach it.
func (e *Error) Temporary() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Status gives the HTTP status of an error of this package, 0 for an error that
// is no answer of the server.
func Status(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// texts is a string, or an array of them: servers of this API write both.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = texts{""}
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// told is what an answer says about what is wrong.
type told struct {
	Success  *bool        `json:"success"`
	Type     string       `json:"type"`
	Detail   string       `json:"detail"`
	Message  string       `json:"message"`
	Code     string       `json:"code"`
	Instance string       `json:"instance"`
	Messages texts        `json:"error"`
	Fields   []FieldError `json:"errors"`
}

// maxError is how much of an error answer is read, in bytes.
const maxError = 1 << 20

// errorOf reads an answer that says no.
func errorOf(k *call, r *http.Response) error {
	defer func() { _ = r.Body.Close() }()
	b, _ := io.ReadAll(io.LimitReader(r.Body, maxError)) // the status says enough
	e := newError(k, r)
	var t told
	if json.Unmarshal(b, &t) != nil {
		t = told{Detail: string(bytes.ToValidUTF8(bytes.TrimSpace(b[:min(len(b), 200)]), []byte("?")))}
	}
	e.take(&t)
	if e.Detail == "" {
		e.Detail = http.StatusText(r.StatusCode)
	}
	if to := r.Header.Get("Location"); to != "" && r.StatusCode < 400 {
		e.Detail = "the server sends elsewhere, which is not followed: " + to
	}
	return e
}

func newError(k *call, r *http.Response) *Error {
	return &Error{Method: k.method, Path: k.path, Status: r.StatusCode, RequestID: r.Header.Get("X-Request-Id"), RetryAfter: retryAfter(r.Header)}
}

func (e *Error) take(t *told) {
	e.Kind, _ = strings.CutPrefix(t.Type, "urn:quoin:problem:")
	e.Code, e.Detail, e.Messages, e.Fields = t.Code, t.Detail, t.Messages, t.Fields
	if e.Detail == "" {
		e.Detail = t.Message
	}
	if e.Detail == "" {
		e.Detail = strings.Join(t.Messages, "; ")
	}
	if e.RequestID == "" {
		e.RequestID = t.Instance
	}
}

// verdict makes an error of success: false in an answer with a good status.
func verdict(k *call, r *http.Response, b []byte) error {
	var t struct {
		Success  *bool  `json:"success"`
		Code     string `json:"code"`
		Messages texts  `json:"error"`
	}
	if err := json.Unmarshal(b, &t); err != nil || t.Success == nil || *t.Success {
		return err
	}
	e := newError(k, r)
	e.take(&told{Code: t.Code, Messages: t.Messages})
	return e
}

func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if n, err := strconv.Atoi(value); err == nil && n > 0 {
		return time.Duration(min(n, 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// passing tells whether another try may succeed. A server that has never
// answered is not waited for: its address is wrong more often than not.
func (c *Client) passing(err error) bool {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Temporary()
	case errors.As(err, new(*broken)):
		return false
	}
	return c.answered.Load()
}

// longest is how long a server may ask to wait before the caller is asked
// instead.
const longest = time.Minute

// pause waits before the next try; false when there is no use in it.
func pause(ctx context.Context, err error, try int) bool {
	wait := min(100*time.Millisecond<<(try-1), 5*time.Second)
	wait += rand.N(wait)
	var e *Error
	if errors.As(err, &e) {
		wait = max(wait, e.RetryAfter)
	}
	if end, ok := ctx.Deadline(); wait > longest || ok && time.Until(end) < wait || ctx.Err() != nil {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
