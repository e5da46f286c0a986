package webhook

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/quoin-cms/quoin/core/event"
)

// eventDisabled is emitted when an endpoint is given up.
const eventDisabled = "webhook.disabled"

func eventTypes() []event.Type {
	types := []event.Type{{
		Name: eventDisabled, Doc: "An endpoint was disabled: it answered 410, did not pass its validation, or failed for too long. Only its owner, and ROLE_ADMIN, hear of it: the address may be secret.",
		Sample: json.RawMessage(`{"subscription":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11","endpoint_url":"https://example.org/hook","reason":"The endpoint answered 410: it does not want to be called any more."}`),
		Schema: event.Object("subscription string", "endpoint_url string", "reason string"),
	}}
	for what, doc := range map[string]string{
		"created": "A webhook was subscribed.", "changed": "A subscription was changed.", "deleted": "A subscription was ended.",
		"paused": "A subscription was paused.", "resumed": "A subscription goes on.", "rotated": "A subscription got a new secret.",
		"tested": "A call to a subscription was asked for; one that was disabled is enabled by it.",
	} {
		types = append(types, event.Type{
			Name: "admin.webhook." + what, Doc: doc + " Of the address only the server is told: the rest may be secret.",
			Sample: json.RawMessage(`{"subscription":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11","owner":"ada","server":"example.org","events":["content.delete"],"from":"203.0.113.7"}`),
			Schema: event.Object("subscription string", "owner string", "server string", "events [string]", "from string"),
		})
	}
	return types
}

// told emits what was done with a subscription in the transaction of ctx.
func (s *Service) told(ctx context.Context, what string, sub *Subscription) error {
	data := map[string]any{"subscription": sub.ID, "owner": sub.Owner, "server": "", "events": append([]string{}, sub.Events...)}
	if u, err := url.Parse(sub.URL); err == nil {
		data["server"] = u.Host
	}
	return s.bus.EmitAdmin(ctx, "webhook."+what, "webhook:"+sub.ID, data)
}
