package webhook

import (
	"encoding/json"

	"github.com/quoin-cms/quoin/core/event"
)

// eventDisabled is emitted when an endpoint is given up.
const eventDisabled = "webhook.disabled"

func eventTypes() []event.Type {
	return []event.Type{{
		Name: eventDisabled, Doc: "An endpoint was disabled: it answered 410, did not pass its validation, or failed for too long.",
		Sample: json.RawMessage(`{"subscription":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11","endpoint_url":"https://example.org/hook","reason":"The endpoint answered 410: it does not want to be called any more."}`),
		Schema: event.Object("subscription string", "endpoint_url string", "reason string"),
	}}
}
