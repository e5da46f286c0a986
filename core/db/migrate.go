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
//
// A migration only adds what programs that do not know of it need not know:
// tables, columns that may be empty or have a default, indexes. What takes
// something away or changes what is there waits for the release after the one
// that stopped using it, in a file of its own named after the migration that
// brought what came instead: 005_contract_003_drop_label.tx.up.sql refuses
// programs that do not know 003.
type Source struct {
	Module string
	Files  fs.FS
}

// MigrationState is one migration as `quoin migrate status` shows it.
type MigrationState struct {
	Module    string    `json:"module"`
	Name      string    `json:"name"`
	Kind      string    `json:"kind"` // expand, or contract when it takes something away
	Applied   bool      `json:"applied"`
	AppliedAt time.Time `json:"applied_at,omitzero"`
}

// tableThere counts the tables of a name: 0 or 1.
var tableThere = Dual(
	"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?",
	"SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass(?::text)")

// Migrations lists every migration of the sources in the order they run. It
// only reads, so that it is quick at every start and needs no right to create.
func (d *DB) Migrations(ctx context.Context, sources []Source) ([]MigrationState, error) {
	var all []MigrationState
	for _, s := range sources {
		list, err := d.migrationsOf(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("migrations of %s: %w", s.Module, err)
		}
		for _, x := range list {
			all = append(all, stateOf(s.Module, x))
		}
	}
	return all, nil
}

func stateOf(module string, m migrate.Migration) MigrationState {
	return MigrationState{Module: module, Name: m.Name + "_" + m.Comment, Kind: kind(needs(m.Comment) != ""), Applied: m.IsApplied(), AppliedAt: m.MigratedAt}
}

func (d *DB) migrationsOf(ctx context.Context, s Source) (migrate.MigrationSlice, error) {
	found, err := d.discover(s)
	if err != nil {
		return nil, err
	}
	m := migrator(d.bun, s, found)
	var there int
	if err := d.backend.row(ctx, tableThere, []any{"migration_" + s.Module}).Scan(&there); err != nil {
		return nil, err
	}
	if there == 0 { // the first migration makes the table
		return found.Sorted(), nil
	}
	return m.MigrationsWithStatus(ctx)
}

func (d *DB) discover(s Source) (*migrate.Migrations, error) {
	sub, err := fs.Sub(s.Files, string(d.dialect))
	if err != nil {
		return nil, err
	}
	found := migrate.NewMigrations()
	return found, found.Discover(sub)
}

// migrator gives the migrator of one module. Every module has its own table,
// so that the numbers of two modules' files cannot collide.
func migrator(handle *bun.DB, s Source, found *migrate.Migrations) *migrate.Migrator {
	return migrate.NewMigrator(handle, found, migrate.WithMarkAppliedOnSuccess(true),
		migrate.WithTableName("migration_"+s.Module), migrate.WithLocksTableName("migration_"+s.Module+"_lock"))
}

// Migrate runs what has not run yet, under a lock that one process at a time
// can hold, and tells what it ran. It waits for the lock until ctx ends.
func (d *DB) Migrate(ctx context.Context, sources []Source) ([]MigrationState, error) {
	release, err := d.waitLock(ctx, "migrate")
	if err != nil {
		return nil, err
	}
	defer release()
	var dialect schema.Dialect = sqlitedialect.New()
	if d.dialect == Postgres {
		dialect = pgdialect.New()
	}
	handle := bun.NewDB(d.backend.migration(), dialect)
	defer func() { _ = handle.Close() }()
	if err := d.Compatible(ctx, sources); err != nil {
		return nil, err
	}
	var ran []MigrationState
	for _, s := range sources {
		group, err := d.migrateOne(ctx, handle, s)
		if err != nil {
			return ran, fmt.Errorf("migrations of %s: %w", s.Module, err)
		}
		for _, x := range group.Migrations {
			state := stateOf(s.Module, x)
			state.Applied = true
			ran = append(ran, state)
		}
	}
	return ran, nil
}

func (d *DB) migrateOne(ctx context.Context, handle *bun.DB, s Source) (*migrate.MigrationGroup, error) {
	found, err := d.discover(s)
	if err != nil {
		return nil, err
	}
	m := migrator(handle, s, found)
	if err := m.Init(ctx); err != nil {
		return nil, err
	}
	all, err := m.MigrationsWithStatus(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.recordContracts(ctx, handle, s.Module, all.Unapplied()); err != nil {
		return nil, err
	}
	return m.Migrate(ctx)
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
