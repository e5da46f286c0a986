package content

import (
	"context"
	"embed"
	"log/slog"
	"time"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/web"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name:       "content",
		Summary:    "Content types, documents with revisions, environments and publication.",
		Config:     func() any { return defaults() },
		Migrations: module.Sub(migrations, "migrations"),
		Events:     eventTypes(),
		Commands:   commands(),
		Wiring:     wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newCatalogs, newSource, newIndexes, newBootstrap, fx.Private),
		fx.Provide(newService), // commands run with it
		module.Offer[port.Documents](func(s *source) *source { return s }),
		module.Offer[port.ContentTypes](func(s *source) *source { return s }),
		module.Offer[port.Editor](func(s *Service) editor { return editor{s} }),
		module.Offer[port.Indexes](func(x *indexes) *indexes { return x }),
		module.FileHolders(func(s *source) []port.FileHolder { return []port.FileHolder{s} }),
		module.Entities(entities),
		fx.Provide(func(s *Service, list module.EntityList) (*Admin, error) { return newAdmin(s, list.Entities) }, fx.Private),
		module.Operations(moduleOperations),
		module.Services(func(b *bootstrap) []module.Service {
			return []module.Service{{Name: "content", Phase: module.PhaseData, Start: b.start}}
		}),
	)
}

func moduleOperations(s *Service, a *Admin, i module.Instance) []web.Operation {
	ops := append(operations(s), metaOperations(s)...)
	return append(append(ops, bulkOperation(s)), adminOperations(a, i.Version)...)
}

func newCatalogs(d *db.DB, log *slog.Logger, i module.Instance) *catalogs {
	return &catalogs{store: store{d}, log: log, instance: i.ID}
}

func newSource(d *db.DB, c *catalogs) *source { return &source{store{d}, c} }

func newIndexes(d *db.DB, c *catalogs, bus *event.Bus) *indexes {
	return &indexes{store{d}, c, bus, c.instance, time.Now}
}

type serviceNeeds struct {
	fx.In

	Config  *Config
	DB      *db.DB
	Types   *catalogs
	Bus     *event.Bus
	Log     *slog.Logger
	Refresh port.Refresher `optional:"true"`
	Find    port.Finder    `optional:"true"`
}

func newService(n serviceNeeds) *Service {
	return &Service{cfg: n.Config, store: store{n.DB}, types: n.Types, bus: n.Bus, turns: newTurns(), refresh: n.Refresh, find: n.Find, log: n.Log, now: time.Now}
}

func entities(s *Service) []port.Entity {
	var list []port.Entity
	for _, k := range kinds() {
		list = append(list, configEntity{k, s})
	}
	return list
}

func newBootstrap(s *Service, c *Config, samples module.Samples, w *module.Welcome) *bootstrap {
	return &bootstrap{s, c, samples, w}
}

// start is called once before requests come in.
func (b *bootstrap) start(ctx context.Context) error {
	if err := b.environments(ctx); err != nil {
		return err
	}
	return b.samples(ctx)
}
