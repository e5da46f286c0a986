package db

import (
	"context"
	"slices"
)

// Newer lists the migrations that the database has and the sources do not: a
// newer version of the program has run on it.
func (d *DB) Newer(ctx context.Context, sources []Source) ([]MigrationState, error) {
	var all []MigrationState
	for _, s := range sources {
		found, err := d.discover(s)
		if err != nil {
			return nil, err
		}
		var known []string
		for _, m := range found.Sorted() {
			known = append(known, m.Name)
		}
		var there int
		if err := d.Row(ctx, tableThere, "migration_"+s.Module).Scan(&there); err != nil || there == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		applied, err := d.appliedNames(ctx, s.Module)
		if err != nil {
			return nil, err
		}
		for _, name := range applied {
			if !slices.Contains(known, name) {
				all = append(all, MigrationState{Module: s.Module, Name: name, Applied: true})
			}
		}
	}
	return all, nil
}

func (d *DB) appliedNames(ctx context.Context, module string) ([]string, error) {
	rows, err := d.Query(ctx, SQL("SELECT name FROM migration_"+module+" ORDER BY name"))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, rows.Err()
}
