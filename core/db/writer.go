package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// maxGroup bounds how many transactions share one commit, so that the first
// of them does not wait for ever.
const maxGroup = 256

// writer is the one connection that writes to SQLite. Transactions that wait
// for it share one durable commit and are answered after it. There is no timer:
// a lone transaction commits at once, and while a commit runs the next group
// gathers by itself.
//
// Nearly all transactions succeed, or fail before they write, so a group first
// runs without savepoints, which cost a fifth of the writer's time. When one
// fails after it wrote, all of the group is rolled back and runs again with a
// savepoint each, so that the one that fails leaves the others alone.
type writer struct {
	db    *DB // set once by openSQLite, before the first transaction
	pool  *sql.DB
	conn  bun.Conn
	stmts map[string]*sql.Stmt
	// Of the transaction that runs; only the writer's goroutine looks.
	wrote  bool
	broken error // the first error of a statement that writes
	log    checkpoint
	jobs   chan *job
	quit   chan struct{}
	gone   chan struct{}
	once   sync.Once
}

type job struct {
	ctx  context.Context
	fn   func(context.Context) error
	tx   tx
	err  error
	done chan struct{}
}

var errClosed = errors.New("db: the database is closed")

func openWriter(ctx context.Context, c Config) (*writer, error) {
	pool, err := sql.Open("sqlite", sqliteDSN(c.Path, "cache_size(-16000)", "wal_autocheckpoint(4000)", fmt.Sprintf("journal_size_limit(%d)", keptLog)))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	conn, err := bunOver(pool, sqlitedialect.New(), systemSQLite, c.Traced).Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	w := &writer{
		pool: pool, conn: conn, stmts: map[string]*sql.Stmt{}, log: checkpoint{path: c.Path + "-wal", due: largeLog},
		jobs: make(chan *job, maxGroup), quit: make(chan struct{}), gone: make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// run hands a transaction to the writer and waits for its commit. Once
// accepted it is waited for even when ctx ends: the caller must know whether
// it happened.
func (w *writer) run(ctx context.Context, fn func(context.Context) error) error {
	j := &job{fn: fn, done: make(chan struct{})}
	j.tx = tx{session: w, owner: w.db}
	j.ctx = context.WithValue(ctx, txKey{}, &j.tx)
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.quit:
		return errClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-w.gone:
		select {
		case <-j.done:
			return j.err
		default:
			return errClosed
		}
	}
}

func (w *writer) loop() {
	defer close(w.gone)
	group := make([]*job, 0, maxGroup)
	for {
		select {
		case j := <-w.jobs:
			group = w.commit(j, group[:0])
			w.log.keep(context.Background(), w)
		case <-w.quit:
			for { // what was accepted before closing is still written
				select {
				case j := <-w.jobs:
					group = w.commit(j, group[:0])
				default:
					return
				}
			}
		}
	}
}

// commit runs the transaction first and those that are waiting, in one commit.
func (w *writer) commit(first *job, group []*job) []*job {
	ctx := context.Background()
	err := w.control(ctx, begin)
	clean := true
	for j := first; j != nil && err == nil; {
		group = append(group, j)
		if clean = w.bold(j); !clean {
			break
		}
		j = w.next(group)
	}
	switch {
	case err != nil:
		group = append(group, first)
	case !clean:
		err = w.again(ctx, group)
	default:
		err = w.control(ctx, commit)
	}
	if err != nil {
		_ = w.control(ctx, rollback)
	}
	w.answer(group, err)
	return group
}

// answer tells each transaction how it ended, after what it wanted to happen
// then.
func (w *writer) answer(group []*job, err error) {
	for _, j := range group {
		if err != nil && j.err == nil {
			j.err = fmt.Errorf("commit: %w", err)
		}
		if j.err == nil {
			for _, fn := range j.tx.after {
				fn()
			}
		}
		close(j.done)
	}
}

func (w *writer) next(group []*job) *job {
	if len(group) == maxGroup {
		return nil
	}
	select {
	case j := <-w.jobs:
		return j
	default:
		return nil
	}
}

// bold runs a transaction without a savepoint. It reports false when it failed
// after it wrote, so that what the group did cannot be kept.
func (w *writer) bold(j *job) bool {
	if j.err = j.ctx.Err(); j.err != nil {
		return true
	}
	w.call(j)
	return j.err == nil || !w.wrote
}

// call runs the function of a transaction. As on PostgreSQL, one in which a
// statement failed cannot succeed.
func (w *writer) call(j *job) {
	w.wrote, w.broken = false, nil
	j.err = protect(j.ctx, j.fn)
	if j.err == nil && w.broken != nil {
		j.err = fmt.Errorf("db: a statement of the transaction has failed: %w", w.broken)
	}
}

// again rolls the group back and runs it anew, each in a savepoint.
func (w *writer) again(ctx context.Context, group []*job) error {
	if err := w.control(ctx, rollback); err != nil {
		return err
	}
	if err := w.control(ctx, begin); err != nil {
		return err
	}
	for _, j := range group {
		j.tx.after, j.tx.local = nil, nil
		if err := w.one(ctx, j); err != nil {
			return err
		}
	}
	return w.control(ctx, commit)
}

// one runs a transaction in its savepoint. Its own error is that of the
// savepoint, without which the group must not go on: after some errors, such as
// that of a full disk, SQLite has rolled back everything by itself, and what
// came next would be committed alone, before the group is.
func (w *writer) one(ctx context.Context, j *job) error {
	if j.ctx.Err() != nil {
		j.err = j.ctx.Err()
		return nil //nolint:nilerr // the group goes on without it
	}
	err := w.control(ctx, savepoint)
	if err == nil {
		if w.call(j); j.err != nil {
			err = w.control(ctx, rollbackTo)
		}
		if err == nil {
			err = w.control(ctx, release)
		}
	}
	j.err = and(j.err, err)
	return err
}

// and joins two errors, and leaves a single one as it is.
func and(err, more error) error {
	if more == nil {
		return err
	}
	return errors.Join(err, more)
}

// protect turns a panic of fn into an error, so that the transaction is rolled
// back and the writer lives on.
func protect(ctx context.Context, fn func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", r, debug.Stack())
		}
	}()
	return fn(ctx)
}

var (
	begin      = SQL("BEGIN IMMEDIATE")
	commit     = SQL("COMMIT")
	rollback   = SQL("ROLLBACK")
	savepoint  = SQL("SAVEPOINT s")
	rollbackTo = SQL("ROLLBACK TO s")
	release    = SQL("RELEASE s")
)

func (w *writer) control(ctx context.Context, s *Statement) error {
	_, err := w.exec(ctx, s, nil)
	return err
}

// stmt is only called on the writer's goroutine, so the map needs no lock.
func (w *writer) stmt(s *Statement) (*sql.Stmt, error) {
	w.wrote = w.wrote || s.writes
	if st, ok := w.stmts[s.sqlite]; ok {
		return st, nil
	}
	st, err := w.conn.PrepareContext(context.Background(), s.sqlite)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", s.sqlite, err)
	}
	w.stmts[s.sqlite] = st
	return st, nil
}

func (w *writer) exec(_ context.Context, s *Statement, args []any) (int64, error) {
	st, err := w.stmt(s)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if w.note(s, err) != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// note remembers the error of a statement that writes, and gives it back.
func (w *writer) note(s *Statement, err error) error {
	if err != nil && s.writes && w.broken == nil && !errors.Is(err, ErrNotFound) {
		w.broken = err
	}
	return err
}

func (w *writer) queue(ctx context.Context, s *Statement, args []any) error {
	_, err := w.exec(ctx, s, args)
	return err
}

func (w *writer) query(ctx context.Context, s *Statement, args []any) (Rows, error) {
	st, err := w.stmt(s)
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(context.Background(), args...) //nolint:rowserrcheck // the caller asks liteRows
	if w.note(s, err) != nil {
		return nil, err
	}
	return writerRows{liteRows{rows, context.WithoutCancel(ctx)}, w, s}, nil
}

func (w *writer) row(_ context.Context, s *Statement, args []any) Row {
	st, err := w.stmt(s)
	if err != nil {
		return failedRow{err}
	}
	return writerRow{liteRow{st.QueryRowContext(context.Background(), args...)}, w, s}
}

// writerRows and writerRow note the errors that come with the answers.
type writerRows struct {
	liteRows
	w *writer
	s *Statement
}

func (r writerRows) Err() error { return r.w.note(r.s, r.liteRows.Err()) }

type writerRow struct {
	liteRow
	w *writer
	s *Statement
}

func (r writerRow) Scan(dest ...any) error { return r.w.note(r.s, r.liteRow.Scan(dest...)) }

func (w *writer) each(ctx context.Context, s *Statement, args [][]any, fn func(int, Rows) error) error {
	return eachOneByOne(ctx, w, s, args, fn)
}

func (w *writer) bun(context.Context) (bun.IDB, error) {
	w.wrote = true // what Bun will do is not known
	return w.conn, nil
}

func (w *writer) close() error {
	w.once.Do(func() { close(w.quit) })
	<-w.gone
	var errs []error
	for _, st := range w.stmts {
		errs = append(errs, st.Close())
	}
	w.stmts = nil
	return errors.Join(append(errs, w.conn.Close(), w.pool.Close())...)
}
