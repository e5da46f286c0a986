package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// Webhooks is about subscriptions to events (spec 4.6). Those of other users are
// 404, unless the caller has ROLE_ADMIN. Receivers use package sdk/webhook.
type Webhooks struct{ c *Client }

// Subscription is what a subscription should be.
type Subscription struct {
	EndpointURL  string   `json:"endpointUrl"`
	Events       []string `json:"events"` // names of events, or beginnings that end in *
	ContentTypes []string `json:"contentTypes,omitempty"`
	Environments []string `json:"environments,omitempty"`
	Description  string   `json:"description,omitempty"`
	Ordered      bool     `json:"ordered,omitempty"`     // calls about one document follow each other
	Rate         int      `json:"rate,omitempty"`        // calls per second; 0: any number
	Concurrency  int      `json:"concurrency,omitempty"` // calls at the same time; 0: as configured
}

// SubscriptionState is how a subscription is and how it does. Zero times have
// not been, or are not to come.
type SubscriptionState struct {
	Subscription

	ID             string    `json:"id"`
	Owner          string    `json:"owner"`   // whose rights decide which documents it hears of
	Status         string    `json:"status"`  // active, failing, broken, paused or disabled
	Message        string    `json:"message"` // why it is disabled
	Failures       int       `json:"failures"`
	FailingSince   time.Time `json:"failingSince"`
	RetryAt        time.Time `json:"retryAt"`
	ValidatedAt    time.Time `json:"validatedAt"`
	OldSecretUntil time.Time `json:"oldSecretUntil"`
	Created        time.Time `json:"created"`
	Modified       time.Time `json:"modified"`
}

// Subscribe subscribes an endpoint and gives the id and the secret that signs
// its calls. The same endpoint with the same events is the same subscription and
// gives the same again. POST /api/webhook-subscriptions (spec 4.6).
func (w *Webhooks) Subscribe(ctx context.Context, s Subscription) (id, secret string, err error) {
	return w.secret(ctx, post("/api/webhook-subscriptions").json(s).idempotent())
}

func (w *Webhooks) secret(ctx context.Context, k *call) (id, secret string, err error) {
	var a struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	_, err = w.c.do(ctx, k, &a)
	return a.ID, a.Secret, err
}

// Unsubscribe ends a subscription; also without error when there is none. DELETE
// /api/webhook-subscriptions/{id} (spec 4.6).
func (w *Webhooks) Unsubscribe(ctx context.Context, id string) error {
	_, err := w.c.do(ctx, newCall(http.MethodDelete, "/api/webhook-subscriptions/{}", id).idempotent(), nil)
	return err
}

// List lists the caller's subscriptions; with ROLE_ADMIN everybody's. GET
// /api/webhook-subscriptions.
func (w *Webhooks) List(ctx context.Context) (all []*SubscriptionState, err error) {
	_, err = w.c.do(ctx, get("/api/webhook-subscriptions"), &all)
	return all, err
}

// Get reads a subscription. GET /api/webhook-subscriptions/{id}.
func (w *Webhooks) Get(ctx context.Context, id string) (*SubscriptionState, error) {
	return w.state(ctx, get("/api/webhook-subscriptions/{}", id))
}

func (w *Webhooks) state(ctx context.Context, k *call) (*SubscriptionState, error) {
	var s SubscriptionState
	if _, err := w.c.do(ctx, k, &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// SubscriptionChange is what should change; nil members stay as they are.
type SubscriptionChange struct {
	EndpointURL  *string   `json:"endpointUrl,omitempty"`
	Events       *[]string `json:"events,omitempty"`
	ContentTypes *[]string `json:"contentTypes,omitempty"`
	Environments *[]string `json:"environments,omitempty"`
	Description  *string   `json:"description,omitempty"`
	Ordered      *bool     `json:"ordered,omitempty"`
	Rate         *int      `json:"rate,omitempty"`
	Concurrency  *int      `json:"concurrency,omitempty"`
}

// Update changes a subscription. PATCH /api/webhook-subscriptions/{id}.
func (w *Webhooks) Update(ctx context.Context, id string, change SubscriptionChange) (*SubscriptionState, error) {
	return w.state(ctx, newCall(http.MethodPatch, "/api/webhook-subscriptions/{}", id).json(change).idempotent())
}

// Pause keeps the events of a subscription and does not call its endpoint. POST
// /api/webhook-subscriptions/{id}/pause.
func (w *Webhooks) Pause(ctx context.Context, id string) (*SubscriptionState, error) {
	return w.state(ctx, post("/api/webhook-subscriptions/{}/pause", id).idempotent())
}

// Resume calls an endpoint again that was paused, given up or disabled. POST
// /api/webhook-subscriptions/{id}/resume.
func (w *Webhooks) Resume(ctx context.Context, id string) (*SubscriptionState, error) {
	return w.state(ctx, post("/api/webhook-subscriptions/{}/resume", id).idempotent())
}

// RotateSecret makes a new secret; the old one stays valid for 24 hours. POST
// /api/webhook-subscriptions/{id}/rotate-secret.
func (w *Webhooks) RotateSecret(ctx context.Context, id string) (secret string, err error) {
	_, secret, err = w.secret(ctx, post("/api/webhook-subscriptions/{}/rotate-secret", id))
	return secret, err
}

// Test sends webhook_test, or the event that is given (webhook_ping), and
// enables the subscription. POST /api/webhook-subscriptions/{id}/test.
func (w *Webhooks) Test(ctx context.Context, id, event string) (delivery string, err error) {
	body := map[string]string{}
	if event != "" {
		body["event"] = event
	}
	var a struct {
		Delivery string `json:"delivery"`
	}
	_, err = w.c.do(ctx, post("/api/webhook-subscriptions/{}/test", id).json(body), &a)
	return a.Delivery, err
}

// Delivery is a call to an endpoint, with all its tries.
type Delivery struct {
	ID        string    `json:"id"`
	WebhookID string    `json:"webhookId"` // the header webhook-id: the same at every try
	Event     string    `json:"event"`
	Subject   string    `json:"subject"`
	Status    string    `json:"status"` // waiting, sending, blocked, delivered or failed
	Created   time.Time `json:"created"`
	Due       time.Time `json:"due"` // of the next try; zero: none
	Tries     int       `json:"tries"`
	Error     string    `json:"error"` // of the last try

	// Of Webhooks.Delivery only.
	Payload  json.RawMessage `json:"payload"` // secrets are taken out
	Attempts []Attempt       `json:"attempts"`
}

// Attempt is one try of a delivery.
type Attempt struct {
	At       time.Time `json:"at"`
	Millis   int64     `json:"duration"`
	Status   int       `json:"status"` // 0: there was no answer
	Error    string    `json:"error"`
	Response string    `json:"response"` // its beginning
}

// Deliveries gives the calls of a subscription, the newest first. status is
// waiting, delivered or failed; empty for all. GET
// /api/webhook-subscriptions/{id}/deliveries.
func (w *Webhooks) Deliveries(ctx context.Context, id, status string) iter.Seq2[*Delivery, error] {
	const size = 100
	return pages(func(before int64) (page []*Delivery, next int64, err error) {
		k := get("/api/webhook-subscriptions/{}/deliveries", id).set("status", status).number("before", before).number("limit", size)
		if _, err = w.c.do(ctx, k, &page); err != nil || len(page) < size {
			return page, 0, err
		}
		next, err = strconv.ParseInt(page[len(page)-1].ID, 10, 64)
		return page, next, err
	})
}

// Delivery reads one call with its body and tries. GET
// /api/webhook-subscriptions/{id}/deliveries/{delivery}.
func (w *Webhooks) Delivery(ctx context.Context, id, delivery string) (*Delivery, error) {
	var d Delivery
	if _, err := w.c.do(ctx, get("/api/webhook-subscriptions/{}/deliveries/{}", id, delivery), &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// Replay makes a call again, with the same webhook-id; 409 while it is under way.
// POST /api/webhook-subscriptions/{id}/deliveries/{delivery}/replay.
func (w *Webhooks) Replay(ctx context.Context, id, delivery string) error {
	_, err := w.c.do(ctx, post("/api/webhook-subscriptions/{}/deliveries/{}/replay", id, delivery).judged(), nil)
	return err
}

// ReplaySince makes the calls about all events since a time again, as far back as
// events are kept. POST /api/webhook-subscriptions/{id}/replay.
func (w *Webhooks) ReplaySince(ctx context.Context, id string, since time.Time) (calls int, err error) {
	return w.replay(ctx, id, map[string]any{"since": written(since)})
}

// ReplayAfter is ReplaySince from the event after the one with an id.
func (w *Webhooks) ReplayAfter(ctx context.Context, id string, event int64) (calls int, err error) {
	return w.replay(ctx, id, map[string]any{"after": event})
}

func (w *Webhooks) replay(ctx context.Context, id string, body any) (int, error) {
	var a struct {
		Count int `json:"count"`
	}
	_, err := w.c.do(ctx, post("/api/webhook-subscriptions/{}/replay", id).json(body).judged(), &a)
	return a.Count, err
}

// EventType is a kind of event; a part of its name in <> stands for any.
type EventType struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"`
	Sample json.RawMessage `json:"sample"`
	Schema json.RawMessage `json:"schema"` // JSON Schema of the data
}

// Events lists the events there are (spec 6.2). GET /api/webhook-events.
func (w *Webhooks) Events(ctx context.Context) (all []EventType, err error) {
	_, err = w.c.do(ctx, get("/api/webhook-events"), &all)
	return all, err
}
