package db

import (
	"context"
	"encoding/json"
	"errors"
)

// All gives every row that a statement answers, each made by scan, in their
// order; nil when there are none.
func All[T any](ctx context.Context, d *DB, scan func(row Row) (T, error), s *Statement, args ...any) ([]T, error) {
	rows, err := d.Query(ctx, s, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// Value scans a row of one column, for All.
func Value[T any](row Row) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// Found makes nil, without an error, of a row that is not there.
func Found[T any](v *T, err error) (*T, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return v, err
}

// List writes strings as the JSON array of a column.
func List(list []string) string {
	if list == nil {
		return "[]"
	}
	b, _ := json.Marshal(list) // strings always marshal
	return string(b)
}
