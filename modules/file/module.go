package file

import (
	"context"
	"embed"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name:       "file",
		Summary:    "Files under the hash of their bytes: upload, download, and care.",
		Config:     func() any { return defaults() },
		Migrations: module.Sub(migrations, "migrations"),
		Passing:    []string{"file_upload", "file_client"},
		Blobs:      []string{"SELECT hash FROM file_object WHERE removing_at = 0"},
		Commands:   commands(),
		Wiring:     wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newService),
		module.Offer[port.Files](func(s *Service) files { return files{s} }),
		module.Operations(operations),
		module.Services(func(s *Service) []module.Service {
			k := &keeper{service: s}
			return []module.Service{{Name: "file", Phase: module.PhaseWork, Start: k.start, Stop: k.stop}}
		}),
	)
}

func newService(d *db.DB, b blob.Store, c *Config, h module.FileHolderList, log *slog.Logger) (*Service, error) {
	return New(Options{DB: d, Blobs: b, Config: c, Holders: h.Holders, Log: log.With("module", "file")})
}

// start is called once before requests come in.
func (k *keeper) start(ctx context.Context) error {
	s := k.service
	if err := s.blobs.Check(ctx); err != nil {
		s.log.WarnContext(ctx, "the storage of files cannot be used now", "storage", s.blobs.String(), "error", err)
	}
	return k.run(ctx)
}
