package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name:    "search",
		Summary: "Search over the published documents.",
		Needs:   []string{"content"},
		Config:  func() any { return defaults() },
		Wiring:  wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newEmbedded, newService, newRunner, fx.Private),
		module.Offer[port.Refresher](func(ix *Indexer) *Indexer { return ix }),
		module.Operations(operations),
		module.Live(subscription),
		module.Subscribe(others),
		module.Services(func(r *runner) []module.Service {
			return []module.Service{{Name: "search", Phase: module.PhaseData, Start: r.start, Stop: r.stop}}
		}),
		module.Checks(func(ix *Indexer) []telemetry.Check { return []telemetry.Check{{Name: "search", Run: ix.health}} }),
	)
}

// newEmbedded makes the engine that lives in this process. It finds sources in
// the content store.
func newEmbedded(d *db.DB, bus *event.Bus, docs port.Documents, types port.ContentTypes, cfg *Config, log *slog.Logger) *Indexer {
	ix := newIndexer(docs, types, cfg, log)
	ix.engine = embedded.New(ix.sources)
	if d.Dialect() == db.Postgres { // see others
		ix.heard = bus.Known()
	}
	return ix
}

func newService(ix *Indexer, types port.ContentTypes, cfg *Config, log *slog.Logger) *Service {
	return &Service{engine: ix.engine, index: ix, scrolls: ix.scrolls, analyzing: make(chan struct{}, atOnce), types: types, cfg: cfg, log: log}
}

// runner starts and stops the indexer.
type runner struct {
	index   *Indexer
	db      *db.DB
	release func()
}

func newRunner(ix *Indexer, d *db.DB) *runner { return &runner{index: ix, db: d} }

// start makes this process the one that holds the index. SQLite has one
// process in any case.
func (r *runner) start(ctx context.Context) error {
	if r.db.Dialect() == db.Postgres {
		release, err := r.db.Lock(ctx, "search-embedded")
		if errors.Is(err, db.ErrLocked) {
			return errors.New("the embedded search engine belongs to one process; another one is running on this database: stop it, " +
				"or set modules.search.enabled=false on this replica (it then answers no searches, and what it writes is found through the other one)")
		}
		if err != nil {
			return fmt.Errorf("the lock of the search engine: %w", err)
		}
		r.release = release
	}
	r.index.start(ctx)
	return nil
}

func (r *runner) stop(context.Context) error {
	r.index.stop()
	if r.release != nil {
		r.release()
	}
	return nil
}

// others listens to what other processes on the same database write, which
// only PostgreSQL can have.
func others(ix *Indexer, d *db.DB) []event.Subscription {
	if d.Dialect() != db.Postgres {
		return nil
	}
	return []event.Subscription{{Name: "search", Patterns: patterns(), Batch: 256, Elsewhere: true, Handle: ix.handle}}
}
