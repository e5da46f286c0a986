package db

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/quoin-cms/quoin/core/telemetry"
)

// Spans are made only of databases that were opened with Traced, and only below
// a span that is there: looking for work a few times a second makes none. The
// text of a statement has places for values and no values.

// step begins the span of a statement.
func (d *DB) step(ctx context.Context, s *Statement) (context.Context, telemetry.Span) {
	if !d.traced {
		return ctx, telemetry.Span{}
	}
	text := s.sqlite
	if d.dialect == Postgres {
		text = s.postgres
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	ctx, span := telemetry.Step(ctx, verb, telemetry.Calls)
	span.Text("db.query.text", text)
	d.describe(span)
	return ctx, span
}

// transaction begins the span of a transaction, from the wait for a connection
// or the writer to its commit.
func (d *DB) transaction(ctx context.Context) (context.Context, telemetry.Span) {
	if !d.traced {
		return ctx, telemetry.Span{}
	}
	ctx, span := telemetry.Step(ctx, "transaction", telemetry.Calls)
	d.describe(span)
	return ctx, span
}

// dbSystem is the name of the attribute with the name of the engine.
const (
	dbSystem       = "db.system.name"
	systemSQLite   = "sqlite"
	systemPostgres = "postgresql"
)

func (d *DB) describe(span telemetry.Span) {
	if d.dialect == Postgres {
		span.Text(dbSystem, systemPostgres)
		return
	}
	span.Text(dbSystem, systemSQLite)
}

// tracedRows end their span when they are closed.
type tracedRows struct {
	Rows
	span telemetry.Span
	once bool
}

func (r *tracedRows) Close() {
	r.Rows.Close()
	if !r.once {
		r.once = true
		r.span.End(r.Err())
	}
}

// tracedRow ends its span when it is read.
type tracedRow struct {
	Row
	span telemetry.Span
}

func (r tracedRow) Scan(dest ...any) error {
	err := r.Row.Scan(dest...)
	r.span.End(told(err))
	return err
}

// told leaves out that there is no row, which is an answer and no failure.
func told(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// bunSpans makes the spans of Bun's queries. Their text holds values, so only
// what is done to which table is told.
type bunSpans struct{ system string }

// bunOver is Bun on a pool.
func bunOver(pool *sql.DB, dialect schema.Dialect, system string, traced bool) *bun.DB {
	handle := bun.NewDB(pool, dialect)
	if traced {
		return handle.WithQueryHook(bunSpans{system})
	}
	return handle
}

type bunSpanKey struct{}

// BeforeQuery implements bun.QueryHook.
func (h bunSpans) BeforeQuery(ctx context.Context, e *bun.QueryEvent) context.Context {
	ctx, span := telemetry.Step(ctx, e.Operation(), telemetry.Calls)
	if !span.Recorded() {
		return ctx
	}
	span.Text(dbSystem, h.system)
	if q, ok := e.IQuery.(interface{ GetTableName() string }); ok {
		span.Text("db.collection.name", q.GetTableName())
	}
	return context.WithValue(ctx, bunSpanKey{}, span)
}

// AfterQuery implements bun.QueryHook.
func (h bunSpans) AfterQuery(ctx context.Context, e *bun.QueryEvent) {
	if span, ok := ctx.Value(bunSpanKey{}).(telemetry.Span); ok {
		span.End(told(notFound(e.Err)))
	}
}
