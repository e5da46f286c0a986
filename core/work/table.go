package work

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the tables of this package: the schedule of periodic tasks.
func Migrations() db.Source {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return db.Source{Module: "work", Files: files}
}

// Table says how a table of leased rows is used.
type Table struct {
	// Name of the table: lower case letters, digits and underscores.
	Name string
	// Keep makes Done keep the row, due never again, instead of deleting it.
	Keep bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

var tableName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Claimer claims and finishes the rows of one table. It is safe for concurrent
// use and has no state of its own.
type Claimer struct {
	db  *db.DB
	now func() time.Time

	claim, claimOne, extend, done, retry, bury, release, again *db.Statement
	revive, reviveAll, stats                                   *db.Statement
}

// New makes a claimer. It touches nothing; the error is a name that cannot be
// that of a table.
func New(d *db.DB, t Table) (*Claimer, error) {
	if !tableName.MatchString(t.Name) {
		return nil, fmt.Errorf("work: %q is not the name of a table", t.Name)
	}
	c := &Claimer{db: d, now: t.Now}
	if c.now == nil {
		c.now = time.Now
	}
	sql := func(text string) *db.Statement { return db.SQL(strings.ReplaceAll(text, "{table}", t.Name)) }
	c.claim = db.Dual(
		strings.ReplaceAll(claimSQLite, "{table}", t.Name),
		strings.ReplaceAll(claimPostgres, "{table}", t.Name))
	c.claimOne = sql(`UPDATE {table} SET due_at = ?, owner = ?, attempt = attempt + 1
		WHERE id = ? AND queue = ? AND due_at <= ? AND buried_at IS NULL RETURNING id, attempt, created_at`)
	c.extend = sql(`UPDATE {table} SET due_at = ?` + fence)
	c.done = sql(`DELETE FROM {table}` + fence)
	if t.Keep {
		c.done = sql(`UPDATE {table} SET due_at = 9223372036854775807, owner = NULL` + fence)
	}
	c.retry = sql(`UPDATE {table} SET due_at = ?, owner = NULL, last_error = ?` + fence)
	c.bury = sql(`UPDATE {table} SET buried_at = ?, owner = NULL, last_error = ?` + fence)
	c.release = sql(`UPDATE {table} SET due_at = ?, owner = NULL, attempt = attempt - 1` + fence)
	c.again = sql(`UPDATE {table} SET due_at = ?, owner = NULL, attempt = 0, last_error = NULL` + fence)
	c.revive = sql(`UPDATE {table} SET due_at = ?, buried_at = NULL, attempt = 0 WHERE queue = ? AND buried_at IS NOT NULL AND id = ? RETURNING id`)
	c.reviveAll = sql(`UPDATE {table} SET due_at = ?, buried_at = NULL, attempt = 0 WHERE queue = ? AND buried_at IS NOT NULL`)
	c.stats = sql(stats)
	return c, nil
}

// fence lets only the claim that holds the lease change the row.
const fence = ` WHERE id = ? AND owner = ? AND attempt = ? RETURNING id`

// The rows due longest go first. On SQLite the one writer makes the statement
// exclusive; on PostgreSQL claimers step over each other's rows.
const (
	claimSQLite = `UPDATE {table} SET due_at = ?1, owner = ?2, attempt = attempt + 1
		WHERE id IN (SELECT id FROM {table} WHERE queue = ?3 AND due_at <= ?4 AND buried_at IS NULL ORDER BY due_at, id LIMIT ?5)
		RETURNING id, attempt, created_at`
	claimPostgres = `WITH due AS (SELECT id FROM {table} WHERE queue = $3 AND due_at <= $4 AND buried_at IS NULL
			ORDER BY due_at, id LIMIT $5 FOR UPDATE SKIP LOCKED)
		UPDATE {table} t SET due_at = $1, owner = $2, attempt = t.attempt + 1 FROM due WHERE t.id = due.id
		RETURNING t.id, t.attempt, t.created_at`
	stats = `SELECT queue,
			sum(CASE WHEN buried_at IS NULL AND (owner IS NULL OR due_at <= ?) THEN 1 ELSE 0 END),
			sum(CASE WHEN buried_at IS NULL AND owner IS NOT NULL AND due_at > ? THEN 1 ELSE 0 END),
			sum(CASE WHEN buried_at IS NULL THEN 0 ELSE 1 END),
			coalesce(min(CASE WHEN buried_at IS NULL THEN due_at END), 0)
		FROM {table} WHERE due_at < 9223372036854775807 GROUP BY queue ORDER BY queue`
)
