package mcp

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

var (
	insertMessage  = db.SQL(`INSERT INTO mcp_message (process, session, body, created_at) VALUES (?,?,?,?)`)
	selectMessages = db.SQL(`SELECT id, session, body FROM mcp_message WHERE process = ? ORDER BY id LIMIT 100`)
	deleteMessage  = db.SQL(`DELETE FROM mcp_message WHERE id = ?`)

	insertEvent = db.SQL(`INSERT INTO mcp_event (session, stream, position, body, created_at) VALUES (?,?,?,?,?) ON CONFLICT (session, stream, position) DO NOTHING`)
	selectEvent = db.SQL(`SELECT position, body FROM mcp_event WHERE session = ? AND stream = ? AND position > ? ORDER BY position`)
	dropEvents  = db.SQL(`DELETE FROM mcp_event WHERE session = ?`)
)

// message is something that a client sent for another process.
type message struct {
	id      int64
	session string
	body    []byte
}

// post leaves a message for a process.
func (st *store) post(ctx context.Context, process, session string, body []byte, now time.Time) error {
	return st.exec(ctx, insertMessage, process, session, db.Text(body), db.Micros(now))
}

// take gives the messages for a process, once.
func (st *store) take(ctx context.Context, process string) ([]message, error) {
	rows, err := st.db.Query(ctx, selectMessages, process)
	if err != nil {
		return nil, err
	}
	var all []message
	for rows.Next() {
		var m message
		if err = rows.Scan(&m.id, &m.session, &m.body); err != nil {
			break
		}
		all = append(all, m)
	}
	rows.Close()
	if err == nil {
		err = rows.Err()
	}
	for _, m := range all {
		if err := st.exec(ctx, deleteMessage, m.id); err != nil {
			return nil, err
		}
	}
	return all, err
}

// keepEvent stores one message of a stream.
func (st *store) keepEvent(ctx context.Context, session, stream string, position int, body []byte, now time.Time) error {
	return st.exec(ctx, insertEvent, session, stream, position, db.Text(body), db.Micros(now))
}

// events gives the stored messages of a stream after a position, in order, with
// the position of the first.
func (st *store) events(ctx context.Context, session, stream string, after int) (first int, bodies [][]byte, err error) {
	rows, err := st.db.Query(ctx, selectEvent, session, stream, after)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var at int
		var body []byte
		if err := rows.Scan(&at, &body); err != nil {
			return 0, nil, err
		}
		if bodies == nil {
			first = at
		}
		bodies = append(bodies, body)
	}
	return first, bodies, rows.Err()
}
