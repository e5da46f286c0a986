package mcp

import (
	"context"
	"embed"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name: "mcp", Summary: "The endpoint for agents (Model Context Protocol).",
		Needs:  []string{"user"},
		Config: func() any { return Defaults() }, Migrations: module.Sub(migrations, "migrations"), Wiring: wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newService, fx.Private),
		module.Operations(operations),
		module.Live(func(s *Service) []event.Live { return []event.Live{s.changes.live()} }),
		module.Services(services),
	)
}

type needs struct {
	fx.In

	DB            *db.DB
	Config        *Config
	Log           *slog.Logger
	Instance      module.Instance
	Sources       module.AgentSources
	Authenticator auth.Authenticator `optional:"true"`
	Editor        port.Editor        `optional:"true"`
	Types         port.ContentTypes  `optional:"true"`
	Searcher      port.Searcher      `optional:"true"`
	Files         port.Files         `optional:"true"`
	Profiles      port.Profiles      `optional:"true"`
}

func newService(n needs) *Service {
	return New(context.Background(), Options{ //nolint:forbidigo // the life of the endpoint ends with Stop
		DB: n.DB, Config: n.Config, Log: n.Log.With("module", "mcp"), Version: n.Instance.Version, Authenticator: n.Authenticator,
		Editor: n.Editor, Types: n.Types, Searcher: n.Searcher, Files: n.Files, Profiles: n.Profiles,
		Tools: n.Sources.Tools, Resources: n.Sources.Resources,
	})
}

func services(s *Service, d *db.DB, log *slog.Logger) ([]module.Service, error) {
	periodic, err := work.NewPeriodic(d, work.PeriodicOptions{Log: log}, work.Task{Name: "mcp.sweep", Every: sweepEvery, Run: s.sweep})
	if err != nil {
		return nil, err
	}
	return []module.Service{
		{Name: "mcp", Phase: module.PhaseData, Start: s.Start, Stop: s.Stop},
		{Name: "mcp-sweep", Phase: module.PhaseWork, Start: periodic.Start, Stop: func(ctx context.Context) error { return periodic.Stop(ctx) }},
	}, nil
}
