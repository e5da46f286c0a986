// Package audit records who did what, from the events of the other modules, and
// lets auditors read it.
package audit

import (
	"context"
	"embed"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name:       "audit",
		Summary:    "Who did what: a record of events, for auditors.",
		Config:     func() any { return Defaults() },
		Migrations: module.Sub(migrations, "migrations"),
		Commands:   commands(),
		Wiring:     wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newService),
		module.Operations(operations),
		module.Subscribe(subscriptions),
		module.Services(services),
	)
}

// Service records events and finds records.
type Service struct {
	store    store
	bus      *event.Bus
	cfg      *Config
	recalled map[string]int64 // pattern → the last event that was looked at; only used by the task
}

func newService(d *db.DB, bus *event.Bus, c *Config) *Service {
	return &Service{store: store{d}, bus: bus, cfg: c, recalled: map[string]int64{}}
}

// subscriptions record an event in the transaction that marks it handled: each
// is there once.
func subscriptions(s *Service) []event.Subscription {
	if len(s.cfg.Events) == 0 {
		return nil
	}
	return []event.Subscription{{Name: "audit", Patterns: s.cfg.Events, Batch: 256, Transactional: true, Handle: s.store.add}}
}

const (
	// recallBatch is how many events are looked at at a time.
	recallBatch = 500
	// recallAgain is by how much ids may come out of order.
	recallAgain = 10_000
)

// recall records what happened while no process served the subscription: before
// the first start, and by commands when the servers had stopped for long.
func (s *Service) recall(ctx context.Context) error {
	for _, pattern := range s.cfg.Events {
		for after := max(0, s.recalled[pattern]-recallAgain); ; {
			events, err := s.bus.HistoryOf(ctx, pattern, after, recallBatch)
			if err != nil || len(events) == 0 {
				if err != nil {
					return err
				}
				break
			}
			if err := s.store.db.InTx(ctx, func(ctx context.Context) error { return s.store.add(ctx, events) }); err != nil {
				return err
			}
			after = events[len(events)-1].ID
			s.recalled[pattern] = max(s.recalled[pattern], after)
			if len(events) < recallBatch {
				break
			}
		}
	}
	return nil
}

func services(s *Service, d *db.DB, log *slog.Logger) ([]module.Service, error) {
	task := work.Task{Name: "audit.expire", Every: time.Hour, Run: func(ctx context.Context) error {
		if err := s.recall(ctx); err != nil || s.cfg.Retention == 0 {
			return err
		}
		return s.store.expire(ctx, time.Now().Add(-s.cfg.Retention))
	}}
	periodic, err := work.NewPeriodic(d, work.PeriodicOptions{Log: log}, task)
	if err != nil {
		return nil, err
	}
	return []module.Service{{Name: "audit", Phase: module.PhaseWork, Start: periodic.Start, Stop: periodic.Stop}}, nil
}
