package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// store reads and writes sessions (here) and what processes hand to each other
// (store_relay.go).
type store struct{ db *db.DB }

// record is a session as it is stored.
type record struct {
	ID         string
	UserID     int64
	TokenID    int64
	Version    string // negotiated protocol version
	Params     []byte // InitializeParams
	LogLevel   string
	Subscribed []string // URIs
	UsedAt     int64    // microseconds
}

var (
	insertSession = db.SQL(`INSERT INTO mcp_session (id, user_id, token_id, version, params, created_at, used_at) VALUES (?,?,?,?,?,?,?)`)
	selectSession = db.SQL(`SELECT id, user_id, token_id, version, params, log_level, subscribed, used_at FROM mcp_session WHERE id = ?`)
	touchSession  = db.SQL(`UPDATE mcp_session SET used_at = ? WHERE id = ? AND used_at < ?`)
	setLogLevel   = db.SQL(`UPDATE mcp_session SET log_level = ? WHERE id = ?`)
	setSubscribed = db.SQL(`UPDATE mcp_session SET subscribed = ? WHERE id = ?`)
	lockSession   = db.SQL(`UPDATE mcp_session SET used_at = used_at WHERE id = ?`)
	deleteSession = db.SQL(`DELETE FROM mcp_session WHERE id = ?`)
	crowdedOut    = db.SQL(`DELETE FROM mcp_session WHERE token_id = ? AND id NOT IN (SELECT id FROM mcp_session WHERE token_id = ? ORDER BY used_at DESC, id LIMIT ?)`)
	sweepSessions = db.SQL(`DELETE FROM mcp_session WHERE used_at < ?`)
	sweepEvents   = db.SQL(`DELETE FROM mcp_event WHERE created_at < ?`)
	sweepMessages = db.SQL(`DELETE FROM mcp_message WHERE created_at < ?`)

	selectCatalog = db.SQL(`SELECT catalog FROM mcp_token WHERE token_id = ?`)
	setCatalog    = db.SQL(`INSERT INTO mcp_token (token_id, catalog) VALUES (?, ?) ON CONFLICT (token_id) DO UPDATE SET catalog = excluded.catalog`)
	dropCatalog   = db.SQL(`DELETE FROM mcp_token WHERE token_id = ?`)

	insertSecret = db.SQL(`INSERT INTO mcp_secret (id, secret) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`)
	selectSecret = db.SQL(`SELECT secret FROM mcp_secret WHERE id = 1`)
)

// insert stores a new session and removes the oldest ones of its token beyond
// a number.
func (st *store) insert(ctx context.Context, r *record, most int) error {
	return st.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := st.db.Exec(ctx, insertSession, r.ID, r.UserID, r.TokenID, r.Version, db.Text(r.Params), r.UsedAt, r.UsedAt); err != nil {
			return err
		}
		_, err := st.db.Exec(ctx, crowdedOut, r.TokenID, r.TokenID, most)
		return err
	})
}

// find gives a session, nil when there is none.
func (st *store) find(ctx context.Context, id string) (*record, error) {
	var r record
	var subscribed []byte
	err := st.db.Row(ctx, selectSession, id).Scan(&r.ID, &r.UserID, &r.TokenID, &r.Version, &r.Params, &r.LogLevel, &subscribed, &r.UsedAt)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &r, json.Unmarshal(subscribed, &r.Subscribed)
}

// subscribe changes the list of subscriptions of a session.
func (st *store) subscribe(ctx context.Context, id string, change func([]string) []string) error {
	return st.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := st.db.Exec(ctx, lockSession, id); err != nil {
			return err
		}
		r, err := st.find(ctx, id)
		if err != nil || r == nil {
			return err
		}
		list := change(r.Subscribed)
		if list == nil {
			list = []string{}
		}
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		_, err = st.db.Exec(ctx, setSubscribed, db.Text(text), id)
		return err
	})
}

func (st *store) exec(ctx context.Context, s *db.Statement, args ...any) error {
	_, err := st.db.Exec(ctx, s, args...)
	return err
}

// catalog gives the catalogue chosen for a token, empty when none was.
func (st *store) catalog(ctx context.Context, token int64) (name string, err error) {
	err = st.db.Row(ctx, selectCatalog, token).Scan(&name)
	if errors.Is(err, db.ErrNotFound) {
		err = nil
	}
	return name, err
}

// secret gives the secret of the installation, which is made by the first who
// asks.
func (st *store) secret(ctx context.Context, fresh string) (secret string, err error) {
	if err := st.exec(ctx, insertSecret, fresh); err != nil {
		return "", err
	}
	err = st.db.Row(ctx, selectSecret).Scan(&secret)
	return secret, err
}

// sweep deletes sessions that were not used since idle, and what was kept for
// somebody to fetch since kept.
func (st *store) sweep(ctx context.Context, idle, kept time.Time) error {
	return errors.Join(
		st.exec(ctx, sweepSessions, db.Micros(idle)),
		st.exec(ctx, sweepEvents, db.Micros(kept)),
		st.exec(ctx, sweepMessages, db.Micros(kept)))
}
