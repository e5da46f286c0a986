package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/quoin-cms/quoin/core/problem"
)

const (
	// connectWithin is how long a new connection may take.
	connectWithin = 5 * time.Second
	// comeBack is when a client should try again after an outage.
	comeBack = 2 * time.Second
)

// reach makes a problem of the kind Unavailable of an error that tells that
// PostgreSQL is away, stops or starts; other errors stay as they are. Whether
// a transaction whose commit fails so has happened is not known.
func reach(err error) error {
	if err == nil || !away(err) {
		return err
	}
	var told *problem.Problem
	if errors.As(err, &told) {
		return err
	}
	p := problem.Wrap(err, problem.Unavailable, "the database cannot be reached at the moment: try again").WithCode("database_unavailable")
	p.RetryAfter = comeBack
	return p
}

// awayCodes are errors of a server that stops, starts, has no room for another
// connection, or has become a standby (PostgreSQL, appendix A).
var awayCodes = []string{"57P01", "57P02", "57P03", "57P05", "53300", "25006"}

func away(err error) bool {
	if errors.Is(err, context.Canceled) { // the client has gone
		return false
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return slices.Contains(awayCodes, server.Code) || server.Code[:min(2, len(server.Code))] == "08"
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn)
}

// pgRows tell of an outage between two rows, and give their connection back.
type pgRows struct {
	pgx.Rows
	conn *pgxpool.Conn
}

func (r pgRows) Close() {
	r.Rows.Close()
	r.conn.Release()
}

func (r pgRows) Err() error { return reach(r.Rows.Err()) }
