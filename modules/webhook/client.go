package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// Bounds of what is read of an answer, in bytes.
const (
	maxExcerpt = 1 << 10  // kept in the log of attempts
	maxDrain   = 64 << 10 // read to use the connection again
	maxHeader  = 64 << 10
)

// client calls endpoints: no proxies, no redirects, no cookies, and no address
// that the guard refuses.
type client struct {
	http      *http.Client
	timeout   time.Duration
	transform port.WebhookTransformer // nil: nobody changes calls
	tracing   *telemetry.Tracing      // nil: no spans
}

func newClient(cfg *Config, g guard, transform port.WebhookTransformer, tracing *telemetry.Tracing) *client {
	dialer := &net.Dialer{Timeout: cfg.ConnectTimeout, Control: g.control}
	return &client{timeout: cfg.Timeout, transform: transform, tracing: tracing, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: cfg.ConnectTimeout, ForceAttemptHTTP2: true,
			MaxIdleConns: 1000, MaxIdleConnsPerHost: maxConcurrency, IdleConnTimeout: 30 * time.Second,
			MaxResponseHeaderBytes: maxHeader, DisableCompression: true,
		},
	}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// result is how a call ended.
type result struct {
	call
	to       *Subscription
	at       time.Time
	duration time.Duration
	status   int           // 0: no answer
	response string        // the begin of the answer, without secrets
	err      error         // nil: it was taken
	wait     time.Duration // what Retry-After asks for
	cut      bool          // we stopped it ourselves
	denied   bool          // it was not made: the owner may not hear of it any more
}

// call makes one call. An answer is good with a status of 2xx; with exactly 200
// to a control (spec.md 6.2).
func (c *client) call(ctx context.Context, to *Subscription, d call, now time.Time) (r result) {
	r = result{call: d, to: to, at: now}
	begin := time.Now()
	defer func() { r.duration = time.Since(begin) }()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	ctx, span := c.tracing.Begin(ctx, d.trace, "webhook", telemetry.Calls)
	defer func() { r.trace(span) }()
	res, err := c.send(ctx, to, d, now)
	if errors.Is(err, errSkipped) {
		r.response = err.Error()
		return r
	}
	if err != nil {
		r.err = plain(err, c.timeout)
		r.cut = errors.Is(ctx.Err(), context.Canceled)
		return r
	}
	defer func() { _ = res.Body.Close() }()
	r.status = res.StatusCode
	r.response = excerpt(res.Body, to)
	switch good := res.StatusCode; {
	case d.control != "" && good != http.StatusOK:
		r.err = fmt.Errorf("answered %d where 200 is asked for", good)
	case good < 200 || good > 299:
		r.err = fmt.Errorf("answered %d", good)
	}
	r.wait = retryAfter(res.Header.Get("Retry-After"), now)
	return r
}

// trace tells a span what became of the call. The path of the address may be a
// secret, and stays out.
func (r *result) trace(span telemetry.Span) {
	if !span.Recorded() {
		return
	}
	if r.kind != "" {
		span.Name("webhook " + r.kind)
	}
	span.Text("http.request.method", http.MethodPost)
	span.Text("quoin.webhook.subscription", r.to.ID)
	span.Number("http.request.resend_count", int64(r.Attempt-1))
	if u, err := url.Parse(r.to.URL); err == nil {
		span.Text("server.address", u.Hostname())
	}
	if r.status != 0 {
		span.Number("http.response.status_code", int64(r.status))
	}
	span.End(r.err)
}

// errSkipped is a call that a plugin wants nobody to make.
var errSkipped = errors.New("a plugin left this call out")

// send builds and sends the request.
func (c *client) send(ctx context.Context, to *Subscription, d call, now time.Time) (*http.Response, error) {
	body, kind, headers := d.body, d.kind, map[string]string(nil)
	if d.control == "" && c.transform != nil {
		t := &port.WebhookCall{Event: kind, Subscription: to.ID, URL: to.URL, Body: body}
		if err := c.transform.TransformWebhook(ctx, t); err != nil {
			return nil, err
		}
		if t.Skip {
			return nil, errSkipped
		}
		body, headers = t.Body, t.Headers
	}
	if d.control != "" {
		kind = d.control
		body = payload(kind, controlData(to, d.control))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	secrets := to.secrets(now)
	h := req.Header
	for name, value := range headers {
		h.Set(name, value)
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("User-Agent", "Quoin-Webhook")
	h.Set("X-Webhook-Event", kind)
	h.Set("X-Webhook-Subscription-Id", to.ID)
	h.Set("X-Webhook-Signature", signature(secrets[0], body))
	h["webhook-id"] = []string{d.id}
	h["webhook-timestamp"] = []string{strconv.FormatInt(now.Unix(), 10)}
	h["webhook-signature"] = []string{standardSignature(d.id, now.Unix(), body, secrets...)}
	telemetry.SendTrace(ctx, h)
	return c.http.Do(req)
}

// controlData is the data of a call that no event asks for (spec.md 6.2).
func controlData(to *Subscription, control string) []byte {
	var v any = map[string]string{"message": "This is a test event"}
	switch control {
	case controlValidate:
		v = struct {
			Secret string   `json:"secret"`
			Events []string `json:"events"`
		}{to.Secret, to.Events}
	case controlPing:
		v = map[string]string{"message": "ping"}
	}
	b, _ := json.Marshal(v) // strings always marshal
	return b
}

// excerpt reads the begin of an answer and a little more, so that the connection
// can be used again unless somebody sends without end.
func excerpt(body io.Reader, to *Subscription) string {
	limited := io.LimitReader(body, maxDrain)
	begin, err := io.ReadAll(io.LimitReader(limited, maxExcerpt))
	if err == nil {
		_, _ = io.Copy(io.Discard, limited) // the answer counts, not its end
	}
	return redact(strings.ReplaceAll(strings.ToValidUTF8(string(begin), "?"), "\x00", "?"), to)
}

// redact takes the secrets out of a text.
func redact(s string, to *Subscription) string {
	for _, secret := range []string{to.Secret, to.OldSecret} {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "***")
			s = strings.ReplaceAll(s, strings.TrimPrefix(secret, secretPrefix), "***")
		}
	}
	return s
}

// plain says in words why there was no answer.
func plain(err error, timeout time.Duration) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, errClosed):
		return errClosed
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("the host %s is not known", dns.Name)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %s", timeout)
	}
	return err
}

// longestWait bounds what an endpoint may ask for.
const longestWait = 24 * time.Hour

// retryAfter reads the header Retry-After (RFC 9110, 10.2.3): seconds or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	var wait time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		wait = time.Duration(min(max(seconds, 0), int64(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestWait)
}
