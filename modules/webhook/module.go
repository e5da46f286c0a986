// Package webhook calls endpoints when something happens: every event becomes
// one durable delivery for each subscription that wants it, and is tried until
// the endpoint has taken it.
//
// Data flows one way: an event of the outbox is expanded into deliveries
// (expand.go), a lane per subscription claims and makes them (sender.go,
// client.go), and their ends are written together (recorder.go).
package webhook

import (
	"context"
	"embed"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name: "webhook", Summary: "Signed calls to endpoints when something happens.",
		Needs:  []string{"user"},
		Config: func() any { return Defaults() }, Migrations: module.Sub(migrations, "migrations"),
		Events: eventTypes(), Commands: commands(), Wiring: wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newService), // commands run with it
		fx.Provide(newSender, fx.Private),
		module.Operations(operations),
		module.Subscribe(subscription),
		module.Services(services),
	)
}

type needs struct {
	fx.In

	DB         *db.DB
	Bus        *event.Bus
	Config     *Config
	Types      module.EventTypes
	Identities port.Identities
	Content    port.ContentTypes       `optional:"true"`
	Transform  port.WebhookTransformer `optional:"true"`
	Instance   module.Instance
	Tracing    *telemetry.Tracing
	Log        *slog.Logger
}

func newService(n needs) *Service {
	return New(Options{
		DB: n.DB, Bus: n.Bus, Config: n.Config, Types: n.Types, Identities: n.Identities, Content: n.Content, Transform: n.Transform,
		Own: n.Instance.Addresses, Tracing: n.Tracing, Log: n.Log.With("module", "webhook"),
	})
}

func services(s *Service, out *sender, d *db.DB, log *slog.Logger) ([]module.Service, error) {
	periodic, err := work.NewPeriodic(d, work.PeriodicOptions{Log: log}, s.upkeep()...)
	if err != nil {
		return nil, err
	}
	return []module.Service{
		{Name: "webhook-sender", Phase: module.PhaseWork, Start: out.start, Stop: out.stop},
		{Name: "webhook-upkeep", Phase: module.PhaseWork, Start: periodic.Start, Stop: func(ctx context.Context) error { return periodic.Stop(ctx) }},
	}, nil
}
