package job

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/work"
)

// Sources are the migrations that the tests need.
func Sources() []db.Source {
	return []db.Source{work.Migrations(), event.Migrations(), {Module: "job", Files: Spec().Migrations}}
}

// Defaults is the configuration of an installation that says nothing.
func Defaults() *Config { return defaults() }

// Operations are the module's endpoints.
func Operations(s *Service) []web.Operation { return operations(s) }

// Entities are the module's configuration entities.
func Entities(s *Service) []port.Entity { return []port.Entity{entity{s}, scheduleEntity{s}} }

// Background are the module's services.
func Background(s *Service) module.Service { return services(s)[0] }

// Claims tries to take one job of the server, as a process would that is
// killed at once.
func Claims(ctx context.Context, s *Service) (*Claim, error) {
	return s.claim(ctx, serverQueue, 0, serverLease)
}

// After is when a schedule is due next.
func (x *Schedule) After(now time.Time) (time.Time, error) { return x.after(now) }
