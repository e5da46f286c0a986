package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/problem"
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

	services []module.Service
	started  []module.Service
	release  func() // the lock of embedded mode
	options  fx.Option
}

// Options are what main hands over besides the configuration.
type Options struct {
	Log     *slog.Logger
	Samples fs.FS // content types and roles for `serve --samples`
	Version string
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
	d, err := db.Open(ctx, db.Config{URL: c.Database.URL.Reveal(), Path: c.databaseFile(), MaxConns: c.Database.MaxConns})
	if err != nil {
		return nil, err
	}
	a := &App{Config: c, Log: o.Log, DB: d, Modules: specs, Checks: telemetry.NewChecks(5 * time.Second), Welcome: &module.Welcome{}, release: func() {}}
	a.Bus = event.New(d, event.Options{Log: o.Log})
	a.options = a.wiring(o)
	return a, a.Checks.Add(telemetry.Check{Name: "database", Run: d.Ping})
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
// refuses one that is behind.
func (a *App) Migrate(ctx context.Context) error {
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

// wiring is everything the modules' constructors may ask for.
func (a *App) wiring(o Options) fx.Option {
	options := []fx.Option{
		fx.Supply(a.DB, a.Bus, a.Log, a.Welcome, a.Checks, module.Instance{ID: a.Config.Instance.ID, Version: o.Version}, module.Samples{FS: o.Samples}),
		fx.Supply(module.Limits{MaxBody: int64(a.Config.Server.MaxBody)}),
		fx.WithLogger(func() fxevent.Logger { return quiet{} }),
	}
	for _, s := range a.Modules {
		if v := a.Config.values[s.Name]; v != nil {
			options = append(options, fx.Supply(v))
		}
		options = append(options, fx.Module(s.Name, s.Wiring()))
	}
	return fx.Options(options...)
}

// quiet swallows fx's events: its errors come back from fx.New.
type quiet struct{}

// LogEvent implements fxevent.Logger.
func (quiet) LogEvent(fxevent.Event) {}

// Assemble constructs every module and the router. Nothing runs yet.
func (a *App) Assemble(version string) error {
	var c module.Contributions
	var authenticator struct {
		fx.In
		Value auth.Authenticator `optional:"true"`
	}
	graph := fx.New(a.options, fx.Invoke(func(in module.Contributions) { c = in }), fx.Populate(&authenticator.Value))
	if err := graph.Err(); err != nil {
		return rootFirst(err)
	}
	slices.SortFunc(c.Services, func(x, y module.Service) int {
		return cmp.Or(cmp.Compare(x.Phase, y.Phase), cmp.Compare(x.Name, y.Name))
	})
	a.services = c.Services
	if err := a.Bus.Register(c.Subscriptions, c.Live); err != nil {
		return err
	}
	for _, check := range c.Checks {
		if err := a.Checks.Add(check); err != nil {
			return err
		}
	}
	router, err := web.New(web.Options{
		Log: a.Log, Authenticator: authenticator.Value, Operations: c.Operations,
		MaxBody: int64(a.Config.Server.MaxBody), Version: version,
	})
	a.Router = router
	return err
}

// Invoke runs one command of a module, without starting anything.
func (a *App) Invoke(run fx.Option) error {
	return rootFirst(fx.New(a.options, run).Err())
}

// rootFirst puts the last cause of fx's long chains in front, unless it is a
// plain error of a command.
func rootFirst(err error) error {
	if err == nil {
		return nil
	}
	var p *problem.Problem
	if errors.As(err, &p) {
		return p
	}
	root := err
	for next := errors.Unwrap(root); next != nil; next = errors.Unwrap(root) {
		root = next
	}
	return root
}

// Start runs the services phase by phase, then the bus. On an error what had
// started is stopped.
func (a *App) Start(ctx context.Context) error {
	for _, s := range a.services {
		if err := s.Start(ctx); err != nil {
			return errors.Join(fmt.Errorf("start %s: %w", s.Name, err), a.Stop(context.WithoutCancel(ctx)))
		}
		a.started = append(a.started, s)
	}
	if err := a.Bus.Start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start the event bus: %w", err), a.Stop(context.WithoutCancel(ctx)))
	}
	return nil
}

// Stop ends the bus and the services in reverse order; a slow one is named in
// the error.
func (a *App) Stop(ctx context.Context) error {
	errs := []error{a.Bus.Stop(ctx)}
	for _, s := range slices.Backward(a.started) {
		if s.Stop == nil {
			continue
		}
		if err := s.Stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.Name, err))
		}
	}
	a.started = nil
	return errors.Join(errs...)
}

// Close releases the database.
func (a *App) Close() error {
	a.release()
	return a.DB.Close()
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
