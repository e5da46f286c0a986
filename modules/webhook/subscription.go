package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// The bounds of one subscription.
const (
	maxEvents      = 200
	maxFilter      = 500 // content types or environments
	maxName        = 512 // bytes of one of these
	maxDescription = 500
	maxConcurrency = 64
	maxRate        = 10_000
)

// The calls that no event asks for (spec.md 6.2).
const (
	controlValidate = "validate_webhook_subscription"
	controlTest     = "webhook_test"
	controlPing     = "webhook_ping"
)

// Subscription is an endpoint and what it wants to hear of.
type Subscription struct {
	ID  string // UUID
	URL string
	// Events are types, or prefixes ending in *, sorted.
	Events []string
	// ContentTypes and Environments restrict events that are about one of
	// them; empty means all.
	ContentTypes, Environments []string
	Description                string
	// Ordered makes the calls about one document follow each other in the order
	// of the events.
	Ordered     bool
	Rate        int // calls per second at most; 0 means any number
	Concurrency int // calls at the same time; 0 means as configured

	Secret         string
	OldSecret      string
	OldSecretUntil time.Time

	// Owner is the user whose rights decide which documents are told about.
	Owner   string
	Enabled bool   // false: it hears nothing until it is subscribed again or resumed
	Paused  bool   // events are kept for it
	Message string // why it is disabled

	Failures     int       // in a row
	FailingSince time.Time // the first of them
	OpenUntil    time.Time // it is left alone until then
	ValidatedAt  time.Time
	ValidateAt   time.Time
	CreatedAt    time.Time
	ModifiedAt   time.Time

	version int64 // of all subscriptions, when a lane read this one
}

// identity is what makes two subscriptions of the same user the same one.
func (s *Subscription) identity() string {
	b, _ := json.Marshal([]any{s.Owner, s.URL, list(s.Events), list(s.ContentTypes), list(s.Environments)}) // strings always marshal
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// status is one word for people.
func (s *Subscription) status(now time.Time) string {
	switch {
	case !s.Enabled:
		return "disabled"
	case s.Paused:
		return "paused"
	case s.OpenUntil.After(now):
		return "broken"
	case s.Failures > 0:
		return "failing"
	}
	return "active"
}

// secrets are those that are valid, the newest first.
func (s *Subscription) secrets(now time.Time) []string {
	if s.OldSecret != "" && now.Before(s.OldSecretUntil) {
		return []string{s.Secret, s.OldSecret}
	}
	return []string{s.Secret}
}

// oldAlias is how elasticms calls the event manage_alias.update.<alias>.
const (
	oldAlias = "alias.update."
	newAlias = "manage_alias.update."
)

// canonicalEvent gives the name of an event as spec.md writes it.
func canonicalEvent(name string) string {
	if rest, ok := strings.CutPrefix(name, oldAlias); ok {
		return newAlias + rest
	}
	return name
}

// wants tells whether the subscription wants an event, rights aside.
func (s *Subscription) wants(ev *event.Event) bool {
	if !slices.ContainsFunc(s.Events, func(p string) bool { return event.Match(canonicalEvent(p), ev.Type) }) {
		return false
	}
	return within(s.ContentTypes, ev.Data, "content_type") && within(s.Environments, ev.Data, "environment")
}

// within tells whether a member of the data is in the list. Events that lack the
// member are not held back by it.
func within(list []string, data []byte, member string) bool {
	if len(list) == 0 {
		return true
	}
	v, ok := text(data, member)
	return !ok || slices.Contains(list, v)
}

// text gives a member of the data that is a string.
func text(data []byte, member string) (string, bool) {
	raw, ok := rawjson.Get(data, member)
	if !ok {
		return "", false
	}
	return rawjson.String(raw)
}
