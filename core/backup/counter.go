package backup

import (
	"context"
	"errors"
	"slices"

	"github.com/quoin-cms/quoin/core/db"
)

// Rows are numbered by the table itself, or on PostgreSQL by a sequence named
// after it (db.Sequence). A number is never given twice, also when its row is
// gone, so a restored table goes on behind the largest that ever was.
var (
	counterOf = db.Dual(
		`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)`,
		`SELECT coalesce((SELECT coalesce(last_value, 0) + increment_by FROM pg_sequences WHERE schemaname = current_schema() AND sequencename = ?), 0)`)
	sequenceOf    = db.Dual(`SELECT ''`, `SELECT coalesce((SELECT c.relname::text FROM pg_class c WHERE c.oid = coalesce(pg_get_serial_sequence(?, ?)::regclass, to_regclass(?::text || '_id'))), '')`)
	setSequence   = db.Dual(`SELECT 1`, `SELECT setval(?::text::regclass, ?::bigint)`)
	numbersItself = db.Dual(`SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'`, `SELECT 0`)
	raiseCounter  = db.Dual(`UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?`, `SELECT 1`)
	beginCounter  = db.Dual(`INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)`, `SELECT 1`)
)

// counter gives Table.Counter.
func counter(ctx context.Context, d *db.DB, table string, all []column) (n int64, err error) {
	i := slices.IndexFunc(all, column.number)
	if i < 0 {
		return 0, nil
	}
	name := table
	if d.Dialect() == db.Postgres {
		if err := d.Row(ctx, sequenceOf, table, all[i].name, table).Scan(&name); err != nil {
			return 0, err
		}
	}
	if err := d.Row(ctx, counterOf, name).Scan(&n); err != nil {
		return 0, err
	}
	largest, err := maximum(ctx, d, table, all[i].name)
	return max(n, largest), err
}

func maximum(ctx context.Context, d *db.DB, table, column string) (n int64, err error) {
	err = d.Row(ctx, db.SQL("SELECT coalesce(max("+quote(column)+"), 0) FROM "+quote(table))).Scan(&n)
	return n, err
}

// count makes a restored table go on numbering behind n.
func count(ctx context.Context, d *db.DB, table string, all []column, n int64) error {
	i := slices.IndexFunc(all, column.number)
	if i < 0 || n == 0 {
		return nil
	}
	if d.Dialect() == db.SQLite {
		return countSQLite(ctx, d, table, n)
	}
	var sequence string
	err := d.Row(ctx, sequenceOf, table, all[i].name, table).Scan(&sequence)
	if err != nil || sequence == "" {
		return err
	}
	var now int64
	return d.Row(ctx, setSequence, sequence, n).Scan(&now)
}

func countSQLite(ctx context.Context, d *db.DB, table string, n int64) error {
	var has int
	if err := d.Row(ctx, numbersItself, table).Scan(&has); err != nil || has == 0 {
		return err // it takes the largest there is
	}
	changed, err := d.Exec(ctx, raiseCounter, n, table)
	if err == nil && changed == 0 {
		_, err = d.Exec(ctx, beginCounter, n, table)
	}
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	return err
}
