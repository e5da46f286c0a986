package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/work"
)

const (
	// together is how many results are written in one transaction at most.
	together = 256
	// recordWithin bounds how long the writing waits for the database.
	recordWithin = 10 * time.Second
	// validations is how often a validation call is tried before the endpoint
	// is disabled.
	validations = 5
)

// recorder writes how calls ended, those of all lanes together: whatever comes
// while one transaction is written goes into the next. A result that cannot be
// written is lost with its lease, and the call is made again.
type recorder struct {
	service *Service
	queue   chan result
	done    sync.WaitGroup
	ctx     context.Context //nolint:containedctx // of the process: results are written to the last
}

func newRecorder(s *Service) *recorder {
	return &recorder{service: s, queue: make(chan result, together)}
}

func (r *recorder) start(ctx context.Context) {
	r.ctx = ctx
	r.done.Go(r.loop)
}

// stop writes what is there and ends.
func (r *recorder) stop() { close(r.queue); r.done.Wait() }

func (r *recorder) add(res result) { r.queue <- res }

func (r *recorder) loop() {
	for first := range r.queue {
		batch := []result{first}
		for more := true; more && len(batch) < together; {
			select {
			case res, ok := <-r.queue:
				if more = ok; ok {
					batch = append(batch, res)
				}
			default:
				more = false
			}
		}
		ctx, cancel := context.WithTimeout(r.ctx, recordWithin)
		if err := r.write(ctx, batch); err != nil {
			r.service.log.Warn("the ends of webhook calls could not be written; they are made again", "calls", len(batch), "error", err)
		}
		cancel()
	}
}

// errDenied is why a call was not made.
var errDenied = errors.New("not sent: the owner of the subscription may not hear of this any more")

// write is one transaction for all results.
func (r *recorder) write(ctx context.Context, batch []result) error {
	s := r.service
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		health := newHealth(s)
		var done, cut []work.Lease
		for i := range batch {
			res := &batch[i]
			if res.cut {
				cut = append(cut, res.Lease)
				continue
			}
			if res.denied { // the endpoint has no part in it
				if err := s.deliveries.Bury(ctx, errDenied, res.Lease); err != nil && !wasLost(err) {
					return err
				}
				continue
			}
			if err := r.attempt(ctx, res); err != nil {
				return err
			}
			health.note(res)
			if res.err == nil {
				done = append(done, res.Lease)
			} else if err := r.failed(ctx, res); err != nil && !wasLost(err) {
				return err
			}
		}
		if err := s.deliveries.Done(ctx, done...); err != nil && !wasLost(err) {
			return err
		}
		if err := s.deliveries.Release(ctx, 0, cut...); err != nil && !wasLost(err) {
			return err
		}
		db.AfterCommit(ctx, func() { r.free(batch) })
		return health.write(ctx)
	})
}

// free notes the documents whose next call may have its turn.
func (r *recorder) free(batch []result) {
	for i := range batch {
		if batch[i].subject != "" {
			r.service.order.add(queueOf{batch[i].to.ID, batch[i].subject})
		}
	}
}

func (r *recorder) attempt(ctx context.Context, res *result) error {
	text := ""
	if res.err != nil {
		text = redact(res.err.Error(), res.to)
	}
	return r.service.store.db.Queue(ctx, insertAttempt, res.ID, db.Micros(res.at), res.duration.Microseconds(), res.status, clip(text, maxExcerpt), res.response)
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// failed makes a call due again, or gives it up.
func (r *recorder) failed(ctx context.Context, res *result) error {
	schedule := r.service.cfg.Schedule
	tries := len(schedule) + 1
	if res.control != "" {
		tries = min(tries, validations)
	}
	cause := errors.New(redact(res.err.Error(), res.to))
	if res.Attempt >= tries || res.status == http.StatusGone {
		return r.service.deliveries.Bury(ctx, cause, res.Lease)
	}
	wait := schedule[min(max(res.Attempt, 1), len(schedule))-1]
	wait = max(time.Duration(float64(wait)*(0.8+0.4*rand.Float64())), res.wait)
	return r.service.deliveries.Retry(ctx, cause, wait, res.Lease)
}

// health is what a batch of results says about their endpoints.
type health struct {
	service *Service
	seen    map[string]*record
	order   []string
}

// record is what happened to one endpoint, in the order of its results.
type record struct {
	to        *Subscription
	succeeded bool // at least once
	failures  int  // since the last success of the batch
	validated time.Time
	gone      bool
	invalid   bool // the last try of a validation failed
	last      error
}

func newHealth(s *Service) *health { return &health{service: s, seen: map[string]*record{}} }

func (h *health) note(res *result) {
	rec := h.seen[res.to.ID]
	if rec == nil {
		rec = &record{to: res.to}
		h.seen[res.to.ID] = rec
		h.order = append(h.order, res.to.ID)
	}
	if res.err == nil {
		rec.succeeded, rec.failures = true, 0
		if res.control == controlValidate {
			rec.validated = res.at
		}
		return
	}
	rec.failures++
	rec.last = res.err
	rec.gone = rec.gone || res.status == http.StatusGone
	rec.invalid = rec.invalid || res.control == controlValidate && res.Attempt >= min(validations, len(h.service.cfg.Schedule)+1)
}

// write changes the records of the endpoints that failed, or had.
func (h *health) write(ctx context.Context) error {
	for _, id := range h.order {
		rec := h.seen[id]
		if rec.failures == 0 && rec.to.Failures == 0 && rec.validated.IsZero() {
			continue
		}
		if err := h.writeOne(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

func (h *health) writeOne(ctx context.Context, rec *record) error {
	s := h.service
	if _, err := s.store.db.Exec(ctx, lockHealth, rec.to.ID); err != nil {
		return err
	}
	sub, err := s.store.one(ctx, rec.to.ID)
	if err != nil || sub == nil {
		return err
	}
	now := s.now()
	if rec.succeeded {
		sub.Failures, sub.FailingSince, sub.OpenUntil = 0, time.Time{}, time.Time{}
	}
	if !rec.validated.IsZero() {
		sub.ValidatedAt = rec.validated
	}
	if rec.failures > 0 {
		if sub.Failures == 0 {
			sub.FailingSince = now
		}
		sub.Failures += rec.failures
		if over := sub.Failures - s.cfg.BreakAfter; over >= 0 {
			sub.OpenUntil = now.Add(min(s.cfg.BreakFor<<min(over, 5), 20*s.cfg.BreakFor))
		}
	}
	if reason := h.verdict(rec, sub, now); reason != "" && sub.Enabled {
		sub.Enabled, sub.Message = false, reason
		if err := h.disabled(ctx, sub); err != nil {
			return err
		}
	}
	_, err = s.store.db.Exec(ctx, setHealth, sub.Failures, db.Micros(sub.FailingSince), db.Micros(sub.OpenUntil), sub.Enabled, sub.Message, db.Micros(sub.ValidatedAt), sub.ID)
	return err
}

// verdict says why an endpoint is to be disabled, or "".
func (h *health) verdict(rec *record, sub *Subscription, now time.Time) string {
	switch {
	case rec.gone:
		return "The endpoint answered 410: it does not want to be called any more."
	case rec.invalid:
		return "The endpoint did not pass the validation: " + redact(rec.last.Error(), sub)
	case sub.Failures > 0 && now.Sub(sub.FailingSince) >= h.service.cfg.DisableAfter:
		return "The endpoint has failed since " + sub.FailingSince.UTC().Format(time.RFC3339) + ": " + redact(rec.last.Error(), sub)
	}
	return ""
}

// disabled tells everybody that an endpoint was given up.
func (h *health) disabled(ctx context.Context, sub *Subscription) error {
	h.service.log.Warn("a webhook endpoint was disabled", "subscription", sub.ID, "url", sub.URL, "reason", sub.Message)
	data, err := json.Marshal(struct {
		Subscription string `json:"subscription"`
		URL          string `json:"endpoint_url"`
		Reason       string `json:"reason"`
	}{sub.ID, sub.URL, sub.Message})
	if err != nil {
		return err
	}
	if _, err := h.service.store.db.Exec(ctx, lockState); err != nil { // others shall know
		return err
	}
	return h.service.bus.Emit(ctx, event.Event{Type: eventDisabled, Subject: "webhook:" + sub.ID, Data: data})
}
