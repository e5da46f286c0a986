package db

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/quoin-cms/quoin/core/problem"
)

// connectionWithin is how long one may wait for a connection of the pool.
const connectionWithin = 10 * time.Second

// impatient makes connections that fail once the server has been silent for a
// time while an answer is awaited: a server that hangs, or a network that has
// swallowed it, would otherwise hold every request for ever. A deadline in the
// context would not do, for it would end long streams of rows as well.
func impatient(dial pgconn.DialFunc, within time.Duration) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &listening{Conn: conn, within: within}, nil
	}
}

// listening bounds each Read and each Write, but for what its user bounds.
type listening struct {
	net.Conn
	within time.Duration

	mu      sync.Mutex
	bounded bool // by its user, who ends statements with it
}

// SetDeadline implements net.Conn.
func (c *listening) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bounded = !t.IsZero()
	return c.Conn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *listening) Read(p []byte) (int, error) {
	if err := c.bound(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c *listening) Write(p []byte) (int, error) {
	if err := c.bound(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *listening) bound(set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bounded {
		return nil
	}
	return set(time.Now().Add(c.within))
}

// soon gets a connection, unless that takes too long: then all are in use, or
// the server does not let anybody in.
func soon[T any](ctx context.Context, get func(context.Context) (T, error)) (T, error) {
	within, cancel := context.WithTimeout(ctx, connectionWithin)
	defer cancel()
	conn, err := get(within)
	if err != nil && errors.Is(within.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		p := problem.Wrap(err, problem.Unavailable, "no connection to the database is free at the moment: try again").WithCode("database_unavailable")
		p.RetryAfter = comeBack
		err = p
	}
	return conn, err
}
