// Package form keeps what people send with forms, and makes sure that it goes
// away: submissions with their files (service.go, expire.go, subject.go), how
// they are processed (process.go) and exported (export.go), and verification
// codes (code.go).
package form

import (
	"embed"
	"encoding/json"
	"log/slog"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/work"
)

//go:embed migrations
var migrations embed.FS

// Spec describes the module.
func Spec() module.Spec {
	return module.Spec{
		Name: "form", Summary: "Form submissions and verification codes.",
		Config: func() any { return Defaults() }, Migrations: module.Sub(migrations, "migrations"),
		Blobs:  []string{"SELECT '" + keyPrefix + "' || id FROM form_file"},
		Events: eventTypes(), Commands: commands(), Wiring: wiring,
	}
}

func eventTypes() []event.Type {
	return []event.Type{{
		Name: eventSubmitted, Doc: "A form was submitted. What people wrote is read with the id, so only those hear of it who may list submissions: it needs ROLE_FORM_CRM or ROLE_ADMIN.",
		Roles:  []string{auth.RoleFormCRM, auth.RoleAdmin},
		Sample: json.RawMessage(`{"submission":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11","form_name":"contact","instance":"website","locale":"en","files":1}`),
		Schema: event.Object("submission string", "form_name string", "instance string", "locale string", "files integer"),
	}, {
		Name: "admin.form.access", Doc: "Somebody read, claimed or deleted a submission; submission is * for a list or an export.",
		Sample: json.RawMessage(`{"submission":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11","what":"read","from":"203.0.113.7"}`),
		Schema: event.Object("submission string", "what string", "from string"),
	}}
}

func wiring() fx.Option {
	return fx.Options(
		fx.Provide(newService),
		module.Operations(operations),
		module.Services(services),
	)
}

func newService(d *db.DB, b blob.Store, bus *event.Bus, c *Config, log *slog.Logger) *Service {
	return New(Options{DB: d, Blobs: b, Bus: bus, Config: c, Log: log.With("module", "form")})
}

func services(s *Service, d *db.DB, log *slog.Logger) ([]module.Service, error) {
	periodic, err := work.NewPeriodic(d, work.PeriodicOptions{Log: log}, s.upkeep()...)
	if err != nil {
		return nil, err
	}
	return []module.Service{{Name: "form-upkeep", Phase: module.PhaseWork, Start: periodic.Start, Stop: periodic.Stop}}, nil
}
