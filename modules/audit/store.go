package audit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Entry is one record.
type Entry struct {
	ID        int64           `json:"id"` // of the event
	At        time.Time       `json:"at"`
	Actor     string          `json:"actor"`
	From      string          `json:"from" doc:"address of the client, where the event tells it; empty for a command"`
	Type      string          `json:"type"`
	Subject   string          `json:"subject"`
	Data      json.RawMessage `json:"data"`
	RequestID string          `json:"request_id"`
}

// Query says which records are wanted, the newest first. Empty members match
// everything.
type Query struct {
	Actor   string
	Type    string // a name, or a beginning that ends in *
	Subject string
	Since   time.Time
	Until   time.Time
	Before  int64 // records with a smaller id only, to read on
	Size    int
}

var (
	insertEntry = db.SQL(`INSERT INTO audit_entry (id, at, actor, type, subject, data, request_id) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`)
	expireEntry = db.SQL(`DELETE FROM audit_entry WHERE at < ?`)
)

type store struct{ db *db.DB }

// add records events in the transaction of ctx.
func (s store) add(ctx context.Context, events []event.Event) error {
	for _, e := range events {
		data := e.Data
		if rawjson.KindOf(data) == rawjson.Map {
			// What documents hold is read by those who may view them; the trail
			// tells which it was.
			data = rawjson.Without(nil, data, "raw_data")
		}
		err := s.db.Queue(ctx, insertEntry, e.ID, db.Micros(e.At), e.Actor, e.Type, e.Subject, string(data), e.RequestID)
		if err != nil {
			return err
		}
	}
	return nil
}

// expire removes what happened before a time.
func (s store) expire(ctx context.Context, before time.Time) error {
	_, err := s.db.Exec(ctx, expireEntry, db.Micros(before))
	return err
}

// list gives the records of a query.
func (s store) list(ctx context.Context, q Query) ([]Entry, error) {
	text, args := q.sql()
	rows, err := s.db.Query(ctx, db.SQL(text), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []Entry{}
	for rows.Next() {
		var e Entry
		var at int64
		var data string
		if err := rows.Scan(&e.ID, &at, &e.Actor, &e.Type, &e.Subject, &data, &e.RequestID); err != nil {
			return nil, err
		}
		e.At, e.Data = db.Time(at), json.RawMessage(data)
		if from, ok := rawjson.Get(e.Data, "from"); ok {
			e.From, _ = rawjson.String(from)
		}
		all = append(all, e)
	}
	return all, rows.Err()
}
