// Package db is Quoin's only way to a database: PostgreSQL through pgx, or a
// SQLite file in embedded mode.
//
// A store holds a *DB and no handle. A transaction travels in the context:
// InTx starts one or joins the one that is there, and every method of DB uses
// it when the context carries one. Statements are prepared (SQL, Dual). Bun runs
// the migrations; DB.Bun is there for queries whose text is not known before.
//
// Columns are kept to what both engines do alike: bigint, text, boolean. Times
// are bigint microseconds since 1970 UTC, JSON is text, so that its bytes
// survive.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Dialect names the engine behind a DB.
type Dialect string

// The two engines.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrNotFound is what Row.Scan answers when there is no row.
var ErrNotFound = errors.New("db: no such row")

// Config says which database to open.
type Config struct {
	// URL is a postgres:// URL; empty means the SQLite file at Path.
	URL string
	// Path is the SQLite file; its folder must exist.
	Path string
	// Version is the one of the program, for messages to those that are older.
	Version string
	// MaxConns bounds the connections to PostgreSQL, or the readers of SQLite.
	// Zero takes the default (16, or the number of processors and at least 4).
	MaxConns int
	// AnswerWithin is how long PostgreSQL may be silent while an answer is
	// awaited; zero is no limit. Migrations and Listen have none.
	AnswerWithin time.Duration
	// Traced makes spans of statements and transactions, below those that are
	// there.
	Traced bool
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect Dialect
	backend backend
	bun     *bun.DB
	version string
	traced  bool

	sequences sync.Map // *Sequence → *ids
}

// backend is what differs between the engines: how a prepared statement is
// run outside a transaction, and how a transaction is made durable.
type backend interface {
	session
	inTx(ctx context.Context, fn func(context.Context) error) error
	snapshot(ctx context.Context, d *DB, fn func(context.Context) error) error
	migration() *sql.DB
	lock(ctx context.Context, name string) (lost <-chan struct{}, release func(), err error)
	ping(ctx context.Context) error
	stats() Stats
	close() error
}

// session runs statements, inside a transaction or outside one.
type session interface {
	query(ctx context.Context, s *Statement, args []any) (Rows, error)
	row(ctx context.Context, s *Statement, args []any) Row
	exec(ctx context.Context, s *Statement, args []any) (int64, error)
	queue(ctx context.Context, s *Statement, args []any) error
	each(ctx context.Context, s *Statement, args [][]any, fn func(i int, rows Rows) error) error
	bun(ctx context.Context) (bun.IDB, error)
}

// Rows are the answers of a query. Close is always needed.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Row is one answer; Scan gives ErrNotFound when there is none.
type Row interface {
	Scan(dest ...any) error
}

// Open opens the database, creating the SQLite file if there is none.
func Open(ctx context.Context, c Config) (d *DB, err error) {
	switch {
	case c.URL == "":
		d, err = openSQLite(ctx, c)
	case strings.HasPrefix(c.URL, "postgres://"), strings.HasPrefix(c.URL, "postgresql://"):
		d, err = openPostgres(ctx, c)
	default:
		err = errors.New("database url must start with postgres:// (leave it empty for SQLite)")
	}
	if err != nil {
		return nil, err
	}
	d.version = cmp.Or(c.Version, "(unknown)")
	d.traced = c.Traced
	return d, nil
}

// Dialect tells which engine it is.
func (d *DB) Dialect() Dialect { return d.dialect }

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.backend.ping(ctx) }

// Close waits for running transactions and closes all connections.
func (d *DB) Close() error { return d.backend.close() }

type txKey struct{}

// tx is the transaction a context carries.
type tx struct {
	session
	owner *DB
	after []func()
	local []local
}

// local is one value of Local; there are one or two, so a list will do.
type local struct{ key, value any }

func (d *DB) session(ctx context.Context) session {
	if t, ok := ctx.Value(txKey{}).(*tx); ok && t.owner == d {
		return t
	}
	return d.backend
}

// InTx runs fn in a transaction that is durable when InTx returns nil. The
// context given to fn carries it. Inside a transaction InTx joins the one that
// is running. When fn gives an error nothing of it is kept, and the error is
// returned as it is.
//
// fn may run more than once, the last time with effect: it must set what it
// gives back anew and not add to it. On PostgreSQL it runs again after a
// deadlock, and InTx gives Unavailable when that does not help. On SQLite fn
// runs on the one writer, together with others in one commit: it must not wait
// for anything but the database.
func (d *DB) InTx(ctx context.Context, fn func(context.Context) error) error {
	if t, ok := ctx.Value(txKey{}).(*tx); ok && t.owner == d {
		return fn(ctx)
	}
	ctx, span := d.transaction(ctx)
	err := d.backend.inTx(ctx, fn)
	span.End(err)
	return err
}

// AfterCommit runs fn once the transaction of ctx is durable, before InTx
// returns; not at all when it is rolled back. fn must be quick and must not
// use the database. Outside a transaction it runs at once.
func AfterCommit(ctx context.Context, fn func()) {
	if t, ok := ctx.Value(txKey{}).(*tx); ok {
		t.after = append(t.after, fn)
		return
	}
	fn()
}

// Local gives the value that the transaction of ctx keeps under key, made on
// first use: what a package must remember until AfterCommit. It must not be
// called outside a transaction.
func Local[T any](ctx context.Context, key any, first func() T) T {
	t := ctx.Value(txKey{}).(*tx)
	for _, l := range t.local {
		if l.key == key {
			return l.value.(T)
		}
	}
	v := first()
	t.local = append(t.local, local{key, v})
	return v
}

// InTransaction reports whether ctx carries a transaction.
func InTransaction(ctx context.Context) bool { return ctx.Value(txKey{}) != nil }

// Query runs a statement that answers rows.
func (d *DB) Query(ctx context.Context, s *Statement, args ...any) (Rows, error) {
	ctx, span := d.step(ctx, s)
	rows, err := d.session(ctx).query(ctx, s, args)
	if !span.Recorded() {
		return rows, err
	}
	if err != nil {
		span.End(err)
		return nil, err
	}
	return &tracedRows{Rows: rows, span: span}, nil
}

// Row runs a statement that answers at most one row.
func (d *DB) Row(ctx context.Context, s *Statement, args ...any) Row {
	ctx, span := d.step(ctx, s)
	row := d.session(ctx).row(ctx, s, args)
	if !span.Recorded() {
		return row
	}
	return tracedRow{row, span}
}

// Exec runs a statement and tells how many rows it touched. Outside a
// transaction it makes one of its own.
func (d *DB) Exec(ctx context.Context, s *Statement, args ...any) (n int64, err error) {
	err = d.InTx(ctx, func(ctx context.Context) error {
		ctx, span := d.step(ctx, s)
		n, err = d.session(ctx).exec(ctx, s, args)
		span.End(err)
		return err
	})
	return n, err
}

// Queue runs a statement whose answer is not needed. On PostgreSQL it travels
// with the next statement or the commit, which saves a round trip, and so does
// its error. It must be called inside a transaction.
func (d *DB) Queue(ctx context.Context, s *Statement, args ...any) error {
	if !InTransaction(ctx) {
		return errors.New("db: Queue outside a transaction")
	}
	ctx, span := d.step(ctx, s)
	err := d.session(ctx).queue(ctx, s, args)
	span.End(err)
	return err
}

// Each runs one statement for every list of arguments, in one round trip on
// PostgreSQL, and calls fn with the answers in order. fn must not keep rows.
func (d *DB) Each(ctx context.Context, s *Statement, args [][]any, fn func(i int, rows Rows) error) error {
	if len(args) == 0 {
		return nil
	}
	ctx, span := d.step(ctx, s)
	err := d.session(ctx).each(ctx, s, args, fn)
	span.End(err)
	return err
}

// Bun gives a Bun handle for queries whose text is not known before: the
// transaction of the context if there is one, else the readers. Writing needs a
// transaction. No store needs it at present.
func (d *DB) Bun(ctx context.Context) (bun.IDB, error) { return d.session(ctx).bun(ctx) }

// Lock takes a named lock that one process at a time can hold on this
// database, without waiting; ErrLocked when another has it. The lock dies with
// the process.
func (d *DB) Lock(ctx context.Context, name string) (release func(), err error) {
	_, release, err = d.Hold(ctx, name)
	return release, err
}

// Hold is Lock for a process that must not go on without the lock: lost is
// closed when it is gone before it was released, because the database has been
// started anew or the connection to it broke. Another process may have it then.
// It is to be released all the same.
func (d *DB) Hold(ctx context.Context, name string) (lost <-chan struct{}, release func(), err error) {
	return d.backend.lock(ctx, name)
}

// ErrLocked tells that another process holds the named lock.
var ErrLocked = errors.New("db: another process holds the lock")

// IsUnique reports whether err is the violation of a unique constraint.
func IsUnique(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// Text passes bytes as a text argument without copying them; they must not
// change until the statement has run.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Micros is how a time is stored: microseconds since 1970 UTC, 0 for the zero
// time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the reverse of Micros.
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// notFound maps both drivers' word for "no rows" to ours.
func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
