package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// call is a call that is about to be made.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
	stream       io.Reader     // instead of body; the call is made once
	again        bool          // a second time it has the same effect
	verdict      bool          // success: false in the answer is an error
	wait         time.Duration // how long the server is asked to wait
	raw          bool          // the answer is a stream
	bad          error         // what is wrong with it before it is made
}

// forever is the wait of a call that only its context ends.
const forever = -1

// newCall makes a call; each {} of the path takes one name. Calls that only read
// may be made again.
func newCall(method, path string, names ...string) *call {
	k := &call{method: method, query: url.Values{}, header: http.Header{}, again: method == http.MethodGet || method == http.MethodHead}
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			k.bad = fmt.Errorf("%s: %q is not a name", path, name)
		}
		path = strings.Replace(path, "{}", url.PathEscape(name), 1)
	}
	k.path = path
	return k
}

func get(path string, names ...string) *call  { return newCall(http.MethodGet, path, names...) }
func post(path string, names ...string) *call { return newCall(http.MethodPost, path, names...) }

// idempotent marks a call that may be made twice.
func (k *call) idempotent() *call {
	k.again = true
	return k
}

// judged has success: false told as an error.
func (k *call) judged() *call {
	k.verdict = true
	return k
}

// set adds a parameter unless it is empty.
func (k *call) set(name, value string) *call {
	if value != "" {
		k.query.Set(name, value)
	}
	return k
}

// number adds a parameter unless it is 0.
func (k *call) number(name string, value int64) *call {
	if value != 0 {
		k.query.Set(name, strconv.FormatInt(value, 10))
	}
	return k
}

// json sets the body: JSON as it is (a []byte or json.RawMessage), or a value
// that becomes JSON.
func (k *call) json(v any) *call {
	k.header.Set("Content-Type", "application/json")
	switch v := v.(type) {
	case []byte:
		k.body = v
		return k
	case json.RawMessage:
		k.body = v
		return k
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		k.bad = fmt.Errorf("%s: the body cannot be written as JSON: %w", k.path, err)
	}
	k.body = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return k
}

// do makes a call and reads its answer, which must be JSON, into out; nil
// leaves it alone.
func (c *Client) do(ctx context.Context, k *call, out any) (http.Header, error) {
	var header http.Header
	err := c.tries(ctx, k, func(r *http.Response) error {
		header = r.Header
		b, err := c.read(r)
		if err != nil || k.method == http.MethodHead {
			return err
		}
		if !json.Valid(b) {
			return &broken{errors.New("the answer is not JSON: is this the right server?")}
		}
		if out != nil {
			if err := json.Unmarshal(b, out); err != nil {
				return &broken{fmt.Errorf("%s %s: the answer is not as expected: %w", k.method, k.path, err)}
			}
		}
		if k.verdict {
			return verdict(k, r, b)
		}
		return nil
	})
	return header, err
}

// open makes a call whose answer is a stream; Close ends it.
func (c *Client) open(ctx context.Context, k *call) (*http.Response, error) {
	k.raw = true
	var answer *http.Response
	err := c.tries(ctx, k, func(r *http.Response) error {
		answer = r
		return nil
	})
	return answer, err
}

func (c *Client) read(r *http.Response) ([]byte, error) {
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(r.Body, min(c.settings.limit, math.MaxInt64-1)+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > c.settings.limit {
		return nil, &broken{fmt.Errorf("the answer is larger than %d bytes", c.settings.limit)}
	}
	return b, nil
}

// broken is an answer that another try would not mend.
type broken struct{ error }

// Unwrap gives what is wrong.
func (b *broken) Unwrap() error { return b.error }

// tries makes a call until it succeeds, or no further try can help.
func (c *Client) tries(ctx context.Context, k *call, take func(*http.Response) error) error {
	if k.bad != nil {
		return k.bad
	}
	for try := 1; ; try++ {
		err := c.try(ctx, k, take)
		if err == nil || !k.again || k.stream != nil || try > c.settings.retries || !c.passing(err) {
			return err
		}
		if !pause(ctx, err, try) {
			return err
		}
	}
}

var errTimeout = errors.New("the server has not answered in time")

func (c *Client) try(ctx context.Context, k *call, take func(*http.Response) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	alarm := time.AfterFunc(c.settings.timeout+k.wait, func() { cancel(errTimeout) })
	if k.wait == forever {
		alarm.Stop()
	}
	end := func() { alarm.Stop(); cancel(nil) }
	req, err := c.request(ctx, k)
	if err != nil {
		end()
		return err
	}
	resp, err := c.settings.http.Do(req) //nolint:bodyclose // read closes it, or who gets the stream
	if err == nil {
		c.answered.Store(true)
		switch {
		case resp.StatusCode >= 300:
			err = errorOf(k, resp)
		case k.raw:
			alarm.Stop()
			resp.Body = &streamed{resp.Body, end}
			return take(resp)
		default:
			err = take(resp)
		}
	}
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		err = fmt.Errorf("%s %s: %w", k.method, k.path, errTimeout)
	}
	end()
	return err
}

// streamed is the body of a stream: its end frees what the call holds.
type streamed struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (s *streamed) Close() error {
	err := s.ReadCloser.Close()
	s.end()
	return err
}

func (c *Client) request(ctx context.Context, k *call) (*http.Request, error) {
	target := c.base + k.path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	var body io.Reader
	switch {
	case k.stream != nil:
		body = k.stream
	case k.body != nil:
		body = bytes.NewReader(k.body)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, target, body)
	if err != nil {
		return nil, err
	}
	for name, values := range k.header {
		req.Header[name] = values
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Set("User-Agent", c.settings.agent)
	if c.token != "" {
		req.Header.Set("X-Auth-Token", c.token)
	}
	return req, nil
}
