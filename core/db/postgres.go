package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// postgres is the PostgreSQL backend: one pgx pool, used natively for prepared
// statements and through database/sql for Bun.
type postgres struct {
	pool  *pgxpool.Pool
	alone *pgx.ConnConfig // for connections outside the pool, which may wait for long
	sqldb *sql.DB
	bundb *bun.DB
	owner *DB
}

func openPostgres(ctx context.Context, c Config) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, errors.New("database url: it is not a valid postgres:// URL") // the cause may hold the password
	}
	if c.MaxConns > 0 {
		cfg.MaxConns = int32(min(c.MaxConns, 1000))
	} else {
		cfg.MaxConns = max(cfg.MaxConns, 16)
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectWithin
	}
	introduce(cfg.ConnConfig.RuntimeParams, c.Version)
	alone := cfg.ConnConfig.Copy()
	if c.AnswerWithin > 0 {
		cfg.ConnConfig.DialFunc = impatient(cfg.ConnConfig.DialFunc, c.AnswerWithin)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("the database does not answer: %w", err)
	}
	p := &postgres{pool: pool, alone: alone, sqldb: bunHandle(stdlib.GetPoolConnector(pool))}
	p.bundb = bunOver(p.sqldb, pgdialect.New(), systemPostgres, c.Traced)
	d := &DB{dialect: Postgres, backend: p, bun: p.bundb}
	p.owner = d
	return d, nil
}

func (p *postgres) query(ctx context.Context, s *Statement, args []any) (Rows, error) {
	conn, err := soon(ctx, p.pool.Acquire)
	if err != nil {
		return nil, reach(err)
	}
	rows, err := conn.Query(ctx, s.postgres, args...)
	if err != nil {
		conn.Release()
		return nil, reach(err)
	}
	return pgRows{rows, conn}, nil
}

func (p *postgres) row(ctx context.Context, s *Statement, args []any) Row {
	rows, err := p.query(ctx, s, args)
	if err != nil {
		return failedRow{err}
	}
	return pgRow{oneRow{rows}}
}

func (p *postgres) exec(context.Context, *Statement, []any) (int64, error) {
	return 0, errors.New("db: write outside a transaction")
}

func (p *postgres) queue(context.Context, *Statement, []any) error {
	return errors.New("db: write outside a transaction")
}

func (p *postgres) each(ctx context.Context, s *Statement, args [][]any, fn func(int, Rows) error) error {
	conn, err := soon(ctx, p.pool.Acquire)
	if err != nil {
		return reach(err)
	}
	defer conn.Release()
	return reach(eachOf(ctx, conn.Conn(), s, args, fn))
}

// eachOf sends a statement with each of the arguments at once.
func eachOf(ctx context.Context, conn *pgx.Conn, s *Statement, args [][]any, fn func(int, Rows) error) error {
	b := &pgx.Batch{}
	for _, a := range args {
		b.Queue(s.postgres, a...)
	}
	res := conn.SendBatch(ctx, b)
	for i := range args {
		rows, err := res.Query()
		if err == nil {
			err = fn(i, rows)
			rows.Close()
			err = errors.Join(err, rows.Err())
		}
		if err != nil {
			return errors.Join(err, res.Close())
		}
	}
	return res.Close()
}

func (p *postgres) bun(context.Context) (bun.IDB, error) { return p.bundb, nil }

func (p *postgres) migration() *sql.DB {
	handle := bunHandle(stdlib.GetConnector(*p.alone)) // a change of a large table is silent for long
	handle.SetMaxIdleConns(1)                          // one for all, until it is closed
	return handle
}

// lock holds a session advisory lock on a connection of its own; the server
// drops it when the connection ends.
func (p *postgres) lock(ctx context.Context, name string) (<-chan struct{}, func(), error) {
	h := fnv.New64a()
	_, _ = h.Write([]byte("quoin/" + name))
	conn, err := pgx.ConnectConfig(ctx, p.alone)
	if err != nil {
		return nil, nil, reach(err)
	}
	var got bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(h.Sum64())).Scan(&got); err != nil || !got {
		_ = conn.Close(ctx)
		if err == nil {
			err = ErrLocked
		}
		return nil, nil, err
	}
	lost, ended := make(chan struct{}), make(chan struct{})
	ctx = context.WithoutCancel(ctx)
	holding, end := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		for holding.Err() == nil { // nothing is listened to, so only the end of the connection is heard
			if _, err := conn.WaitForNotification(holding); err != nil && holding.Err() == nil {
				close(lost)
				return
			}
		}
	}()
	return lost, func() {
		end()
		<-ended
		_ = conn.Close(ctx)
	}, nil
}

func (p *postgres) ping(ctx context.Context) error { return p.pool.Ping(ctx) }

func (p *postgres) close() error {
	err := p.sqldb.Close()
	p.pool.Close()
	return err
}

type pgRow struct{ pgx.Row }

func (r pgRow) Scan(dest ...any) error { return notFound(reach(r.Row.Scan(dest...))) }
