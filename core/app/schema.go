package app

import (
	"context"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// schemaGoodFor is for how long the database is believed to fit the program.
const schemaGoodFor = 5 * time.Second

// schema is the check of /readyz that the database fits this program: nothing
// is pending, and no newer version has taken away what this one needs.
type schema struct {
	app  *App
	good time.Time // until when it needs no other look
}

// check is never called twice at the same time.
func (s *schema) check(ctx context.Context) error {
	if time.Now().Before(s.good) {
		return nil
	}
	pending, err := s.app.DB.Pending(ctx, s.app.Sources())
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		return fmt.Errorf("%d migrations are pending: run quoin migrate up", len(pending))
	}
	if err := s.app.DB.Compatible(ctx, s.app.Sources()); err != nil {
		return err
	}
	s.good = time.Now().Add(schemaGoodFor)
	return nil
}

// MigrationStatus lists the migrations of the program, then those of a newer
// one that the database has.
func (a *App) MigrationStatus(ctx context.Context) ([]db.MigrationState, error) {
	all, err := a.DB.Migrations(ctx, a.Sources())
	if err != nil {
		return nil, err
	}
	newer, err := a.DB.Newer(ctx, a.Sources())
	for _, n := range newer {
		all = append(all, db.MigrationState{Module: n.Module, Name: n.Name + " (of a newer version)", Kind: n.Kind(), Applied: true})
	}
	return all, err
}
