// Package app assembles the enabled modules into a running server: it is the
// only place with an fx.New.
//
// A server goes through Open (resolve the modules, open the database), Migrate,
// Assemble (construct everything), Start, Stop and Close; Serve and Work do all
// of it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/work"
)

// App is an assembled server that has not started, or one that runs.
type App struct {
	Config  *Config
	Log     *slog.Logger
	DB      *db.DB
	Bus     *event.Bus
	Router  *web.Router
	Checks  *telemetry.Checks
	Welcome *module.Welcome
	Modules []module.Spec

	commands *module.Commands
	queues   *queues
	metrics  *telemetry.Metrics // nil unless they are served
	tracing  *telemetry.Tracing // nil unless it is on
	services []module.Service
	started  []module.Service
	release  func() // the lock of embedded mode
	options  fx.Option
	api      *module.API
	examples []byte
	stopping chan struct{} // closed when the server begins to stop
}

// Options are what main hands over besides the configuration.
type Options struct {
	Log     *slog.Logger
	Samples fs.FS // content types and roles for `serve --samples`
	Version string
	// Examples are calls of operations by their ids, as JSON (web.Example), for
	// the API document.
	Examples []byte
}

// Open resolves the modules and opens the database, without changing it.
func Open(ctx context.Context, c *Config, o Options) (*App, error) {
	specs, err := module.Resolve(c.all, c.Enabled)
	if err != nil {
		return nil, err
	}
	if c.Database.URL == "" {
		if err := os.MkdirAll(c.Server.Data, 0o700); err != nil {
			return nil, fmt.Errorf("the data folder: %w", err)
		}
	}
	d, err := db.Open(ctx, db.Config{URL: c.Database.URL.Reveal(), Path: c.databaseFile(), MaxConns: c.Database.MaxConns, AnswerWithin: c.Database.AnswerWithin, Version: o.Version, Traced: c.Telemetry.Traces.Enabled})
	if err != nil {
		return nil, err
	}
	a := &App{Config: c, Log: o.Log, DB: d, Modules: specs, Checks: telemetry.NewChecks(5 * time.Second), Welcome: &module.Welcome{}, api: &module.API{}, release: func() {},
		commands: module.NewCommands(specs), examples: o.Examples, stopping: make(chan struct{})}
	a.queues = &queues{db: d, config: c}
	if a.tracing, err = telemetry.NewTracing(ctx, c.Telemetry.Traces, o.Version, o.Log); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	bus := event.Options{Log: o.Log, Lease: c.Events.Lease, Retention: c.Events.Retention, Tracing: a.tracing}
	if c.Telemetry.Listen != "" {
		a.metrics = telemetry.NewMetrics(o.Version)
		bus.Observe = a.metrics.Delivery
	}
	a.Bus = event.New(d, bus)
	a.options = a.wiring(o)
	return a, errors.Join(
		a.Checks.Add(telemetry.Check{Name: "database", Run: d.Ping}),
		a.Checks.Add(telemetry.Check{Name: "migrations", Run: (&schema{app: a}).check}))
}

// Sources are the migrations of the core and of the enabled modules.
func (a *App) Sources() []db.Source {
	sources := []db.Source{work.Migrations(), event.Migrations()}
	for _, s := range a.Modules {
		if s.Migrations != nil {
			sources = append(sources, db.Source{Module: s.Name, Files: s.Migrations})
		}
	}
	return sources
}

// Migrate brings the database up to date if the configuration says so, else
// refuses one that is behind. It refuses one that is too new as well.
func (a *App) Migrate(ctx context.Context) error {
	if err := a.DB.Compatible(ctx, a.Sources()); err != nil {
		return err
	}
	pending, err := a.DB.Pending(ctx, a.Sources())
	if err != nil || len(pending) == 0 {
		return err
	}
	if !a.Config.Database.AutoMigrate {
		return fmt.Errorf("the database is behind by %d migrations: run `quoin migrate up`, or set database.auto_migrate", len(pending))
	}
	ran, err := a.DB.Migrate(ctx, a.Sources())
	for _, m := range ran {
		a.Log.Info("migrated", "module", m.Module, "name", m.Name)
	}
	return err
}

// MigrationStatus lists the migrations of the program, then those of a newer
// one that the database has.
func (a *App) MigrationStatus(ctx context.Context) ([]db.MigrationState, error) {
	all, err := a.DB.Migrations(ctx, a.Sources())
	if err != nil {
		return nil, err
	}
	newer, err := a.DB.Newer(ctx, a.Sources())
	for _, n := range newer {
		all = append(all, db.MigrationState{Module: n.Module, Name: n.Name + " (of a newer version)", Kind: n.Kind(), Applied: true})
	}
	return all, err
}

// LockFolder makes this the only process on an embedded database.
func (a *App) LockFolder(ctx context.Context) error {
	if a.DB.Dialect() != db.SQLite {
		return nil
	}
	release, err := a.DB.Lock(ctx, "quoin")
	if errors.Is(err, db.ErrLocked) {
		return fmt.Errorf("another quoin runs on %s: an embedded database belongs to one process. Stop it, choose another folder with --data, or move to PostgreSQL with QUOIN_DATABASE_URL", a.Config.Server.Data)
	}
	if err == nil {
		a.release = release
	}
	return err
}
