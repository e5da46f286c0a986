package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/migrate"
	"github.com/uptrace/bun/schema"
)

// Source is the migrations of one module: folders sqlite and postgres with
// files such as 001_init.tx.up.sql. Forward only; a file that has run must
// never change.
type Source struct {
	Module string
	Files  fs.FS
}

// MigrationState is one migration as `quoin migrate status` shows it.
type MigrationState struct {
	Module    string    `json:"module"`
	Name      string    `json:"name"`
	Applied   bool      `json:"applied"`
	AppliedAt time.Time `json:"applied_at,omitzero"`
}

// Migrations lists every migration of the sources in the order they run.
func (d *DB) Migrations(ctx context.Context, sources []Source) ([]MigrationState, error) {
	var all []MigrationState
	err := d.eachMigrator(ctx, sources, func(module string, m *migrate.Migrator) error {
		list, err := m.MigrationsWithStatus(ctx)
		for _, x := range list {
			all = append(all, MigrationState{module, x.Name + "_" + x.Comment, x.IsApplied(), x.MigratedAt})
		}
		return err
	})
	return all, err
}

// Migrate runs what has not run yet, under a lock that one process at a time
// can hold, and tells what it ran. It waits for the lock until ctx ends.
func (d *DB) Migrate(ctx context.Context, sources []Source) ([]MigrationState, error) {
	release, err := d.waitLock(ctx, "migrate")
	if err != nil {
		return nil, err
	}
	defer release()
	var ran []MigrationState
	err = d.eachMigrator(ctx, sources, func(module string, m *migrate.Migrator) error {
		group, err := m.Migrate(ctx)
		if err != nil {
			return err
		}
		for _, x := range group.Migrations {
			ran = append(ran, MigrationState{module, x.Name + "_" + x.Comment, true, x.MigratedAt})
		}
		return nil
	})
	return ran, err
}

// Every module has its own table, so that the numbers of two modules' files
// cannot collide.
func (d *DB) eachMigrator(ctx context.Context, sources []Source, fn func(string, *migrate.Migrator) error) error {
	var dialect schema.Dialect = sqlitedialect.New()
	if d.dialect == Postgres {
		dialect = pgdialect.New()
	}
	handle := bun.NewDB(d.backend.migration(), dialect)
	defer func() { _ = handle.Close() }()
	for _, s := range sources {
		sub, err := fs.Sub(s.Files, string(d.dialect))
		if err != nil {
			return err
		}
		found := migrate.NewMigrations()
		if err := found.Discover(sub); err != nil {
			return fmt.Errorf("migrations of %s: %w", s.Module, err)
		}
		m := migrate.NewMigrator(handle, found, migrate.WithMarkAppliedOnSuccess(true),
			migrate.WithTableName("migration_"+s.Module), migrate.WithLocksTableName("migration_"+s.Module+"_lock"))
		if err := m.Init(ctx); err != nil {
			return fmt.Errorf("migrations of %s: %w", s.Module, err)
		}
		if err := fn(s.Module, m); err != nil {
			return fmt.Errorf("migrations of %s: %w", s.Module, err)
		}
	}
	return nil
}

// Pending lists what Migrate would run.
func (d *DB) Pending(ctx context.Context, sources []Source) ([]MigrationState, error) {
	all, err := d.Migrations(ctx, sources)
	return slices.DeleteFunc(all, func(m MigrationState) bool { return m.Applied }), err
}

func (d *DB) waitLock(ctx context.Context, name string) (func(), error) {
	for {
		release, err := d.Lock(ctx, name)
		if !errors.Is(err, ErrLocked) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another process is migrating this database: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
