package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// client calls a server's API. What may pass is tried again.
type client struct {
	base, token string
	http        *http.Client
	answered    atomic.Bool // the server has answered once
}

const (
	maxAnswer = 64 << 20
	tries     = 5
)

func newClient(base, token string) *client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	return &client{base: strings.TrimRight(base, "/"), token: token, http: &http.Client{Transport: transport, Timeout: time.Minute}}
}

// check fails early, with words, when the server or the token is wrong.
func (c *client) check(ctx context.Context) error {
	status, _, err := c.do(ctx, http.MethodGet, "/api/test", nil)
	switch {
	case status == http.StatusUnauthorized:
		return fmt.Errorf("the server at %s refuses the token (make one with `quoin token create`)", c.base)
	case status == http.StatusForbidden:
		return fmt.Errorf("the token may not use the API of %s: its user needs ROLE_API, and ROLE_ADMIN for the configuration", c.base)
	case status == http.StatusNotFound:
		return fmt.Errorf("the server at %s has no /api/test: is this the right server?", c.base)
	case status == 0 && err != nil:
		return fmt.Errorf("no server at %s: %w (start one with `quoin serve`, or name it with --server)", c.base, err)
	}
	return err
}

// do gives the status (0 when there was no answer), the body, and an error for
// anything but a success.
func (c *client) do(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	for try := 1; ; try++ {
		status, answer, err = c.once(ctx, method, path, body)
		passing := status == 0 && c.answered.Load() || status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
		if err == nil || !passing || try == tries || ctx.Err() != nil {
			return status, answer, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(try*try) * 100 * time.Millisecond):
		}
	}
}

func (c *client) once(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Auth-Token", c.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	c.answered.Store(true)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, err
	}
	if resp.StatusCode >= 300 {
		return resp.StatusCode, answer, fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, reason(answer))
	}
	if rawjson.KindOf(answer) == rawjson.None {
		return resp.StatusCode, nil, errors.New("the answer is not JSON: is this the right server?")
	}
	return resp.StatusCode, answer, nil
}

// reason takes the sentence for people out of an error answer.
func reason(answer []byte) string {
	messages, _ := rawjson.Get(answer, "error")
	var all []string
	_ = rawjson.Elements(messages, func(_ int, v []byte) error {
		if s, ok := rawjson.String(v); ok {
			all = append(all, s)
		}
		return nil
	})
	if len(all) == 0 {
		return strings.TrimSpace(string(answer[:min(len(answer), 200)]))
	}
	return strings.Join(all, "; ")
}
