package webhook

import (
	"context"
	"net/netip"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/web"
)

// Sources are the migrations of the module.
func Sources() db.Source {
	return db.Source{Module: "webhook", Files: module.Sub(migrations, "migrations")}
}

// Sender is what makes the calls.
type Sender = sender

// NewSender makes a sender for tests.
func NewSender(s *Service) *Sender { return newSender(s) }

// Start starts it.
func (s *sender) Start(ctx context.Context) error { return s.start(ctx) }

// Stop stops it.
func (s *sender) Stop(ctx context.Context) error { return s.stop(ctx) }

// Subscriptions are the module's subscriptions to events.
func Subscriptions(s *Service) []event.Subscription { return subscription(s) }

// Operations are the module's endpoints.
func Operations(s *Service) []web.Operation { return operations(s) }

// Revalidate asks for validation calls that are due.
func (s *Service) Revalidate(ctx context.Context) error { return s.revalidate(ctx) }

// Sweep deletes what is old.
func (s *Service) Sweep(ctx context.Context) error { return s.sweep(ctx) }

// CheckAddress tells whether the guard lets an address pass.
func CheckAddress(allowed []netip.Prefix, addr netip.Addr) error {
	return guard{allowed: allowed}.check(addr)
}

// ParseURL is the check of an endpoint's address.
func ParseURL(s string, own ...string) error {
	_, err := guard{}.parseURL(s, own)
	return err
}

// RetryAfter reads the header.
func RetryAfter(value string, now time.Time) time.Duration { return retryAfter(value, now) }

// EventTypes are what the module emits.
func EventTypes() []event.Type { return eventTypes() }

// AllowName lets names such as localhost pass the first check, as a name does
// whose address changes later.
func (s *Service) AllowName() { s.guard.names = true }
