package webhook

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/work"
)

// A delivery has ended when its due_at is ended; it waits for an earlier one
// about the same document when it is blocked. The texts of statements and
// indexes hold the numbers.
const (
	ended   int64 = 9223372036854775807
	blocked int64 = 9223372036854775806
)

var (
	insertMessage  = db.SQL(`INSERT INTO webhook_message (id, type, subject, body, at, trace) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`)
	insertDelivery = db.SQL(`INSERT INTO webhook_delivery (queue, due_at, created_at, message_id, subject, at, webhook_id)
		VALUES (?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING`)
	insertControl = db.SQL(`INSERT INTO webhook_delivery (queue, due_at, created_at, control, at, webhook_id) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`)

	// dueLanes finds the subscriptions with calls to make now.
	dueLanes = db.SQL(`SELECT ` + subscriptionColumns + ` FROM webhook_subscription s WHERE s.enabled AND NOT s.paused AND s.open_until <= ?
		AND EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.queue = s.id AND d.due_at <= ? AND d.buried_at IS NULL)`)
	loadDeliveries = db.Dual(
		`SELECT d.id, d.control, d.subject, d.webhook_id, coalesce(d.message_id, 0), coalesce(m.type, ''), coalesce(m.body, ''), coalesce(m.trace, '')
			FROM webhook_delivery d LEFT JOIN webhook_message m ON m.id = d.message_id WHERE d.id IN (SELECT value FROM json_each(?))`,
		`SELECT d.id, d.control, d.subject, d.webhook_id, coalesce(d.message_id, 0), coalesce(m.type, ''), coalesce(m.body, ''), coalesce(m.trace, '')
			FROM webhook_delivery d LEFT JOIN webhook_message m ON m.id = d.message_id
			WHERE d.id IN (SELECT value::bigint FROM json_array_elements_text(?::json))`)
	insertAttempt = db.SQL(`INSERT INTO webhook_attempt (delivery_id, at, duration, status, error, response) VALUES (?, ?, ?, ?, ?, ?)`)
	lockHealth    = db.SQL(`UPDATE webhook_subscription SET failures = failures WHERE id = ?`)
	setHealth     = db.SQL(`UPDATE webhook_subscription SET failures = ?, failing_since = ?, open_until = ?, enabled = ?, message = ?, validated_at = ? WHERE id = ?`)

	dropWaiting = db.SQL(`DELETE FROM webhook_delivery WHERE queue = ? AND due_at < 9223372036854775807 AND buried_at IS NULL`)
	hurry       = db.SQL(`UPDATE webhook_delivery SET due_at = ? WHERE queue = ? AND due_at > ? AND due_at < 9223372036854775806 AND buried_at IS NULL AND owner IS NULL`)
	revive      = db.SQL(`UPDATE webhook_delivery SET due_at = ?, buried_at = NULL, attempt = 0, last_error = NULL, owner = NULL
		WHERE id = ? AND queue = ? AND (due_at = 9223372036854775807 OR buried_at IS NOT NULL) RETURNING id`)
	reviveMessage = db.SQL(`UPDATE webhook_delivery SET due_at = ?, buried_at = NULL, attempt = 0, last_error = NULL, owner = NULL
		WHERE message_id = ? AND queue = ? AND (due_at = 9223372036854775807 OR buried_at IS NOT NULL)`)

	dueValidations = db.SQL(`SELECT ` + subscriptionColumns + ` FROM webhook_subscription s WHERE s.enabled AND s.validate_at <= ?`)
	setValidateAt  = db.SQL(`UPDATE webhook_subscription SET validate_at = ? WHERE id = ? AND validate_at = ?`)
	// pageOfDeliveries answers the last id and the oldest time of those after an
	// id: ids grow with time, about.
	pageOfDeliveries = db.SQL(`SELECT coalesce(max(id), 0), coalesce(min(created_at), 0)
		FROM (SELECT id, created_at FROM webhook_delivery WHERE id > ? ORDER BY id LIMIT 5000) AS page`)
	// What waits for an endpoint that nobody wants any more goes as well.
	sweepDeliveries = db.SQL(`DELETE FROM webhook_delivery WHERE id > ? AND id <= ? AND created_at < ? AND (due_at = 9223372036854775807
		OR buried_at IS NOT NULL OR queue NOT IN (SELECT id FROM webhook_subscription WHERE enabled))`)
	sweepAttempts = db.SQL(`DELETE FROM webhook_attempt WHERE id IN (SELECT a.id FROM webhook_attempt a
		WHERE a.at < ? AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.id = a.delivery_id) LIMIT 5000)`)
	sweepMessages = db.SQL(`DELETE FROM webhook_message WHERE id IN (SELECT m.id FROM webhook_message m
		WHERE m.at < ? AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.message_id = m.id) LIMIT 5000)`)
)

// call is a delivery as it is sent.
type call struct {
	work.Lease
	control string
	subject string
	id      string // webhook-id
	kind    string // type of the event
	body    []byte // empty for a control
	trace   string // of what emitted the event
}

func newClaimer(d *db.DB, now func() time.Time) *work.Claimer {
	c, err := work.New(d, work.Table{Name: "webhook_delivery", Keep: true, Now: now})
	if err != nil {
		panic(err) // the name is right
	}
	return c
}

// addMessage stores what a call about an event says, once for all subscriptions.
func (st *store) addMessage(ctx context.Context, ev *event.Event, body []byte) error {
	return st.db.Queue(ctx, insertMessage, ev.ID, ev.Type, ev.Subject, string(body), db.Micros(ev.At), ev.Trace)
}

// addDelivery asks for a call about an event. A second time changes nothing.
func (st *store) addDelivery(ctx context.Context, s *Subscription, ev *event.Event, now time.Time) error {
	subject, due := "", db.Micros(now)
	if s.Ordered && ev.Subject != "" {
		subject, due = ev.Subject, blocked
	}
	return st.db.Queue(ctx, insertDelivery, s.ID, due, db.Micros(now), ev.ID, subject, db.Micros(ev.At))
}

// addControl asks for a call that no event asks for, and gives its id.
func (st *store) addControl(ctx context.Context, subscription, control, webhookID string, due, now time.Time) (id int64, err error) {
	err = st.db.Row(ctx, insertControl, subscription, db.Micros(due), db.Micros(now), control, db.Micros(now), webhookID).Scan(&id)
	return id, err
}

// due gives the subscriptions with calls to make now.
func (st *store) due(ctx context.Context, now time.Time) ([]*Subscription, error) {
	return st.subscriptions(ctx, dueLanes, db.Micros(now), db.Micros(now))
}

func (st *store) subscriptions(ctx context.Context, s *db.Statement, args ...any) ([]*Subscription, error) {
	return db.All(ctx, st.db, scanSubscription, s, args...)
}

// load reads what leases are about.
func (st *store) load(ctx context.Context, leases []work.Lease) ([]call, error) {
	var list strings.Builder
	byID := make(map[int64]work.Lease, len(leases))
	for i, l := range leases {
		list.WriteByte("[,"[min(i, 1)])
		list.WriteString(strconv.FormatInt(l.ID, 10))
		byID[l.ID] = l
	}
	rows, err := st.db.Query(ctx, loadDeliveries, list.String()+"]")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	calls := make([]call, 0, len(leases))
	for rows.Next() {
		var id int64
		var c call
		var message int64
		var body string
		if err := rows.Scan(&id, &c.control, &c.subject, &c.id, &message, &c.kind, &body, &c.trace); err != nil {
			return nil, err
		}
		c.id = webhookID(c.id, message)
		c.Lease, c.body = byID[id], []byte(body)
		calls = append(calls, c)
	}
	return calls, rows.Err()
}

// webhookID is what a call is known by to its receiver, over all tries.
func webhookID(stored string, message int64) string {
	if message == 0 {
		return stored
	}
	return "msg_" + strconv.FormatInt(message, 10)
}

// sweep deletes deliveries that ended before a time, with what belongs to them.
// It reads pages from the oldest on, and ends at the first that holds nothing
// old.
func (st *store) sweep(ctx context.Context, before time.Time) (n int64, err error) {
	limit := db.Micros(before)
	for after := int64(0); ; {
		var last, oldest int64
		if err := st.db.Row(ctx, pageOfDeliveries, after).Scan(&last, &oldest); err != nil {
			return n, err
		}
		if last == 0 || oldest >= limit {
			break
		}
		gone, err := st.db.Exec(ctx, sweepDeliveries, after, last, limit)
		if n += gone; err != nil {
			return n, err
		}
		after = last
	}
	for _, s := range []*db.Statement{sweepAttempts, sweepMessages} {
		for gone := int64(1); gone > 0; n += gone {
			if gone, err = st.db.Exec(ctx, s, limit); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// wasLost tells whether all that went wrong is that others hold the leases.
func wasLost(err error) bool {
	var lost *work.LostError
	return errors.As(err, &lost)
}
