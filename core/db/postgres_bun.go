package db

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// bunHandle is a database/sql view of connections of pgx for Bun. Bun writes arguments
// into the text of its queries, so each text is new: they must not be
// prepared, or they would push the real prepared statements out of the cache.
func bunHandle(connections driver.Connector) *sql.DB {
	db := sql.OpenDB(bunConnector{connections})
	db.SetMaxIdleConns(0) // a pool below keeps the connections
	return db
}

type bunConnector struct{ driver.Connector }

func (c bunConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := soon(ctx, c.Connector.Connect)
	if err != nil {
		return nil, err
	}
	return bunConn{conn.(*stdlib.Conn)}, nil
}

// bunConn runs every text unprepared.
type bunConn struct{ *stdlib.Conn }

func (c bunConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, text, unprepared(args))
}

func (c bunConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, text, unprepared(args))
}

func unprepared(args []driver.NamedValue) []driver.NamedValue {
	mode := pgx.QueryExecModeExec
	if len(args) == 0 {
		mode = pgx.QueryExecModeSimpleProtocol // migrations hold several statements
	}
	return append([]driver.NamedValue{{Ordinal: 1, Value: mode}}, args...)
}
