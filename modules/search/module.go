package search

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/search/embedded"
	"github.com/quoin-cms/quoin/core/search/typesense"
	"github.com/quoin-cms/quoin/core/telemetry"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name:       "search",
		Summary:    "Search over the published documents.",
		Needs:      []string{"content"},
		Config:     func() any { return defaults() },
		Migrations: module.Sub(migrations, "migrations"),
		Passing:    []string{"search_request"},
		Commands:   commands(),
		Wiring:     wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newEngine, newRunner, fx.Private),
		fx.Provide(newService), // commands run with it
		module.Offer[port.Refresher](func(ix *Indexer) *Indexer { return ix }),
		module.Offer[port.Finder](func(s *Service) *Service { return s }),
		module.Offer[port.Searcher](func(s *Service) *Service { return s }),
		module.Operations(operations),
		module.Live(subscription),
		module.Subscribe(others),
		module.Services(func(r *runner) []module.Service {
			return []module.Service{{Name: "search", Phase: module.PhaseData, Start: r.start, Stop: r.stop}}
		}),
		module.Diagnoses(diagnoses),
		module.Gauges(gauges),
		module.Checks(func(ix *Indexer) []telemetry.Check { return []telemetry.Check{{Name: "search", Run: ix.health}} }),
	)
}

// newEngine makes the engine that the configuration asks for: the one that lives
// in this process and finds sources in the content store, or one on a server.
func newEngine(d *db.DB, bus *event.Bus, docs port.Documents, types port.ContentTypes, names port.Indexes, data module.Data, cfg *Config, log *slog.Logger) (*Indexer, error) {
	ix := newIndexer(docs, types, names, cfg, log)
	ix.away = &requests{store: store{d}, log: log}
	if cfg.Engine == engineTypesense {
		e, err := typesense.New(typesense.Options{URLs: strings.Split(cfg.URL, ","), Key: string(cfg.Key), Prefix: cfg.Prefix, Log: log})
		if err != nil {
			return nil, fmt.Errorf("search.url: %w", err)
		}
		ix.engine, ix.server, ix.bus, ix.heard = e, e, bus, bus.Known()
		return ix, nil
	}
	e := embedded.Open(ix.sources, embedded.Options{Dir: filepath.Join(data.Folder, "search"), Log: log})
	ix.engine, ix.keeper = e, e
	if d.Dialect() == db.Postgres { // see others
		ix.heard = bus.Known()
	}
	return ix, nil
}

func newService(ix *Indexer, types port.ContentTypes, cfg *Config, i module.Instance, log *slog.Logger) *Service {
	return &Service{engine: ix.engine, instance: i.ID, index: ix, scrolls: ix.scrolls, ids: newScrollIDs(cfg, i.ID), analyzing: make(chan struct{}, atOnce), types: types, cfg: cfg, log: log}
}

// runner starts and stops the indexer.
type runner struct {
	index   *Indexer
	service *Service
	db      *db.DB
	release func()
	end     context.CancelFunc
	serving sync.WaitGroup
}

func newRunner(ix *Indexer, s *Service, d *db.DB) *runner {
	return &runner{index: ix, service: s, db: d}
}

// start makes this process the one that holds the index. SQLite has one
// process in any case.
func (r *runner) start(ctx context.Context) error {
	if r.index.server != nil {
		r.index.startShared(ctx, r.db, r.service.perform)
		return nil
	}
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
	r.index.clean(ctx)
	r.index.start(ctx)
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	r.end = end
	r.serving.Go(func() { r.index.away.serve(serving, r.service.perform) })
	r.serving.Go(func() { r.index.watch(serving) })
	return nil
}

func (r *runner) stop(context.Context) error {
	if r.end != nil {
		r.end()
		r.serving.Wait()
	}
	r.index.stop()
	if r.release != nil {
		r.release()
	}
	return nil
}

// others listens to what other processes on the same database write, which
// only PostgreSQL can have.
func others(ix *Indexer, d *db.DB) []event.Subscription {
	if ix.server != nil {
		return shared(ix)
	}
	if d.Dialect() != db.Postgres {
		return nil
	}
	return []event.Subscription{{Name: "search", Patterns: patterns(), Batch: 256, Elsewhere: true, Handle: ix.handle}}
}
