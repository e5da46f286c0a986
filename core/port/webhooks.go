package port

import "context"

// WebhookCall is a call to an endpoint that is about to be made.
type WebhookCall struct {
	Event        string // type
	Subscription string // id
	URL          string
	Body         []byte // JSON object; what is signed and sent
	Headers      map[string]string
	Skip         bool // make no call: it counts as delivered
}

// WebhookTransformer changes calls before they are signed. The webhook module
// asks for one optionally.
type WebhookTransformer interface {
	// TransformWebhook changes c in place, within two seconds. An error means
	// that the call must not be made now.
	TransformWebhook(ctx context.Context, c *WebhookCall) error
}
