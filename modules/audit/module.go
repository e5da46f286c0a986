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
	store store
	cfg   *Config
}

func newService(d *db.DB, c *Config) *Service { return &Service{store{d}, c} }

// subscriptions record an event in the transaction that marks it handled: each
// is there once.
func subscriptions(s *Service) []event.Subscription {
	if len(s.cfg.Events) == 0 {
		return nil
	}
	return []event.Subscription{{Name: "audit", Patterns: s.cfg.Events, Batch: 256, Transactional: true, Handle: s.store.add}}
}

func services(s *Service, d *db.DB, log *slog.Logger) ([]module.Service, error) {
	if s.cfg.Retention == 0 {
		return nil, nil
	}
	task := work.Task{Name: "audit.expire", Every: time.Hour, Run: func(ctx context.Context) error {
		return s.store.expire(ctx, time.Now().Add(-s.cfg.Retention))
	}}
	periodic, err := work.NewPeriodic(d, work.PeriodicOptions{Log: log}, task)
	if err != nil {
		return nil, err
	}
	return []module.Service{{Name: "audit", Phase: module.PhaseWork, Start: periodic.Start, Stop: periodic.Stop}}, nil
}
