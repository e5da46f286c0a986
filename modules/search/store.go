package search

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// request is a row of search_request.
type request struct {
	ID       int64
	What     string
	Argument []byte // JSON
	BeatAt   int64
	Progress string
	DoneAt   int64
	Answer   []byte // JSON
	Failure  string
}

var (
	insertRequest = db.SQL(`INSERT INTO search_request (what, argument, asked_at) VALUES (?, ?, ?) RETURNING id`)
	selectRequest = db.SQL(`SELECT id, what, argument, beat_at, progress, done_at, answer, failure FROM search_request WHERE id = ?`)
	openRequests  = db.SQL(`SELECT id, what, argument FROM search_request WHERE done_at = 0 AND beat_at < ? ORDER BY id LIMIT ?`)
	takeRequest   = db.SQL(`UPDATE search_request SET beat_at = ? WHERE id = ? AND done_at = 0 AND beat_at < ?`)
	beatRequest   = db.SQL(`UPDATE search_request SET beat_at = ?, progress = ? WHERE id = ? AND done_at = 0`)
	finishRequest = db.SQL(`UPDATE search_request SET done_at = ?, answer = ?, failure = ? WHERE id = ?`)
	removeRequest = db.SQL(`DELETE FROM search_request WHERE id = ?`)
	withdrawn     = db.SQL(`DELETE FROM search_request WHERE id = ? AND beat_at = 0`)
	sweepRequests = db.SQL(`DELETE FROM search_request WHERE asked_at < ? AND beat_at < ?`)
)

// store keeps requests.
type store struct{ db *db.DB }

// exec runs one statement in a transaction of its own and counts the rows.
func (s store) exec(ctx context.Context, st *db.Statement, args ...any) (n int64, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		n, err = s.db.Exec(ctx, st, args...)
		return err
	})
	return n, err
}

func (s store) add(ctx context.Context, what string, argument []byte, now time.Time) (id int64, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.Row(ctx, insertRequest, what, string(argument), db.Micros(now)).Scan(&id)
	})
	return id, err
}

func (s store) request(ctx context.Context, id int64) (*request, error) {
	r := &request{}
	return r, s.db.Row(ctx, selectRequest, id).Scan(&r.ID, &r.What, &r.Argument, &r.BeatAt, &r.Progress, &r.DoneAt, &r.Answer, &r.Failure)
}

// open gives requests that nobody works on.
func (s store) open(ctx context.Context, silentSince time.Time, n int) ([]request, error) {
	return db.All(ctx, s.db, func(row db.Row) (r request, err error) {
		err = row.Scan(&r.ID, &r.What, &r.Argument)
		return r, err
	}, openRequests, db.Micros(silentSince), n)
}
