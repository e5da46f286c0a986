package work

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
)

// tablesOfRows are those with the columns of leased rows.
var tablesOfRows = db.Dual(
	`SELECT m.name FROM sqlite_master m WHERE m.type = 'table'
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'buried_at')
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'queue') ORDER BY m.name`,
	`SELECT c.relname::text FROM pg_catalog.pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		AND (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('buried_at', 'queue') AND NOT a.attisdropped) = 2 ORDER BY 1`)

// TableStats are the queues of one table.
type TableStats struct {
	Table  string  `json:"table"`
	Queues []Stats `json:"queues"`
}

// AllStats counts the rows of every table of leased rows there is in the
// database, sorted by table: events, jobs, webhooks, periodic tasks.
func AllStats(ctx context.Context, d *db.DB) ([]TableStats, error) {
	names, err := tablesIn(ctx, d)
	if err != nil {
		return nil, err
	}
	var all []TableStats
	for _, name := range names {
		c, err := New(d, Table{Name: name})
		if err != nil {
			return nil, err
		}
		queues, err := c.Stats(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, TableStats{name, queues})
	}
	return all, nil
}

func tablesIn(ctx context.Context, d *db.DB) ([]string, error) {
	return db.All(ctx, d, db.Value[string], tablesOfRows)
}
