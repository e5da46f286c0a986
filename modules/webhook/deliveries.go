package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// maxPage is how many deliveries a list holds at most.
const maxPage = 500

// Delivery is a call to an endpoint with what became of it.
type Delivery struct {
	ID      int64
	Webhook string // id that stays over all tries: the header webhook-id
	Event   string
	Subject string
	Status  string // waiting, sending, blocked, delivered or failed
	At      time.Time
	Due     time.Time // of the next try; zero when there is none
	Tries   int
	Error   string // of the last try
	Body    []byte // only with Get; secrets are taken out, and data of documents that the caller may not view
	Tried   []Attempt
}

// Attempt is one try.
type Attempt struct {
	At       time.Time
	Duration time.Duration
	Status   int // 0: there was no answer
	Error    string
	Response string // the begin of the answer
}

const deliveryColumns = `d.id, d.webhook_id, coalesce(d.message_id, 0), coalesce(m.type, d.control), coalesce(m.subject, ''), d.at, d.due_at, coalesce(d.owner, ''), d.attempt, d.buried_at, coalesce(d.last_error, '')`

var (
	listDeliveries = db.SQL(`SELECT ` + deliveryColumns + ` FROM webhook_delivery d LEFT JOIN webhook_message m ON m.id = d.message_id
		WHERE d.queue = ? AND d.id < ? AND (? = '' OR
			? = 'delivered' AND d.due_at = 9223372036854775807 OR ? = 'failed' AND d.buried_at IS NOT NULL OR
			? = 'waiting' AND d.due_at < 9223372036854775807 AND d.buried_at IS NULL)
		ORDER BY d.id DESC LIMIT ?`)
	oneDelivery = db.SQL(`SELECT ` + deliveryColumns + `, coalesce(m.body, '') FROM webhook_delivery d LEFT JOIN webhook_message m ON m.id = d.message_id
		WHERE d.queue = ? AND d.id = ?`)
	attemptsOf = db.SQL(`SELECT at, duration, status, error, response FROM webhook_attempt WHERE delivery_id = ? ORDER BY id`)
)

func (s *Service) scanDelivery(row db.Row, more ...any) (*Delivery, error) {
	var d Delivery
	var at, due, message int64
	var owner string
	var buried *int64
	err := row.Scan(append([]any{&d.ID, &d.Webhook, &message, &d.Event, &d.Subject, &at, &due, &owner, &d.Tries, &buried, &d.Error}, more...)...)
	if err != nil {
		return nil, err
	}
	d.At, d.Webhook = db.Time(at), webhookID(d.Webhook, message)
	switch {
	case buried != nil:
		d.Status = "failed"
	case due == ended:
		d.Status, d.Error = "delivered", ""
	case due == blocked:
		d.Status = "blocked"
	case owner != "" && due > db.Micros(s.now()):
		d.Status = "sending"
	default:
		d.Status, d.Due = "waiting", db.Time(due)
	}
	return &d, nil
}

// Deliveries lists the calls of a subscription, the newest first: those before
// the id (0: from the newest on) that have the status (""; waiting, delivered,
// failed).
func (s *Service) Deliveries(ctx context.Context, id, status string, before int64, limit int) ([]*Delivery, error) {
	switch status {
	case "", "waiting", "delivered", "failed":
	default:
		return nil, problem.Field(problem.Invalid, "status", "must be waiting, delivered or failed")
	}
	if limit < 1 || limit > maxPage {
		return nil, problem.Field(problem.Invalid, "limit", "must be between 1 and %d", maxPage)
	}
	if before <= 0 {
		before = ended
	}
	sub, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.db.Query(ctx, listDeliveries, sub.ID, before, status, status, status, status, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []*Delivery{}
	for rows.Next() {
		d, err := s.scanDelivery(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// Delivery gives one call with its body and all its tries.
func (s *Service) Delivery(ctx context.Context, id string, delivery int64) (*Delivery, error) {
	sub, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var body string
	d, err := db.Found(s.scanDelivery(s.store.db.Row(ctx, oneDelivery, sub.ID, delivery), &body))
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, unknownDelivery(delivery)
	}
	if d.Body = []byte(body); body == "" {
		hidden := *sub
		hidden.Secret = "***"
		d.Body = payload(d.Event, controlData(&hidden, d.Event))
	} else if shown, err := s.directory.mayView(ctx, d.Body); err != nil {
		return nil, err
	} else if !shown {
		d.Body = payload(d.Event, rawjson.Without(nil, dataOf(d.Body), "raw_data"))
	}
	rows, err := s.store.db.Query(ctx, attemptsOf, delivery)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a Attempt
		var at, took int64
		if err := rows.Scan(&at, &took, &a.Status, &a.Error, &a.Response); err != nil {
			return nil, err
		}
		a.At, a.Duration = db.Time(at), time.Duration(took)*time.Microsecond
		d.Tried = append(d.Tried, a)
	}
	return d, rows.Err()
}

func unknownDelivery(id int64) error {
	return problem.New(problem.NotFound, "there is no delivery %d of this subscription", id).WithCode("delivery_unknown")
}

// Replay makes a call again that has ended, well or not, with the same
// webhook-id. Conflict when it has not ended.
func (s *Service) Replay(ctx context.Context, id string, delivery int64) error {
	sub, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		var same int64
		err := s.store.db.Row(ctx, revive, db.Micros(s.now()), delivery, sub.ID).Scan(&same)
		if _, err = db.Found(&same, err); err != nil {
			return err
		}
		if same != 0 {
			db.AfterCommit(ctx, s.wake)
			return nil
		}
		if d, err := db.Found(s.scanDelivery(s.store.db.Row(ctx, oneDelivery, sub.ID, delivery), new(string))); err != nil {
			return err
		} else if d == nil {
			return unknownDelivery(delivery)
		}
		return problem.New(problem.Conflict, "the delivery %d is still under way", delivery).WithCode("delivery_under_way")
	})
}

// replayPage is how many events one transaction of a replay holds.
const replayPage = 500

// ReplaySince makes the calls about all events again that the endpoint wants and
// that happened since a time, or after the event with an id when that is not 0:
// as far back as events are kept. It tells how many there were. Calls that wait
// in any case stay as they are.
func (s *Service) ReplaySince(ctx context.Context, id string, since time.Time, after int64) (n int, err error) {
	sub, err := s.Get(ctx, id)
	if err != nil {
		return 0, err
	}
	for {
		page, last, err := s.bus.History(ctx, after, since, replayPage)
		if err != nil {
			return n, fmt.Errorf("read the events: %w", err)
		}
		if last == 0 {
			s.wake()
			return n, nil
		}
		m, err := s.again(ctx, sub, page)
		if err != nil {
			return n, err
		}
		n, after = n+m, last
	}
}

// again asks for calls about events once more.
func (s *Service) again(ctx context.Context, sub *Subscription, events []event.Event) (n int, err error) {
	var wishes []wish
	for i := range events {
		if !sub.wants(&events[i]) {
			continue
		}
		ok, err := s.directory.mayHear(ctx, sub, &events[i])
		if err != nil {
			return 0, err
		}
		if ok {
			wishes = append(wishes, wish{sub, &events[i]})
		}
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		n = 0
		now := s.now()
		db.AfterCommit(ctx, func() { s.asked(wishes) })
		for _, w := range wishes {
			ev := w.ev
			revived, err := s.store.db.Exec(ctx, reviveMessage, db.Micros(now), ev.ID, sub.ID)
			if err != nil {
				return err
			}
			if n++; revived > 0 {
				continue
			}
			if err := s.store.addMessage(ctx, ev, payload(ev.Type, ev.Data)); err != nil {
				return err
			}
			if err := s.store.addDelivery(ctx, sub, ev, now); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
