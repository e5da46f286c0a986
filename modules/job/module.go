package job

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"sync"
	"time"

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
		Name:       "job",
		Summary:    "Commands that are run later, inside the server or by workers outside, and schedules for them.",
		Config:     func() any { return defaults() },
		Migrations: module.Sub(migrations, "migrations"),
		Events:     eventTypes(),
		Commands:   commands(),
		Wiring:     wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newService),
		module.Operations(operations),
		module.Entities(func(s *Service) []port.Entity { return []port.Entity{entity{s}, scheduleEntity{s}} }),
		module.Services(services),
	)
}

type serviceNeeds struct {
	fx.In

	Config   *Config
	DB       *db.DB
	Bus      *event.Bus
	Commands *module.Commands
	Stopping module.Stopping
	Checks   *telemetry.Checks
	Instance module.Instance
	Tracing  *telemetry.Tracing
	Log      *slog.Logger
	People   port.Identities `optional:"true"`
}

func newService(n serviceNeeds) (*Service, error) {
	return New(Options{DB: n.DB, Config: n.Config, Bus: n.Bus, Commands: n.Commands, People: n.People, Stopping: n.Stopping, Checks: n.Checks, Version: n.Instance.Version, Tracing: n.Tracing, Log: n.Log.With("module", "job")})
}

// Options are what a Service is made from.
type Options struct {
	DB       *db.DB
	Config   *Config
	Bus      *event.Bus
	Commands *module.Commands
	People   port.Identities // nil: no command can be run
	Stopping module.Stopping
	Checks   *telemetry.Checks
	Version  string             // of the program
	Tracing  *telemetry.Tracing // nil: no spans
	Log      *slog.Logger
	Now      func() time.Time // nil is time.Now
}

// New makes a service that does nothing by itself until its keeper starts.
func New(o Options) (*Service, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	jobs, err := work.New(o.DB, work.Table{Name: "job", Now: o.Now})
	if err != nil {
		return nil, err
	}
	schedules, err := work.New(o.DB, work.Table{Name: "job_schedule", Now: o.Now})
	if err != nil {
		return nil, err
	}
	return &Service{
		schedules: schedules, checks: o.Checks, version: o.Version,
		cfg: o.Config, store: store{o.DB}, jobs: jobs, bus: o.Bus, hub: newHub(o.DB, o.Log), commands: o.Commands,
		people: o.People, stopping: o.Stopping, log: o.Log, now: o.Now, runs: o.Config.Workers > 0, tracing: o.Tracing,
	}, nil
}

func services(s *Service) []module.Service {
	k := &keeper{service: s}
	return []module.Service{{Name: "job", Phase: module.PhaseWork, Worker: true, Start: k.start, Stop: k.stop}}
}

// keeper runs what jobs need in the background.
type keeper struct {
	service *Service
	runner  *work.Runner
	tasks   *work.Periodic
	end     context.CancelFunc
	looking sync.WaitGroup
}

// look finds schedules that are due and jobs whose worker fell silent. Every
// process looks, which is a read: what is found is claimed row by row.
func (k *keeper) look(ctx context.Context) {
	for ctx.Err() == nil {
		if err := errors.Join(k.service.RunDue(ctx), k.service.Sweep(ctx)); err != nil && ctx.Err() == nil {
			k.service.log.WarnContext(ctx, "schedules and lost jobs could not be looked for; trying again", "error", err)
		}
		work.Pause(ctx, 2*time.Second)
	}
}

func (k *keeper) start(ctx context.Context) error {
	s := k.service
	tasks, err := work.NewPeriodic(s.store.db, work.PeriodicOptions{Now: s.now, Log: s.log},
		work.Task{Name: "job.clear", Every: time.Hour, Run: func(ctx context.Context) error {
			_, err := s.Clear(ctx, s.cfg.Retention)
			return err
		}})
	if err != nil {
		return err
	}
	k.tasks = tasks
	if s.runs {
		k.runner = s.newRunner()
		s.hub.server = k.runner.Wake
		if err := k.runner.Start(ctx); err != nil {
			return err
		}
	}
	if err := s.hub.start(ctx); err != nil {
		return err
	}
	looking, end := context.WithCancel(context.WithoutCancel(ctx))
	k.end = end
	k.looking.Go(func() { k.look(looking) })
	return tasks.Start(ctx)
}

func (k *keeper) stop(ctx context.Context) error {
	var err error
	if k.end != nil {
		k.end()
		k.looking.Wait()
	}
	if k.runner != nil {
		err = k.runner.Stop(ctx)
	}
	if k.tasks != nil {
		if end := k.tasks.Stop(ctx); err == nil {
			err = end
		}
	}
	if end := k.service.hub.stop(ctx); err == nil {
		err = end
	}
	return err
}
