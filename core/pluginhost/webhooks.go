package pluginhost

import (
	"context"
	"encoding/json"
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
	if len(answer.Body) > 0 {
		if !json.Valid(answer.Body) {
			return problem.New(problem.Unprocessable, "the plugin %s made a body that is not JSON", s.name)
		}
		c.Body = answer.Body
	}
	for name, value := range answer.Headers {
		if ownHeader(name) || strings.ContainsAny(value, "\r\n\x00") || len(value) > 4096 {
			return problem.New(problem.Unprocessable, "the plugin %s may not set the header %.60q so", s.name, name)
		}
		if c.Headers == nil {
			c.Headers = map[string]string{}
		}
		c.Headers[name] = value
	}
	return nil
}

// ownHeader tells whether a header is that of the server, or no header.
func ownHeader(name string) bool {
	n := http.CanonicalHeaderKey(name)
	return n == "" || strings.ContainsAny(n, " \r\n:") || strings.HasPrefix(n, "X-Webhook-") || strings.HasPrefix(n, "Webhook-") ||
		slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "User-Agent"}, n)
}
