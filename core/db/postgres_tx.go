package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"github.com/quoin-cms/quoin/core/problem"
)

// pgTx is a transaction on one connection. BEGIN and the queued statements
// travel with the next statement that needs an answer, or with COMMIT. When no
// statement needs one, they all travel at once and need neither: what is sent
// up to one Sync is a transaction by itself (PostgreSQL's protocol, 55.2.4).
type pgTx struct {
	conn   *pgx.Conn
	handle bun.Conn
	queued *pgx.Batch // a fresh one after each send, for pgx reads it while answers come
	begun  bool
}

const (
	// tries is how often a transaction is begun again that others make impossible.
	tries = 5
	// apart is how long it waits at most before it is begun again, the first
	// time; then twice as long, and so on.
	apart = 20 * time.Millisecond
)

func (p *postgres) inTx(ctx context.Context, fn func(context.Context) error) error {
	for try := 0; ; try++ {
		err := p.transaction(ctx, fn)
		if !collided(err) || ctx.Err() != nil {
			return reach(err)
		}
		if try == tries {
			return busy(err)
		}
		select { // the other is not yet awake, and would find the same again
		case <-ctx.Done():
			return err
		case <-time.After(apart<<try/2 + rand.N(apart<<try/2)):
		}
	}
}

// collided tells of a transaction that PostgreSQL has ended for the sake of
// another: deadlock_detected or serialization_failure (PostgreSQL, 13.5).
func collided(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && (server.Code == "40P01" || server.Code == "40001")
}

func busy(err error) error {
	p := problem.Wrap(err, problem.Unavailable, "others change the same things at the moment: try again").WithCode("database_busy")
	p.RetryAfter = comeBack
	return p
}

func (p *postgres) transaction(ctx context.Context, fn func(context.Context) error) error {
	s := &pgTx{queued: &pgx.Batch{}}
	var err error
	if s.handle, err = p.bundb.Conn(ctx); err != nil {
		return fmt.Errorf("get a database connection: %w", err)
	}
	defer func() { _ = s.handle.Close() }()
	if err := s.handle.Raw(func(c any) error { s.conn = c.(bunConn).Conn.Conn(); return nil }); err != nil {
		return err
	}
	t := &tx{session: s, owner: p.owner}
	if err := protect(context.WithValue(ctx, txKey{}, t), fn); err != nil {
		return and(err, s.rollback(ctx))
	}
	if err := s.commit(ctx); err != nil {
		return err
	}
	for _, f := range t.after {
		f()
	}
	return nil
}

// begin puts BEGIN in front of what is sent first.
func (t *pgTx) begin() {
	if t.begun {
		return
	}
	t.begun = true
	first := &pgx.Batch{}
	first.Queue("BEGIN")
	for _, q := range t.queued.QueuedQueries {
		first.Queue(q.SQL, q.Arguments...)
	}
	t.queued = first
}

// send ships what is queued and one statement more, and leaves the answers of
// the latter to be read.
func (t *pgTx) send(ctx context.Context, text string, args []any) (pgx.BatchResults, error) {
	t.queued.Queue(text, args...)
	n := t.queued.Len()
	res := t.conn.SendBatch(ctx, t.queued)
	t.queued = &pgx.Batch{}
	for range n - 1 {
		if _, err := res.Exec(); err != nil {
			return nil, errors.Join(err, res.Close())
		}
	}
	return res, nil
}

func (t *pgTx) flush(ctx context.Context) error {
	t.begin()
	if t.queued.Len() == 0 {
		return nil
	}
	res := t.conn.SendBatch(ctx, t.queued)
	t.queued = &pgx.Batch{}
	return res.Close() // Close reads all answers and gives the first error
}

func (t *pgTx) query(ctx context.Context, s *Statement, args []any) (Rows, error) {
	t.begin()
	if t.queued.Len() == 0 {
		rows, err := t.conn.Query(ctx, s.postgres, args...)
		return rows, err
	}
	res, err := t.send(ctx, s.postgres, args)
	if err != nil {
		return nil, err
	}
	rows, err := res.Query()
	if err != nil {
		return nil, errors.Join(err, res.Close())
	}
	return batchRows{rows, res}, nil
}

func (t *pgTx) row(ctx context.Context, s *Statement, args []any) Row {
	rows, err := t.query(ctx, s, args)
	if err != nil {
		return failedRow{err}
	}
	return oneRow{rows}
}

func (t *pgTx) exec(ctx context.Context, s *Statement, args []any) (int64, error) {
	t.begin()
	res, err := t.send(ctx, s.postgres, args)
	if err != nil {
		return 0, err
	}
	tag, err := res.Exec()
	return tag.RowsAffected(), errors.Join(err, res.Close())
}

func (t *pgTx) queue(_ context.Context, s *Statement, args []any) error {
	t.queued.Queue(s.postgres, args...)
	return nil
}

func (t *pgTx) each(ctx context.Context, s *Statement, args [][]any, fn func(int, Rows) error) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	return eachOf(ctx, t.conn, s, args, fn)
}

func (t *pgTx) bun(ctx context.Context) (bun.IDB, error) {
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	return t.handle, nil
}

// commit makes the transaction durable. PostgreSQL answers COMMIT of a failed
// transaction with ROLLBACK and no error, so the tag is looked at.
func (t *pgTx) commit(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // the caller must know whether it happened
	if !t.begun {
		return t.atOnce(ctx)
	}
	res, err := t.send(ctx, "COMMIT", nil)
	if err != nil {
		return errors.Join(err, t.rollback(ctx))
	}
	tag, err := res.Exec()
	if err = errors.Join(err, res.Close()); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("commit: the transaction was rolled back")
	}
	return nil
}

// atOnce sends a transaction of queued statements only.
func (t *pgTx) atOnce(ctx context.Context) error {
	if t.queued.Len() == 0 {
		return nil
	}
	return t.conn.SendBatch(ctx, t.queued).Close()
}

func (t *pgTx) rollback(ctx context.Context) error {
	t.queued = &pgx.Batch{}
	if !t.begun || t.conn.IsClosed() {
		return nil
	}
	_, err := t.conn.Exec(context.WithoutCancel(ctx), "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
	return err
}

// batchRows closes the batch with its rows.
type batchRows struct {
	pgx.Rows
	res pgx.BatchResults
}

func (r batchRows) Close() {
	r.Rows.Close()
	_ = r.res.Close()
}

// oneRow reads the first row and closes.
type oneRow struct{ rows Rows }

func (r oneRow) Scan(dest ...any) error {
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNotFound
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
