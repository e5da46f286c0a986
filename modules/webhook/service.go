package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

// unsubscribed is the message of a subscription that was ended by its owner.
const unsubscribed = "Unsubscribe"

// Service manages subscriptions. Everybody manages their own; ROLE_ADMIN those
// of others as well. A subscription that the caller may not manage is NotFound.
type Service struct {
	cfg        *Config
	store      *store
	bus        *event.Bus
	deliveries *work.Claimer
	directory  *directory
	catalogue  *catalogue
	guard      guard
	transform  port.WebhookTransformer // nil: calls go out as they are
	tracing    *telemetry.Tracing      // nil: no spans
	order      order
	own        []string // addresses of this server, host:port
	log        *slog.Logger
	now        func() time.Time
	wake       func() // tells the sender that there is something to do
}

// Options are what New needs.
type Options struct {
	DB         *db.DB
	Bus        *event.Bus
	Config     *Config
	Types      []event.Type // that may be subscribed to
	Identities port.Identities
	Content    port.ContentTypes       // nil: there are no documents
	Transform  port.WebhookTransformer // nil: calls go out as they are
	Own        []string                // addresses of this server, host:port
	Tracing    *telemetry.Tracing      // nil: no spans
	Log        *slog.Logger
	Now        func() time.Time // nil is time.Now
}

// New makes the service.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	st, types := &store{o.DB}, newCatalogue(o.Types)
	return &Service{
		cfg: o.Config, store: st, bus: o.Bus, deliveries: newClaimer(o.DB, o.Now),
		directory: newDirectory(st, &o, types), catalogue: types,
		guard: guard{allowed: o.Config.AllowNetworks}, transform: o.Transform, tracing: o.Tracing, own: o.Own, log: o.Log, now: o.Now, wake: func() {},
		order: order{nudge: make(chan struct{}, 1)},
	}
}

// Wish is what a subscription shall be; see Subscription.
type Wish struct {
	URL                                string
	Events, ContentTypes, Environments []string
	Description                        string
	Ordered                            bool
	Rate, Concurrency                  int
}

// Subscribe registers an endpoint for the caller. The same endpoint with the
// same events is the same subscription: it is given back with its secret, and
// enabled again. Invalid names the member that is wrong.
func (s *Service) Subscribe(ctx context.Context, w Wish) (*Subscription, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.check(&w, id); err != nil {
		return nil, err
	}
	now := s.now()
	fresh := &Subscription{ID: uuid.Must(uuid.NewV7()).String(), Secret: newSecret(), Owner: id.Username, Enabled: true, CreatedAt: now}
	w.fill(fresh)
	var out *Subscription
	err = s.store.changing(ctx, "", func(ctx context.Context) error {
		known, err := s.store.same(ctx, fresh.identity())
		if err != nil {
			return err
		}
		if known == nil {
			n, err := s.store.count(ctx)
			if err != nil {
				return err
			}
			if n >= s.cfg.MaxSubscriptions {
				return problem.New(problem.Conflict, "there are %d subscriptions already, and no more are allowed", n).WithCode("too_many_subscriptions")
			}
			out = fresh
		} else {
			out = known
			w.fill(known)
			known.enable()
		}
		due := now.Add(s.cfg.ValidationDelay)
		out.ValidateAt = jitter(due.Add(s.cfg.ValidateEvery), s.cfg.ValidateEvery, 0.1)
		if _, err := s.store.addControl(ctx, out.ID, controlValidate, controlID(), due, now); err != nil {
			return err
		}
		db.AfterCommit(ctx, s.wake)
		if known == nil {
			out.ModifiedAt = now
			if err := s.store.insert(ctx, out); err != nil {
				return err
			}
			return s.told(ctx, "created", out)
		}
		if err := s.store.update(ctx, out, now); err != nil {
			return err
		}
		return s.told(ctx, "changed", out)
	})
	return out, err
}

func controlID() string { return "msg_" + uuid.NewString() }

// enable lets a subscription hear of events again, with a clean record.
func (s *Subscription) enable() {
	s.Enabled, s.Paused, s.Message = true, false, ""
	s.Failures, s.FailingSince, s.OpenUntil = 0, time.Time{}, time.Time{}
}

func (w *Wish) fill(s *Subscription) {
	s.URL, s.Events, s.ContentTypes, s.Environments = w.URL, w.Events, w.ContentTypes, w.Environments
	s.Description, s.Ordered, s.Rate, s.Concurrency = w.Description, w.Ordered, w.Rate, w.Concurrency
}

// check refuses what cannot be, and sorts the lists.
func (s *Service) check(w *Wish, id *auth.Identity) error {
	if _, err := s.guard.parseURL(w.URL, s.own); err != nil {
		return err
	}
	if len(w.Events) == 0 || len(w.Events) > maxEvents {
		return problem.Field(problem.Invalid, "events", "must hold between 1 and %d event types", maxEvents)
	}
	for i, name := range w.Events {
		if err := s.catalogue.check(i, name, id); err != nil {
			return err
		}
	}
	w.Events = sorted(w.Events)
	for path, list := range map[string]*[]string{"contentTypes": &w.ContentTypes, "environments": &w.Environments} {
		if len(*list) > maxFilter || slices.ContainsFunc(*list, func(v string) bool { return v == "" || len(v) > maxName }) {
			return problem.Field(problem.Invalid, path, "must hold at most %d names, none of them empty or longer than %d bytes", maxFilter, maxName)
		}
		*list = sorted(*list)
	}
	switch {
	case len(w.Description) > maxDescription:
		return problem.Field(problem.Invalid, "description", "must have at most %d bytes", maxDescription)
	case w.Rate < 0 || w.Rate > maxRate:
		return problem.Field(problem.Invalid, "rate", "must be between 0 and %d calls per second", maxRate)
	case w.Concurrency < 0 || w.Concurrency > maxConcurrency:
		return problem.Field(problem.Invalid, "concurrency", "must be between 0 and %d", maxConcurrency)
	}
	return nil
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// mine tells whether the caller may manage a subscription.
func mine(id *auth.Identity, s *Subscription) bool {
	return s != nil && (s.Owner == id.Username || id.Has(auth.RoleAdmin))
}

func unknown(id string) error {
	return problem.New(problem.NotFound, "there is no subscription %q", id).WithCode("subscription_unknown")
}

// Get gives a subscription.
func (s *Service) Get(ctx context.Context, id string) (*Subscription, error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	sub, err := s.store.one(ctx, id)
	if err == nil && !mine(who, sub) {
		err = unknown(id)
	}
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// List gives the subscriptions that the caller may manage, the oldest first.
func (s *Service) List(ctx context.Context) ([]*Subscription, error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.store.list(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(sub *Subscription) bool { return !mine(who, sub) })
	slices.SortStableFunc(all, func(a, b *Subscription) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// change lets fn change a subscription, while no other change runs. what says
// in a word what is done, for auditors.
func (s *Service) change(ctx context.Context, id, what string, fn func(ctx context.Context, sub *Subscription) error) (sub *Subscription, err error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	err = s.store.changing(ctx, id, func(ctx context.Context) error {
		if sub, err = s.store.one(ctx, id); err != nil {
			return err
		}
		if !mine(who, sub) {
			return unknown(id)
		}
		if err := fn(ctx, sub); err != nil {
			return err
		}
		db.AfterCommit(ctx, s.wake)
		if err := s.store.update(ctx, sub, s.now()); err != nil {
			return err
		}
		return s.told(ctx, what, sub)
	})
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// Unsubscribe ends a subscription and forgets the calls that wait for it. One
// that is not there has ended already.
func (s *Service) Unsubscribe(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, "deleted", func(ctx context.Context, sub *Subscription) error {
		sub.Enabled, sub.Message = false, unsubscribed
		_, err := s.store.db.Exec(ctx, dropWaiting, sub.ID)
		return err
	})
	if problem.Is(err, problem.NotFound) {
		return nil
	}
	return err
}

// Update changes what a subscription is; Conflict when it would be the same as
// another one of its owner.
func (s *Service) Update(ctx context.Context, id string, set func(w *Wish)) (*Subscription, error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, id, "changed", func(ctx context.Context, sub *Subscription) error {
		w := Wish{sub.URL, sub.Events, sub.ContentTypes, sub.Environments, sub.Description, sub.Ordered, sub.Rate, sub.Concurrency}
		set(&w)
		if err := s.check(&w, who); err != nil {
			return err
		}
		w.fill(sub)
		other, err := s.store.same(ctx, sub.identity())
		if err != nil {
			return err
		}
		if other != nil && other.ID != sub.ID {
			return problem.New(problem.Conflict, "the subscription %s is for the same endpoint and events", other.ID).WithCode("subscription_exists")
		}
		return nil
	})
}

// Pause keeps the events for an endpoint without calling it.
func (s *Service) Pause(ctx context.Context, id string) (*Subscription, error) {
	return s.change(ctx, id, "paused", func(_ context.Context, sub *Subscription) error {
		sub.Paused = true
		return nil
	})
}

// Resume calls an endpoint again that was paused, broken or disabled; what
// waits for it goes at once.
func (s *Service) Resume(ctx context.Context, id string) (*Subscription, error) {
	return s.change(ctx, id, "resumed", func(ctx context.Context, sub *Subscription) error {
		sub.enable()
		now := db.Micros(s.now())
		_, err := s.store.db.Exec(ctx, hurry, now, sub.ID, now)
		return err
	})
}

// Rotate makes a new secret. The old one stays valid beside it for a while: the
// signature of Standard Webhooks is then made with both.
func (s *Service) Rotate(ctx context.Context, id string) (*Subscription, error) {
	return s.change(ctx, id, "rotated", func(_ context.Context, sub *Subscription) error {
		sub.OldSecret, sub.OldSecretUntil = sub.Secret, s.now().Add(s.cfg.SecretOverlap)
		sub.Secret = newSecret()
		return nil
	})
}

// Test asks for a test or ping call at once, also to an endpoint that was
// disabled, which it enables. It gives the id of the delivery.
func (s *Service) Test(ctx context.Context, id, control string) (delivery int64, err error) {
	if control != controlTest && control != controlPing {
		return 0, problem.Field(problem.Invalid, "event", "must be %s or %s", controlTest, controlPing)
	}
	_, err = s.change(ctx, id, "tested", func(ctx context.Context, sub *Subscription) error {
		sub.enable()
		now := s.now()
		delivery, err = s.store.addControl(ctx, sub.ID, control, controlID(), now, now)
		return err
	})
	return delivery, err
}
