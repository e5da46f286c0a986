package pluginhost

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// transformWithin is how long a plugin may take for one webhook call.
const transformWithin = 2 * time.Second

// transformer is the port.WebhookTransformer of the plugins, which work one
// after the other by name.
type transformer struct{ *Host }

// TransformWebhook implements port.WebhookTransformer. A plugin that asked for
// the event and is down counts as one that fails.
func (t transformer) TransformWebhook(ctx context.Context, c *port.WebhookCall) error {
	for _, s := range t.all() {
		plan := s.wanted()
		if plan == nil || plan.found.Manifest == nil || !slices.ContainsFunc(plan.found.Manifest.Webhooks, func(p string) bool { return event.Match(p, c.Event) }) {
			continue
		}
		err := s.transform(ctx, c)
		if err == nil {
			if c.Skip {
				return nil
			}
			continue
		}
		if t.config.WebhookFailure == "block" {
			return err
		}
		t.log.Warn("a webhook call goes out unchanged", "plugin", s.name, "event", c.Event, "error", err)
	}
	return nil
}

func (s *supervised) transform(ctx context.Context, c *port.WebhookCall) error {
	var answer *pluginv1.TransformResponse
	err := s.call(ctx, transformWithin, func(ctx context.Context, p *process) (err error) {
		answer, err = p.webhooks.Transform(ctx, &pluginv1.TransformRequest{Event: c.Event, Subscription: c.Subscription, Url: c.URL, Body: c.Body})
		return err
	})
	if err != nil {
		return err
	}
	if c.Skip = answer.Skip; c.Skip {
		return nil
	}
	// All of it is checked before anything changes: the call may go out unchanged.
	if len(answer.Body) > 0 && !json.Valid(answer.Body) {
		return problem.New(problem.Unprocessable, "the plugin %s made a body that is not JSON", s.name)
	}
	for name, value := range answer.Headers {
		if ownHeader(name) || strings.ContainsFunc(value, isControl) || len(value) > 4096 {
			return problem.New(problem.Unprocessable, "the plugin %s may not set the header %.60q so", s.name, name)
		}
	}
	if len(answer.Body) > 0 {
		c.Body = answer.Body
	}
	if c.Headers == nil && len(answer.Headers) > 0 {
		c.Headers = map[string]string{}
	}
	maps.Copy(c.Headers, answer.Headers)
	return nil
}

// isControl tells whether a character may not stand in the value of a header.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// noToken tells whether a character may not stand in the name of a header
// (RFC 9110).
func noToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// ownHeader tells whether a header is that of the server, or no header.
func ownHeader(name string) bool {
	n := http.CanonicalHeaderKey(name)
	return n == "" || strings.ContainsFunc(n, noToken) || strings.HasPrefix(n, "X-Webhook-") || strings.HasPrefix(n, "Webhook-") ||
		slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "User-Agent"}, n)
}
