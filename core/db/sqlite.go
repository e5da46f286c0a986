package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// lite is the SQLite backend: a pool of readers and one writer.
type lite struct {
	path   string
	read   *sql.DB
	bundb  *bun.DB
	stmts  sync.Map // text → *sql.Stmt on the readers
	writer *writer
}

// sqliteDSN names the file, and the pragmas that every connection begins with.
// WAL lets readers go on while the writer commits; FULL makes a commit survive a
// power cut.
func sqliteDSN(path string, more ...string) string {
	v := url.Values{}
	for _, p := range append([]string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "temp_store(MEMORY)"}, more...) {
		v.Add("_pragma", p)
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}

func openSQLite(ctx context.Context, c Config) (*DB, error) {
	w, err := openWriter(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", c.Path, err)
	}
	readers := c.MaxConns
	if readers == 0 {
		readers = max(4, runtime.NumCPU())
	}
	read, err := sql.Open("sqlite", sqliteDSN(c.Path, "query_only(1)", "cache_size(-4000)"))
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	l := &lite{path: c.Path, read: read, writer: w, bundb: bunOver(read, sqlitedialect.New(), systemSQLite, c.Traced)}
	d := &DB{dialect: SQLite, backend: l, bun: l.bundb}
	w.db = d
	return d, nil
}

func (l *lite) stmt(s *Statement) (*sql.Stmt, error) {
	if st, ok := l.stmts.Load(s.key); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := l.read.PrepareContext(context.Background(), s.sqlite)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", s.sqlite, err)
	}
	if old, loaded := l.stmts.LoadOrStore(s.key, st); loaded {
		_ = st.Close()
		return old.(*sql.Stmt), nil
	}
	return st, nil
}

// query runs without the context's end: the driver would start a goroutine for
// each query whose context can be cancelled. liteRows looks at it between rows.
func (l *lite) query(ctx context.Context, s *Statement, args []any) (Rows, error) {
	st, err := l.stmt(s)
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(context.WithoutCancel(ctx), args...) //nolint:rowserrcheck // the caller asks liteRows
	if err != nil {
		return nil, err
	}
	return liteRows{rows, ctx}, nil
}

func (l *lite) row(ctx context.Context, s *Statement, args []any) Row {
	st, err := l.stmt(s)
	if err != nil {
		return failedRow{err}
	}
	return liteRow{st.QueryRowContext(context.WithoutCancel(ctx), args...)}
}

func (l *lite) exec(context.Context, *Statement, []any) (int64, error) {
	return 0, errors.New("db: write outside a transaction")
}

func (l *lite) queue(context.Context, *Statement, []any) error {
	return errors.New("db: write outside a transaction")
}

func (l *lite) each(ctx context.Context, s *Statement, args [][]any, fn func(int, Rows) error) error {
	return eachOneByOne(ctx, l, s, args, fn)
}

func (l *lite) bun(context.Context) (bun.IDB, error) { return l.bundb, nil }

func (l *lite) inTx(ctx context.Context, fn func(context.Context) error) error {
	return l.writer.run(ctx, fn)
}

// migration gives a handle of its own, because Bun's migrator wants several
// connections that can write.
func (l *lite) migration() *sql.DB {
	db, err := sql.Open("sqlite", sqliteDSN(l.path))
	if err != nil {
		panic(err) // Open only parses the name of a registered driver
	}
	return db
}

func (l *lite) lock(_ context.Context, name string) (<-chan struct{}, func(), error) {
	release, err := lockFile(filepath.Join(filepath.Dir(l.path), name+".lock"))
	return nil, release, err // it is not lost
}

func (l *lite) ping(ctx context.Context) error { return l.read.PingContext(ctx) }

func (l *lite) close() error {
	return errors.Join(l.writer.close(), l.read.Close())
}

func eachOneByOne(ctx context.Context, s session, st *Statement, args [][]any, fn func(int, Rows) error) error {
	for i, a := range args {
		rows, err := s.query(ctx, st, a)
		if err != nil {
			return err
		}
		err = fn(i, rows)
		rows.Close()
		if err = errors.Join(err, rows.Err()); err != nil {
			return err
		}
	}
	return nil
}

// liteRows stops early when the caller's context ends.
type liteRows struct {
	*sql.Rows
	ctx context.Context
}

func (r liteRows) Next() bool { return r.ctx.Err() == nil && r.Rows.Next() }
func (r liteRows) Err() error { return errors.Join(r.Rows.Err(), r.ctx.Err()) }
func (r liteRows) Close()     { _ = r.Rows.Close() }

type liteRow struct{ *sql.Row }

func (r liteRow) Scan(dest ...any) error { return notFound(r.Row.Scan(dest...)) }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }
