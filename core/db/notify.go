package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// Notify tells every process that listens on the channel. It is a hint: it
// may be lost, and nothing may depend on it. On SQLite, whose only process
// needs no telling, it does nothing.
//
// It is refused inside a transaction: PostgreSQL commits transactions that
// notify one after the other, which costs all others their speed.
func (d *DB) Notify(ctx context.Context, channel, payload string) error {
	if InTransaction(ctx) {
		return errors.New("db: Notify inside a transaction")
	}
	p, ok := d.backend.(*postgres)
	if !ok {
		return nil
	}
	_, err := p.pool.Exec(ctx, "SELECT pg_notify($1, $2)", channel, payload)
	return err
}

// Listen calls fn for each notification on the channel until ctx ends (then
// the error is ctx's) or the connection, one of its own, breaks. fn is also
// called once with an empty payload as soon as it listens, because what was
// told before is not repeated. On SQLite it returns nil at once.
func (d *DB) Listen(ctx context.Context, channel string, fn func(payload string)) error {
	p, ok := d.backend.(*postgres)
	if !ok {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, p.alone)
	if err != nil {
		return err
	}
	defer func() {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(within)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	fn("")
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		fn(n.Payload)
	}
}

// Follow listens until ctx ends, again after each failure, of which failed is
// told. On SQLite it returns at once.
func (d *DB) Follow(ctx context.Context, channel string, fn func(payload string), failed func(err error)) {
	for d.Dialect() == Postgres {
		err := d.Listen(ctx, channel, fn)
		if ctx.Err() != nil {
			return
		}
		failed(err)
		select {
		case <-ctx.Done():
		case <-time.After(5*time.Second + rand.N(5*time.Second)):
		}
	}
}
