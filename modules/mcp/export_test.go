package mcp

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/web"
)

// Sources are the migrations of the module.
func Sources() db.Source {
	return db.Source{Module: "mcp", Files: module.Sub(migrations, "migrations")}
}

// Operations are the endpoints.
func Operations(s *Service) []web.Operation { return operations(s) }

// Live is the subscriber of the module.
func (s *Service) LiveSubscriber() event.Live { return s.changes.live() }

// Sweep deletes what nobody will ask for any more.
func (s *Service) Sweep(ctx context.Context) error { return s.sweep(ctx) }

// InMemory is how many sessions this process holds.
func (s *Service) InMemory() int { return len(s.sessions.list()) }
