package pluginhost

import (
	"context"
	"embed"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the plugins as a module: core/cli adds it to those that the
// program names.
func Spec() module.Spec {
	return module.Spec{
		Name: "plugins", Summary: "Programs of others that add tools, event handlers, webhook transformers and commands.",
		Config: func() any { return Defaults() }, Migrations: module.Sub(migrations, "migrations"),
		Commands: commands(), Events: eventTypes(), Wiring: wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newHost),
		module.ToolSources(func(h *Host) []port.ToolSource { return []port.ToolSource{tools{h}} }),
		module.ResourceSources(func(h *Host) []port.ResourceSource { return []port.ResourceSource{resources{h}} }),
		module.Offer[port.WebhookTransformer](func(h *Host) transformer { return transformer{h} }),
		module.Subscribe(func(h *Host) ([]event.Subscription, error) { return h.subscriptions(context.Background()) }), //nolint:forbidigo // the wiring has none
		module.Services(func(h *Host) []module.Service {
			return []module.Service{{Name: "plugins", Phase: module.PhaseWork, Start: h.Start, Stop: h.Stop}}
		}),
	)
}

type needs struct {
	fx.In

	DB         *db.DB
	Bus        *event.Bus
	Config     *Config
	Identities port.Identities `optional:"true"`
	API        *module.API
	Instance   module.Instance
	Data       module.Data
	Log        *slog.Logger
}

func newHost(n needs) *Host {
	return New(Options{
		Config: n.Config, DB: n.DB, Bus: n.Bus, Identities: n.Identities, API: n.API,
		Data: n.Data.Folder, Version: n.Instance.Version, Log: n.Log.With("module", "plugins"),
	})
}
