package webhook

import (
	"encoding/json"
	"strconv"
	"time"
)

// view of a subscription, as the API and the command line show it.
type subscriptionView struct {
	ID           string   `json:"id"`
	EndpointURL  string   `json:"endpointUrl"`
	Events       []string `json:"events"`
	ContentTypes []string `json:"contentTypes"`
	Environments []string `json:"environments"`
	Description  string   `json:"description"`
	Ordered      bool     `json:"ordered"`
	Rate         int      `json:"rate" doc:"calls per second at most; 0: any number"`
	Concurrency  int      `json:"concurrency" doc:"calls at the same time; 0: as configured"`
	Owner        string   `json:"owner" doc:"whose rights decide which documents it hears of"`
	Status       string   `json:"status" enum:"active,failing,broken,paused,disabled"`
	Message      string   `json:"message" doc:"why it is disabled"`
	Failures     int      `json:"failures" doc:"in a row"`
	FailingSince *string  `json:"failingSince"`
	RetryAt      *string  `json:"retryAt" doc:"until then it is left alone"`
	ValidatedAt  *string  `json:"validatedAt"`
	SecretUntil  *string  `json:"oldSecretUntil" doc:"until then the old secret is valid as well"`
	Created      string   `json:"created"`
	Modified     string   `json:"modified"`
}

func viewSubscription(s *Subscription, now time.Time) subscriptionView {
	v := subscriptionView{
		ID: s.ID, EndpointURL: s.URL, Events: list(s.Events), ContentTypes: list(s.ContentTypes), Environments: list(s.Environments),
		Description: s.Description, Ordered: s.Ordered, Rate: s.Rate, Concurrency: s.Concurrency, Owner: s.Owner,
		Status: s.status(now), Message: s.Message, Failures: s.Failures, FailingSince: date(s.FailingSince),
		ValidatedAt: date(s.ValidatedAt), Created: *date(s.CreatedAt), Modified: *date(s.ModifiedAt),
	}
	if s.OpenUntil.After(now) {
		v.RetryAt = date(s.OpenUntil)
	}
	if s.OldSecretUntil.After(now) {
		v.SecretUntil = date(s.OldSecretUntil)
	}
	return v
}

func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// date writes a time as the API does; nil for none.
func date(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05+00:00")
	return &s
}

// DeliveryView is a delivery in a list.
type DeliveryView struct {
	ID        string  `json:"id"`
	WebhookID string  `json:"webhookId" doc:"the header webhook-id: the same at every try"`
	Event     string  `json:"event"`
	Subject   string  `json:"subject"`
	Status    string  `json:"status" enum:"waiting,sending,blocked,delivered,failed"`
	Created   *string `json:"created"`
	Due       *string `json:"due" doc:"of the next try"`
	Tries     int     `json:"tries"`
	Error     string  `json:"error" doc:"of the last try"`
}

func viewDelivery(d *Delivery) DeliveryView {
	return DeliveryView{
		ID: strconv.FormatInt(d.ID, 10), WebhookID: d.Webhook, Event: d.Event, Subject: d.Subject, Status: d.Status,
		Created: date(d.At), Due: date(d.Due), Tries: d.Tries, Error: d.Error,
	}
}

// wholeDelivery is a delivery with its tries.
type wholeDelivery struct {
	DeliveryView
	Payload  json.RawMessage `json:"payload" doc:"the body of the call; secrets are taken out, and raw_data of a document that the caller may not view"`
	Attempts []attemptView   `json:"attempts"`
}

type attemptView struct {
	At       string `json:"at"`
	Duration int64  `json:"duration" doc:"milliseconds"`
	Status   int    `json:"status" doc:"0: there was no answer"`
	Error    string `json:"error"`
	Response string `json:"response" doc:"the begin of the answer"`
}

func viewWhole(d *Delivery) wholeDelivery {
	v := wholeDelivery{DeliveryView: viewDelivery(d), Payload: d.Body, Attempts: []attemptView{}}
	for _, a := range d.Tried {
		v.Attempts = append(v.Attempts, attemptView{*date(a.At), a.Duration.Milliseconds(), a.Status, a.Error, a.Response})
	}
	return v
}
