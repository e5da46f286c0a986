package db

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// Snapshot runs fn with a context in which every read sees the database as it
// was at one moment, whatever others write meanwhile. Writing in it is an
// error. It holds one connection, and on SQLite it keeps the write-ahead log
// from being cut, so that it should not take longer than it must.
func (d *DB) Snapshot(ctx context.Context, fn func(context.Context) error) error {
	return d.backend.snapshot(ctx, d, fn)
}

var errReadOnly = errors.New("db: write in a snapshot")

// readOnly refuses what a snapshot cannot do.
type readOnly struct{}

func (readOnly) exec(context.Context, *Statement, []any) (int64, error) { return 0, errReadOnly }
func (readOnly) queue(context.Context, *Statement, []any) error         { return errReadOnly }
func (readOnly) bun(context.Context) (bun.IDB, error) {
	return nil, errors.New("db: a snapshot has no Bun handle")
}

// pgSnapshot reads in a transaction of isolation REPEATABLE READ.
type pgSnapshot struct {
	readOnly
	tx pgx.Tx
}

func (p *postgres) snapshot(ctx context.Context, d *DB, fn func(context.Context) error) error {
	t, err := soon(ctx, func(ctx context.Context) (pgx.Tx, error) {
		return p.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	})
	if err != nil {
		return err
	}
	err = protect(context.WithValue(ctx, txKey{}, &tx{session: pgSnapshot{tx: t}, owner: d}), fn)
	return and(err, t.Rollback(context.WithoutCancel(ctx)))
}

func (s pgSnapshot) query(ctx context.Context, st *Statement, args []any) (Rows, error) {
	return s.tx.Query(ctx, st.postgres, args...)
}

func (s pgSnapshot) row(ctx context.Context, st *Statement, args []any) Row {
	return pgRow{s.tx.QueryRow(ctx, st.postgres, args...)}
}

func (s pgSnapshot) each(ctx context.Context, st *Statement, args [][]any, fn func(int, Rows) error) error {
	return eachOneByOne(ctx, s, st, args, fn)
}

// liteSnapshot reads in a transaction on one of the readers.
type liteSnapshot struct {
	readOnly
	conn *sql.Conn
}

func (l *lite) snapshot(ctx context.Context, d *DB, fn func(context.Context) error) (err error) {
	conn, err := l.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = and(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err = protect(context.WithValue(ctx, txKey{}, &tx{session: liteSnapshot{conn: conn}, owner: d}), fn)
	_, end := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return and(err, end)
}

func (s liteSnapshot) query(ctx context.Context, st *Statement, args []any) (Rows, error) {
	rows, err := s.conn.QueryContext(context.WithoutCancel(ctx), st.sqlite, args...) //nolint:rowserrcheck // the caller asks liteRows
	if err != nil {
		return nil, err
	}
	return liteRows{rows, ctx}, nil
}

func (s liteSnapshot) row(ctx context.Context, st *Statement, args []any) Row {
	return liteRow{s.conn.QueryRowContext(context.WithoutCancel(ctx), st.sqlite, args...)}
}

func (s liteSnapshot) each(ctx context.Context, st *Statement, args [][]any, fn func(int, Rows) error) error {
	return eachOneByOne(ctx, s, st, args, fn)
}
