// Package user holds the accounts, signs people and programs in, and checks
// their tokens.
package user

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return module.Spec{
		Name: "user", Summary: "Accounts, sign-in and tokens.",
		Config:     func() any { return Defaults() },
		Migrations: files, Commands: Commands(), Events: eventTypes(), Wiring: wiring,
	}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(func(d *db.DB, bus *event.Bus, c *Config, log *slog.Logger) *Service {
			return New(Options{DB: d, Bus: bus, Config: c, Log: log.With("module", "user")})
		}),
		module.Offer[auth.Authenticator](func(s *Service) *Authenticator { return s.authn }),
		module.Offer[port.Identities](func(s *Service) *Service { return s }),
		module.Offer[port.Profiles](func(s *Service) *Service { return s }),
		module.Operations(Operations),
		module.Services(services),
		module.Entities(func(s *Service) []port.Entity { return []port.Entity{NewEntity(s)} }),
	)
}

func services(s *Service, w *module.Welcome) []module.Service {
	k := &keeper{service: s}
	admin := func(ctx context.Context) error {
		return s.ensureAdmin(ctx, func(username, generated string) {
			w.Created(username, generated)
			w.Say(howToSignIn(username, generated))
		})
	}
	return []module.Service{
		{Name: "user-admin", Phase: module.PhaseData, Start: admin},
		{Name: "user-tokens", Phase: module.PhaseWork, Start: k.start, Stop: k.stop},
	}
}
