package plugin

import (
	"context"
	"encoding/json"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// Delivery is a call to a webhook endpoint that is about to be made. A
// transformer changes Body, adds to Headers, or sets Skip.
type Delivery struct {
	Event        string
	Subscription string // id
	URL          string
	Body         json.RawMessage // what is signed and sent
	Headers      map[string]string
	Skip         bool // make no call; it counts as delivered
}

type transformer struct {
	pattern string
	fn      func(c *Call, d *Delivery) error
}

// TransformWebhook changes what is sent to endpoints for the events that fit
// the pattern, before it is signed. It has two seconds; when it fails the
// operator's setting says whether the call waits or goes out unchanged.
func (p *Plugin) TransformWebhook(pattern string, fn func(c *Call, d *Delivery) error) {
	p.webhooks = append(p.webhooks, transformer{pattern, fn})
}

// webhookServer serves quoin.plugin.v1.Webhooks.
type webhookServer struct {
	pluginv1.UnimplementedWebhooksServer
	p *Plugin
}

// Transform implements pluginv1.WebhooksServer.
func (s webhookServer) Transform(ctx context.Context, req *pluginv1.TransformRequest) (*pluginv1.TransformResponse, error) {
	c := s.p.call(ctx, nil)
	d := &Delivery{Event: req.Event, Subscription: req.Subscription, URL: req.Url, Body: req.Body, Headers: map[string]string{}}
	for _, t := range s.p.webhooks {
		if !match(t.pattern, req.Event) {
			continue
		}
		if err := protect(func() error { return t.fn(c, d) }); err != nil {
			return nil, failed(c, "webhook "+req.Event, err)
		}
	}
	return &pluginv1.TransformResponse{Skip: d.Skip, Body: d.Body, Headers: d.Headers}, nil
}
