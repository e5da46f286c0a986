// Package webhook helps those who receive calls of Quoin: it checks who sent
// them and hands over what happened. It needs the standard library only.
//
// A call carries two signatures made with the secret of the subscription.
// X-Webhook-Signature is the HMAC-SHA256 of the body in lower-case hexadecimal.
// webhook-signature, with webhook-id and webhook-timestamp, is that of the
// Standard Webhooks specification 1.0 and covers the time of the call as well,
// so an old call cannot be sent again by somebody who has seen it. Verifier
// checks both where they are there, and at least one must be.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The calls that no event causes. They must be answered with 200.
const (
	Validate = "validate_webhook_subscription"
	Test     = "webhook_test"
	Ping     = "webhook_ping"
)

// MaxBody is the largest body that is read unless Verifier says otherwise.
const MaxBody = 32 << 20

// Window is how old, or how far in the future, a call may be unless Verifier
// says otherwise.
const Window = 5 * time.Minute

// Errors of Verifier.Verify, to be told apart with errors.Is.
var (
	// ErrUnknown: no secret is known for the subscription. Answer 410, and the
	// sender ends the subscription.
	ErrUnknown = errors.New("webhook: the subscription is not known")
	// ErrSignature: the call was not made with the secret, or without any
	// signature, or too long ago. Answer 401.
	ErrSignature = errors.New("webhook: the signature does not match")
	// ErrBody: the body cannot be read or is not what a call holds. Answer 400.
	ErrBody = errors.New("webhook: the body is no event")
)

// Event is a call whose signature was right.
type Event struct {
	// ID is the same for every try of the same call: remember it to do things
	// once. It is empty when the sender gave none.
	ID string
	// Subscription is the id of the subscription.
	Subscription string
	// Type is the name of the event, such as content.published.live.
	Type string
	// Data is what the type promises; see config/reference/events.md of Quoin.
	Data json.RawMessage
	// Sent is when this try was made; zero when the sender did not say.
	Sent time.Time
}

// Control tells whether the call is one of Validate, Test and Ping: answer it
// with 200 and do nothing.
func (e *Event) Control() bool { return e.Type == Validate || e.Type == Test || e.Type == Ping }

// Verifier checks calls. It is safe for concurrent use.
type Verifier struct {
	// Secrets gives the secrets of a subscription: usually one, two while you
	// change to a new one, none when the subscription is not known. An empty
	// text is no secret: what is signed with it is refused.
	Secrets func(subscription string) []string
	// Window is how far the time of a call may be from now; 0 is Window, less
	// than 0 any distance. Calls without webhook-timestamp have no time: set
	// RequireTime to refuse them.
	Window      time.Duration
	RequireTime bool
	// MaxBody is the largest body in bytes; 0 is MaxBody.
	MaxBody int64
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Verify reads a call and checks it: ErrUnknown, ErrSignature or ErrBody.
// Comparisons take the same time wherever signatures differ.
func (v *Verifier) Verify(r *http.Request) (*Event, error) {
	limit := v.MaxBody
	if limit <= 0 {
		limit = MaxBody
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, min(limit, math.MaxInt64-1)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBody, err)
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrBody, limit)
	}
	return v.Check(r.Header, body)
}

// Check is Verify for a body that was read already.
func (v *Verifier) Check(h http.Header, body []byte) (*Event, error) {
	e := &Event{ID: h.Get("webhook-id"), Subscription: h.Get("X-Webhook-Subscription-Id")}
	secrets := v.Secrets(e.Subscription)
	if len(secrets) == 0 {
		return nil, ErrUnknown
	}
	if err := v.signed(h, body, secrets, e); err != nil {
		return nil, err
	}
	var call struct {
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &call); err != nil || call.Event == "" {
		return nil, ErrBody
	}
	e.Type, e.Data = call.Event, call.Data
	return e, nil
}

// signed checks the signatures that are there.
func (v *Verifier) signed(h http.Header, body []byte, secrets []string, e *Event) error {
	plain, standard := h.Get("X-Webhook-Signature"), h.Get("webhook-signature")
	stamp := h.Get("webhook-timestamp")
	if standard == "" && (plain == "" || v.RequireTime) {
		return fmt.Errorf("%w: there is none", ErrSignature)
	}
	if standard == "" {
		if !any(secrets, func(secret string) bool { return equal(plain, hex.EncodeToString(sum([]byte(secret), body))) }) {
			return ErrSignature
		}
		return nil
	}
	unix, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: webhook-timestamp is not a number of seconds", ErrSignature)
	}
	e.Sent = time.Unix(unix, 0)
	if err := v.recent(e.Sent); err != nil {
		return err
	}
	signed := append([]byte(e.ID+"."+stamp+"."), body...)
	for offered := range strings.FieldsSeq(standard) {
		version, value, _ := strings.Cut(offered, ",")
		if version == "v1" && any(secrets, func(secret string) bool {
			return equal(value, base64.StdEncoding.EncodeToString(sum(key(secret), signed)))
		}) {
			return nil
		}
	}
	return ErrSignature
}

func (v *Verifier) recent(sent time.Time) error {
	window, now := v.Window, time.Now
	if window == 0 {
		window = Window
	}
	if v.Now != nil {
		now = v.Now
	}
	if off := now().Sub(sent).Abs(); window > 0 && off > window {
		return fmt.Errorf("%w: the call is %s away from now", ErrSignature, off.Round(time.Second))
	}
	return nil
}

// any asks for each secret, also after one has matched. An empty one matches
// nothing: anybody could sign with it.
func any(secrets []string, match func(secret string) bool) bool {
	found := false
	for _, s := range secrets {
		found = len(key(s)) > 0 && match(s) || found
	}
	return found
}

func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

func sum(key, text []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(text)
	return m.Sum(nil)
}

// key is the key of Standard Webhooks: what follows whsec_ in base64. A secret
// of another form is its own key.
func key(secret string) []byte {
	if k, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err == nil {
		return k
	}
	return []byte(secret)
}
