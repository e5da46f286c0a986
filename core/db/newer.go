package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/migrate"
)

// contraction is the name of a migration that takes something away, after its
// number: contract_003_drop_label. 003 is the migration of the same module
// that brought what came instead; a program that knows it can do without.
var contraction = regexp.MustCompile(`^contract_(\d{1,14})_`)

// needs gives the migration that a program must know to work after this one;
// empty for one that only adds.
func needs(comment string) string {
	if m := contraction.FindStringSubmatch(comment); m != nil {
		return m[1]
	}
	return ""
}

func kind(contracts bool) string {
	if contracts {
		return "contract"
	}
	return "expand"
}

// The contractions that ran are kept with what they need, so that a program
// that does not have their files knows whether it may go on.
const makeContracts = `CREATE TABLE IF NOT EXISTS schema_contract (
	module TEXT NOT NULL, name TEXT NOT NULL, needs TEXT NOT NULL, version TEXT NOT NULL, PRIMARY KEY (module, name))`

var listContracts = SQL("SELECT module, name, needs, version FROM schema_contract ORDER BY module, name")

// recordContracts writes down the contractions that are about to run: a program
// that is too old must not start beside them.
func (d *DB) recordContracts(ctx context.Context, handle *bun.DB, module string, pending migrate.MigrationSlice) error {
	for _, m := range pending {
		if needs(m.Comment) == "" {
			continue
		}
		if _, err := handle.ExecContext(ctx, makeContracts); err != nil {
			return err
		}
		_, err := handle.ExecContext(ctx, "INSERT INTO schema_contract (module, name, needs, version) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			module, m.Name, needs(m.Comment), d.version)
		if err != nil {
			return err
		}
	}
	return nil
}

// Newer is a migration that the database has and the program does not: a newer
// version has run on it.
type Newer struct {
	Module  string
	Name    string // its number
	Version string // that ran it; empty unless it took something away
	TooNew  bool   // what it took away is something that this program needs
}

// Kind is that of MigrationState.
func (n Newer) Kind() string { return kind(n.Version != "") }

// Newer lists what a newer version did to the database. Modules that the
// sources do not have are none of their business.
func (d *DB) Newer(ctx context.Context, sources []Source) ([]Newer, error) {
	contracts, err := d.contracts(ctx)
	if err != nil {
		return nil, err
	}
	var all []Newer
	for _, s := range sources {
		found, err := d.discover(s)
		if err != nil {
			return nil, err
		}
		var known []string
		for _, m := range found.Sorted() {
			known = append(known, m.Name)
		}
		applied, err := d.appliedNames(ctx, s.Module)
		if err != nil {
			return nil, err
		}
		for _, c := range contracts { // also one that was broken off
			if c.module == s.Module && !slices.Contains(applied, c.name) {
				applied = append(applied, c.name)
			}
		}
		for _, name := range applied {
			if slices.Contains(known, name) {
				continue
			}
			n := Newer{Module: s.Module, Name: name}
			for _, c := range contracts {
				if c.module == s.Module && c.name == name {
					n.Version, n.TooNew = c.version, !slices.Contains(known, c.needs)
				}
			}
			all = append(all, n)
		}
	}
	return all, nil
}

// Compatible refuses a database from which a newer version took something that
// this program needs. One to which a newer version only added is fine.
func (d *DB) Compatible(ctx context.Context, sources []Source) error {
	newer, err := d.Newer(ctx, sources)
	if err != nil {
		return err
	}
	for _, n := range newer {
		if n.TooNew {
			return n.refusal(d.version)
		}
	}
	return nil
}

// ErrTooNew tells that the program is too old for the database.
var ErrTooNew = errors.New("the database is too new for this program")

func (n Newer) refusal(version string) error {
	return fmt.Errorf("%w: quoin %s has removed what quoin %s needs (migration %s of %s). Run quoin %s or a newer one; to go back, restore a backup from before that upgrade into an empty database",
		ErrTooNew, n.Version, version, n.Name, n.Module, n.Version)
}

type contract struct{ module, name, needs, version string }

func (d *DB) contracts(ctx context.Context) ([]contract, error) {
	var there int
	if err := d.Row(ctx, tableThere, "schema_contract").Scan(&there); err != nil || there == 0 {
		return nil, err
	}
	rows, err := d.Query(ctx, listContracts)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []contract
	for rows.Next() {
		var c contract
		if err := rows.Scan(&c.module, &c.name, &c.needs, &c.version); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

func (d *DB) appliedNames(ctx context.Context, module string) ([]string, error) {
	var there int
	if err := d.Row(ctx, tableThere, "migration_"+module).Scan(&there); err != nil || there == 0 {
		return nil, err
	}
	return All(ctx, d, Value[string], SQL("SELECT name FROM migration_"+module+" ORDER BY name"))
}
