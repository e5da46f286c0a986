package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

const (
	smallBody = 256 << 10
	tag       = "Webhook"
	base      = "/api/webhook-subscriptions"
)

// operations are the endpoints (spec.md 4.6, contract-notes 1.6) and those to
// manage subscriptions, which the contract does not have.
func operations(s *Service) []web.Operation {
	op := func(id, method, path, summary, doc string, errors ...int) web.Operation {
		return web.Operation{ID: "webhook-" + id, Method: method, Path: path, Tag: tag, MaxBody: smallBody, Summary: summary, Doc: doc, Errors: errors}
	}
	const others = " 404 for the subscription of somebody else, unless the caller has ROLE_ADMIN."
	return []web.Operation{
		web.Op(op("subscribe", http.MethodPost, base, "Subscribe an endpoint",
			"Gives the id and the secret. The same endpoint with the same events, in any order, is the same subscription: it answers the known id and secret and is "+
				"enabled again. It hears of documents that its owner, the caller, may view. `events` are names of events or prefixes that end in *; `contentTypes` and "+
				"`environments` restrict them; `ordered` makes the calls about one document follow each other; `rate` (calls per second) and `concurrency` spare the endpoint. "+
				"Some 40 seconds later it gets the call validate_webhook_subscription, which it must answer with 200.", 400, 409, 413), s.opSubscribe),
		web.Op(op("unsubscribe", http.MethodDelete, base+"/{id}", "Unsubscribe",
			"Success also when there is no such subscription (any more). A body is ignored."), s.opUnsubscribe),
		web.Op(op("list", http.MethodGet, base, "List subscriptions", "The caller's own; those of everybody with ROLE_ADMIN."), s.opList),
		web.Op(op("get", http.MethodGet, base+"/{id}", "A subscription", "How it is and how it does."+others, 404), s.opGet),
		web.Op(op("update", http.MethodPatch, base+"/{id}", "Change a subscription", "Members that are absent stay as they are."+others, 400, 404, 409, 413), s.opUpdate),
		web.Op(op("pause", http.MethodPost, base+"/{id}/pause", "Pause", "Events are kept for the endpoint, and it is not called."+others, 404), s.opPause),
		web.Op(op("resume", http.MethodPost, base+"/{id}/resume", "Resume",
			"Calls an endpoint again that was paused, left alone after failures, or disabled. What waits for it goes at once."+others, 404), s.opResume),
		web.Op(op("rotate", http.MethodPost, base+"/{id}/rotate-secret", "Make a new secret",
			"The old one stays valid for 24 hours: webhook-signature then holds one signature for each. X-Webhook-Signature has room for one only, that of the new secret."+others, 404), s.opRotate),
		web.Op(op("test", http.MethodPost, base+"/{id}/test", "Send a test", "Sends webhook_test (or webhook_ping with {\"event\":\"webhook_ping\"}) and enables the subscription."+others, 400, 404), s.opTest),
		web.Op(op("deliveries", http.MethodGet, base+"/{id}/deliveries", "List deliveries", "The newest first; `before` goes on after the last id of a list."+others, 400, 404), s.opDeliveries),
		web.Op(op("delivery", http.MethodGet, base+"/{id}/deliveries/{delivery}", "A delivery", "With its body and every try."+others, 400, 404), s.opDelivery),
		web.Op(op("replay", http.MethodPost, base+"/{id}/deliveries/{delivery}/replay", "Make a call again", "With the same webhook-id. 409 while it is under way."+others, 400, 404, 409), s.opReplay),
		web.Op(op("replay-since", http.MethodPost, base+"/{id}/replay", "Make calls again since",
			"Since a time (`since`, RFC 3339) or after an event (`after`, its id), as far back as events are kept."+others, 400, 404), s.opReplaySince),
		web.Op(op("events", http.MethodGet, "/api/webhook-events", "The events there are", "With a sample and the JSON Schema of their data. A part in <> stands for any name."), s.opEvents),
	}
}

// Confirmed is the answer of what has nothing else to say.
type Confirmed struct {
	Acknowledged bool `json:"acknowledged"`
	Success      bool `json:"success"`
}

func ok() Confirmed { return Confirmed{true, true} }

type subscribe struct {
	Body struct {
		EndpointURL  string   `json:"endpointUrl"`
		Events       []string `json:"events" nullable:"false"`
		ContentTypes []string `json:"contentTypes,omitempty"`
		Environments []string `json:"environments,omitempty"`
		Description  string   `json:"description,omitempty"`
		Ordered      bool     `json:"ordered,omitempty"`
		Rate         int      `json:"rate,omitempty"`
		Concurrency  int      `json:"concurrency,omitempty"`
		_            struct{} `additionalProperties:"false"`
	}
}

type subscribed struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

func (s *Service) opSubscribe(ctx context.Context, in *subscribe) (*web.Reply[subscribed], error) {
	b := &in.Body
	sub, err := s.Subscribe(ctx, Wish{b.EndpointURL, b.Events, b.ContentTypes, b.Environments, b.Description, b.Ordered, b.Rate, b.Concurrency})
	if err != nil {
		return nil, err
	}
	return web.Answer(subscribed{sub.ID, sub.Secret})
}

type oneSub struct {
	ID string `path:"id" maxLength:"200" doc:"id of the subscription"`
}

type removed struct {
	Confirmed
	ID string `json:"id"`
}

func (s *Service) opUnsubscribe(ctx context.Context, in *oneSub) (*web.Reply[removed], error) {
	if err := s.Unsubscribe(ctx, in.ID); err != nil {
		return nil, err
	}
	return web.Answer(removed{ok(), in.ID})
}

func (s *Service) opList(ctx context.Context, _ *web.None) (*web.Reply[[]subscriptionView], error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	views := []subscriptionView{}
	for _, sub := range all {
		views = append(views, viewSubscription(sub, s.now()))
	}
	return web.Answer(views)
}

// show answers a subscription, or the error.
func (s *Service) show(sub *Subscription, err error) (*web.Reply[subscriptionView], error) {
	if err != nil {
		return nil, err
	}
	return web.Answer(viewSubscription(sub, s.now()))
}

func (s *Service) opGet(ctx context.Context, in *oneSub) (*web.Reply[subscriptionView], error) {
	return s.show(s.Get(ctx, in.ID))
}

type update struct {
	ID   string `path:"id" maxLength:"200" doc:"id of the subscription"`
	Body struct {
		EndpointURL  *string   `json:"endpointUrl,omitempty"`
		Events       *[]string `json:"events,omitempty"`
		ContentTypes *[]string `json:"contentTypes,omitempty"`
		Environments *[]string `json:"environments,omitempty"`
		Description  *string   `json:"description,omitempty"`
		Ordered      *bool     `json:"ordered,omitempty"`
		Rate         *int      `json:"rate,omitempty"`
		Concurrency  *int      `json:"concurrency,omitempty"`
		_            struct{}  `additionalProperties:"false"`
	}
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (s *Service) opUpdate(ctx context.Context, in *update) (*web.Reply[subscriptionView], error) {
	b := &in.Body
	return s.show(s.Update(ctx, in.ID, func(w *Wish) {
		set(&w.URL, b.EndpointURL)
		set(&w.Events, b.Events)
		set(&w.ContentTypes, b.ContentTypes)
		set(&w.Environments, b.Environments)
		set(&w.Description, b.Description)
		set(&w.Ordered, b.Ordered)
		set(&w.Rate, b.Rate)
		set(&w.Concurrency, b.Concurrency)
	}))
}

func (s *Service) opPause(ctx context.Context, in *oneSub) (*web.Reply[subscriptionView], error) {
	return s.show(s.Pause(ctx, in.ID))
}

func (s *Service) opResume(ctx context.Context, in *oneSub) (*web.Reply[subscriptionView], error) {
	return s.show(s.Resume(ctx, in.ID))
}

func (s *Service) opRotate(ctx context.Context, in *oneSub) (*web.Reply[subscribed], error) {
	sub, err := s.Rotate(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return web.Answer(subscribed{sub.ID, sub.Secret})
}

type testCall struct {
	ID   string `path:"id" maxLength:"200" doc:"id of the subscription"`
	Body *struct {
		Event string   `json:"event,omitempty" doc:"webhook_test or webhook_ping"`
		_     struct{} `additionalProperties:"false"`
	}
}

type tested struct {
	Confirmed
	Delivery string `json:"delivery"`
}

func (s *Service) opTest(ctx context.Context, in *testCall) (*web.Reply[tested], error) {
	control := controlTest
	if in.Body != nil && in.Body.Event != "" {
		control = in.Body.Event
	}
	id, err := s.Test(ctx, in.ID, control)
	if err != nil {
		return nil, err
	}
	return web.Answer(tested{ok(), strconv.FormatInt(id, 10)})
}

type deliveryList struct {
	ID     string `path:"id" maxLength:"200" doc:"id of the subscription"`
	Status string `query:"status" doc:"waiting, delivered or failed"`
	Before int64  `query:"before" doc:"an id: those before it"`
	Limit  int    `query:"limit" default:"50" doc:"how many, the newest first"`
}

func (s *Service) opDeliveries(ctx context.Context, in *deliveryList) (*web.Reply[[]DeliveryView], error) {
	all, err := s.Deliveries(ctx, in.ID, in.Status, in.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	views := []DeliveryView{}
	for _, d := range all {
		views = append(views, viewDelivery(d))
	}
	return web.Answer(views)
}

type oneDel struct {
	ID       string `path:"id" maxLength:"200" doc:"id of the subscription"`
	Delivery int64  `path:"delivery" doc:"id of the delivery"`
}

func (s *Service) opDelivery(ctx context.Context, in *oneDel) (*web.Reply[wholeDelivery], error) {
	d, err := s.Delivery(ctx, in.ID, in.Delivery)
	if err != nil {
		return nil, err
	}
	return web.Answer(viewWhole(d))
}

func (s *Service) opReplay(ctx context.Context, in *oneDel) (*web.Reply[Confirmed], error) {
	if err := s.Replay(ctx, in.ID, in.Delivery); err != nil {
		return nil, err
	}
	return web.Answer(ok())
}

type since struct {
	ID   string `path:"id" maxLength:"200" doc:"id of the subscription"`
	Body struct {
		Since *time.Time `json:"since,omitempty"`
		After *int64     `json:"after,omitempty" minimum:"0"`
		_     struct{}   `additionalProperties:"false"`
	}
}

type replayed struct {
	Confirmed
	Count int `json:"count" doc:"calls that are made again"`
}

func (s *Service) opReplaySince(ctx context.Context, in *since) (*web.Reply[replayed], error) {
	if (in.Body.Since == nil) == (in.Body.After == nil) {
		return nil, problem.Field(problem.Invalid, "since", "give either since, a time, or after, the id of an event")
	}
	var from time.Time
	var after int64
	set(&from, in.Body.Since)
	set(&after, in.Body.After)
	n, err := s.ReplaySince(ctx, in.ID, from, after)
	if err != nil {
		return nil, err
	}
	return web.Answer(replayed{ok(), n})
}

type eventView struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"`
	Sample json.RawMessage `json:"sample"`
	Schema json.RawMessage `json:"schema"`
}

func (s *Service) opEvents(ctx context.Context, _ *web.None) (*web.Reply[[]eventView], error) {
	views := []eventView{}
	id := auth.From(ctx)
	for _, t := range s.catalogue.types {
		if !event.Internal(t.Name) && open(&t, id) {
			views = append(views, eventView{t.Name, t.Doc, t.Sample, t.Schema})
		}
	}
	return web.Answer(views)
}
