package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// Event is something that happened in the server.
type Event struct {
	// ID is unique, and the same when the event comes again.
	ID      int64
	Type    string // such as content.published.live
	Subject string // such as page:d9gzcokBTbVbdHDC6n5N; may be empty
	Data    json.RawMessage
	At      time.Time
	Actor   string // who made it happen; may be empty
}

type handler struct {
	pattern string
	fn      func(c *Call, e Event) error
}

// OnEvent adds a handler of events: pattern is a type, or a prefix that ends in
// *. Each event comes at least once, even when the plugin or the server dies,
// and again later after an error; RetryAfter and Permanent say when, or never.
func (p *Plugin) OnEvent(pattern string, fn func(c *Call, e Event) error) {
	p.events = append(p.events, handler{pattern, fn})
}

type verdict struct {
	cause error
	kind  pluginv1.Verdict_Kind
	after time.Duration
}

func (v *verdict) Error() string { return v.cause.Error() }
func (v *verdict) Unwrap() error { return v.cause }

// RetryAfter is an error after which the event comes again when d is over.
func RetryAfter(cause error, d time.Duration) error {
	return &verdict{cause, pluginv1.Verdict_KIND_RETRY, d}
}

// Permanent is an error that no further attempt can cure: the event is set
// aside, where an operator sees it.
func Permanent(cause error) error { return &verdict{cause: cause, kind: pluginv1.Verdict_KIND_BURY} }

// eventServer serves quoin.plugin.v1.Events.
type eventServer struct {
	pluginv1.UnimplementedEventsServer
	p *Plugin
}

// Handle implements pluginv1.EventsServer.
func (s eventServer) Handle(ctx context.Context, req *pluginv1.EventsRequest) (*pluginv1.EventsResponse, error) {
	c := s.p.call(ctx, req.Caller)
	answer := &pluginv1.EventsResponse{}
	for _, e := range req.Events {
		answer.Verdicts = append(answer.Verdicts, s.one(c, Event{
			ID: e.Id, Type: e.Type, Subject: e.Subject, Data: e.Data, At: time.UnixMicro(e.AtMicros), Actor: e.Actor,
		}))
	}
	return answer, nil
}

func (s eventServer) one(c *Call, e Event) *pluginv1.Verdict {
	for _, h := range s.p.events {
		if !match(h.pattern, e.Type) {
			continue
		}
		err := c.Err()
		if err == nil {
			err = protect(func() error { return h.fn(c, e) })
		}
		if err == nil {
			continue
		}
		if isPanic(err) {
			err = crashed(c, fmt.Sprintf("event %d", e.ID), err)
		}
		var v *verdict
		if errors.As(err, &v) {
			return &pluginv1.Verdict{Kind: v.kind, Message: v.Error(), RetryAfterMillis: v.after.Milliseconds()}
		}
		return &pluginv1.Verdict{Kind: pluginv1.Verdict_KIND_RETRY, Message: err.Error()}
	}
	return &pluginv1.Verdict{}
}

// match tells whether a pattern fits a type.
func match(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, prefix)
}
