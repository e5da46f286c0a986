package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// store reads and writes subscriptions (here) and deliveries
// (store_delivery.go).
type store struct{ db *db.DB }

const subscriptionColumns = `s.id, s.url, s.events, s.content_types, s.environments, s.description, s.ordered, s.rate, s.concurrency,
	s.secret, s.old_secret, s.old_secret_until, s.owner, s.enabled, s.paused, s.message, s.failures, s.failing_since, s.open_until,
	s.validated_at, s.validate_at, s.created_at, s.modified_at`

var (
	// lockState makes changes of subscriptions wait for each other, and tells
	// every process that there was one.
	lockState   = db.SQL(`UPDATE webhook_state SET version = version + 1 WHERE id = 1`)
	readVersion = db.SQL(`SELECT version FROM webhook_state WHERE id = 1`)

	listSubscriptions  = db.SQL(`SELECT ` + subscriptionColumns + ` FROM webhook_subscription s ORDER BY s.created_at, s.id`)
	oneSubscription    = db.SQL(`SELECT ` + subscriptionColumns + ` FROM webhook_subscription s WHERE s.id = ?`)
	sameSubscription   = db.SQL(`SELECT ` + subscriptionColumns + ` FROM webhook_subscription s WHERE s.identity = ?`)
	countSubscriptions = db.SQL(`SELECT count(*) FROM webhook_subscription WHERE enabled`)
	insertSubscription = db.SQL(`INSERT INTO webhook_subscription (identity, url, events, content_types, environments, description, ordered, rate, concurrency,
		secret, old_secret, old_secret_until, owner, enabled, paused, message, failures, failing_since, open_until, validated_at, validate_at,
		created_at, modified_at, id) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`)
	updateSubscription = db.SQL(`UPDATE webhook_subscription SET identity = ?, url = ?, events = ?, content_types = ?, environments = ?, description = ?,
		ordered = ?, rate = ?, concurrency = ?, secret = ?, old_secret = ?, old_secret_until = ?, owner = ?, enabled = ?, paused = ?, message = ?,
		failures = ?, failing_since = ?, open_until = ?, validated_at = ?, validate_at = ?, created_at = ?, modified_at = ? WHERE id = ?`)
)

func scanSubscription(row db.Row) (*Subscription, error) {
	var s Subscription
	var events, types, environments string
	var old, since, open, validated, validate, created, modified int64
	err := row.Scan(&s.ID, &s.URL, &events, &types, &environments, &s.Description, &s.Ordered, &s.Rate, &s.Concurrency,
		&s.Secret, &s.OldSecret, &old, &s.Owner, &s.Enabled, &s.Paused, &s.Message, &s.Failures, &since, &open,
		&validated, &validate, &created, &modified)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(json.Unmarshal([]byte(events), &s.Events), json.Unmarshal([]byte(types), &s.ContentTypes),
		json.Unmarshal([]byte(environments), &s.Environments)); err != nil {
		return nil, fmt.Errorf("subscription %s: %w", s.ID, err)
	}
	s.OldSecretUntil, s.FailingSince, s.OpenUntil = db.Time(old), db.Time(since), db.Time(open)
	s.ValidatedAt, s.ValidateAt, s.CreatedAt, s.ModifiedAt = db.Time(validated), db.Time(validate), db.Time(created), db.Time(modified)
	return &s, nil
}

// values are the columns in the order of insert and update.
func (s *Subscription) values() []any {
	return []any{
		s.identity(), s.URL, db.List(s.Events), db.List(s.ContentTypes), db.List(s.Environments), s.Description,
		s.Ordered, s.Rate, s.Concurrency, s.Secret, s.OldSecret, db.Micros(s.OldSecretUntil), s.Owner, s.Enabled, s.Paused, s.Message,
		s.Failures, db.Micros(s.FailingSince), db.Micros(s.OpenUntil), db.Micros(s.ValidatedAt), db.Micros(s.ValidateAt),
		db.Micros(s.CreatedAt), db.Micros(s.ModifiedAt), s.ID,
	}
}

func (st *store) version(ctx context.Context) (n int64, err error) {
	err = st.db.Row(ctx, readVersion).Scan(&n)
	return n, err
}

func (st *store) list(ctx context.Context) ([]*Subscription, error) {
	return st.subscriptions(ctx, listSubscriptions)
}

// one finds a subscription, nil when there is none.
func (st *store) one(ctx context.Context, id string) (*Subscription, error) {
	return db.Found(scanSubscription(st.db.Row(ctx, oneSubscription, id)))
}

// same finds the subscription with an identity, nil when there is none.
func (st *store) same(ctx context.Context, identity string) (*Subscription, error) {
	return db.Found(scanSubscription(st.db.Row(ctx, sameSubscription, identity)))
}

// changing runs fn while no other change of subscriptions runs, nor a note of
// how the endpoint of this one fares. id is empty for a new one.
func (st *store) changing(ctx context.Context, id string, fn func(ctx context.Context) error) error {
	return st.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := st.db.Exec(ctx, lockHealth, id); err != nil { // first, as whoever notes it does
			return err
		}
		if _, err := st.db.Exec(ctx, lockState); err != nil {
			return err
		}
		return fn(ctx)
	})
}

func (st *store) count(ctx context.Context) (n int, err error) {
	err = st.db.Row(ctx, countSubscriptions).Scan(&n)
	return n, err
}

func (st *store) insert(ctx context.Context, s *Subscription) error {
	_, err := st.db.Exec(ctx, insertSubscription, s.values()...)
	return err
}

func (st *store) update(ctx context.Context, s *Subscription, now time.Time) error {
	s.ModifiedAt = now
	_, err := st.db.Exec(ctx, updateSubscription, s.values()...)
	return err
}
