package app

import (
	"context"
	"errors"
	"slices"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// Work opens, migrates and assembles like Serve, but runs only the services
// that work beside servers, until ctx ends. It needs PostgreSQL.
func Work(ctx context.Context, c *Config, o Options, ready func(a *App)) (err error) {
	a, err := Open(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if a.DB.Dialect() == db.SQLite {
		return errors.New("a worker apart needs PostgreSQL (QUOIN_DATABASE_URL): an embedded database belongs to one process, and its server runs the commands itself")
	}
	stopMetrics, err := a.serveMetrics(ctx)
	if err != nil {
		return err
	}
	defer stopMetrics()
	if err := a.Migrate(ctx); err != nil {
		return err
	}
	if err := a.Assemble(o.Version); err != nil {
		return err
	}
	a.services = slices.DeleteFunc(a.services, func(s module.Service) bool { return !s.Worker })
	if len(a.services) == 0 {
		return errors.New("no enabled module has work for a worker (modules.job.enabled)")
	}
	err = a.startServices(ctx)
	if err == nil {
		a.Checks.SetState(telemetry.Ready)
		ready(a)
		<-ctx.Done()
	} else if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // told to stop before it was ready
	}
	a.Checks.SetState(telemetry.Draining)
	close(a.stopping)
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Server.StopWithin)
	defer cancel()
	return errors.Join(err, a.Stop(within))
}
