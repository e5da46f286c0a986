package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
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
	// listTypes steps through the index from one type to the next.
	listTypes = db.SQL(`SELECT type FROM (WITH RECURSIVE step(type) AS (SELECT min(type) FROM audit_entry
		UNION ALL SELECT (SELECT min(e.type) FROM audit_entry e WHERE e.type > step.type) FROM step WHERE step.type IS NOT NULL)
		SELECT type FROM step WHERE type IS NOT NULL) AS types`)
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
	types, err := s.types(ctx, q.Type)
	if err != nil || len(types) == 0 {
		return []Entry{}, err
	}
	var text string
	args := make([][]any, len(types))
	for i, name := range types {
		q.Type = name
		text, args[i] = q.sql()
	}
	all := []Entry{}
	err = s.db.Each(ctx, db.SQL(text), args, func(_ int, rows db.Rows) error {
		for rows.Next() {
			e, err := scanEntry(rows)
			if err != nil {
				return err
			}
			all = append(all, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(b.ID, a.ID) })
	return all[:min(len(all), q.Size)], nil
}

// types gives those that records have and that fit a pattern, or the pattern
// itself when it leaves nothing open. There are few types and any number of
// records: asked for one by one, the newest of each come from the index.
func (s store) types(ctx context.Context, pattern string) ([]string, error) {
	prefix, open := strings.CutSuffix(pattern, "*")
	if !open {
		return []string{pattern}, nil
	}
	if prefix == "" {
		return []string{""}, nil
	}
	all, err := db.All(ctx, s.db, db.Value[string], listTypes)
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, prefix) }), err
}

func scanEntry(row db.Row) (e Entry, err error) {
	var at int64
	var data string
	if err := row.Scan(&e.ID, &at, &e.Actor, &e.Type, &e.Subject, &data, &e.RequestID); err != nil {
		return e, err
	}
	e.At, e.Data = db.Time(at), json.RawMessage(data)
	if from, ok := rawjson.Get(e.Data, "from"); ok {
		e.From, _ = rawjson.String(from)
	}
	return e, nil
}
