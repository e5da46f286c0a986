package pluginhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// store keeps what operators decided and what processes tell.
type store struct{ db *db.DB }

// Wish is what an operator decided on a plugin.
type Wish struct {
	Name    string          `json:"name"`
	Enabled bool            `json:"enabled"`
	SHA256  string          `json:"sha256"` // of the program that was enabled
	Granted []string        `json:"granted"`
	Config  json.RawMessage `json:"-"`
	RunAs   string          `json:"run_as"` // whose rights it has outside a request; empty: none
	// Generation grows with each change and each reload.
	Generation int64 `json:"generation"`
}

// Status is how a plugin fares in one process of the server.
type Status struct {
	Name     string    `json:"name"`
	Instance string    `json:"instance"`
	State    State     `json:"state"`
	Reason   string    `json:"reason"`
	Version  string    `json:"version"`
	PID      int       `json:"pid"`
	At       time.Time `json:"at"`
}

var (
	listWishes = db.SQL(`SELECT name, enabled, sha256, granted, config, run_as, generation FROM plugins_plugin ORDER BY name`)
	oneWish    = db.SQL(`SELECT name, enabled, sha256, granted, config, run_as, generation FROM plugins_plugin WHERE name = ?`)
	putWish    = db.SQL(`INSERT INTO plugins_plugin (name, enabled, sha256, granted, config, run_as, generation) VALUES (?, ?, ?, ?, ?, ?, 1)
		ON CONFLICT (name) DO UPDATE SET enabled = excluded.enabled, sha256 = excluded.sha256, granted = excluded.granted,
		config = excluded.config, run_as = excluded.run_as, generation = plugins_plugin.generation + 1`)
	disable    = db.SQL(`UPDATE plugins_plugin SET enabled = FALSE, generation = generation + 1 WHERE name = ?`)
	reload     = db.SQL(`UPDATE plugins_plugin SET generation = generation + 1 WHERE name = ?`)
	listStatus = db.SQL(`SELECT name, instance, state, reason, version, pid, updated_at FROM plugins_status WHERE updated_at > ? ORDER BY name, instance`)
	putStatus  = db.SQL(`INSERT INTO plugins_status (name, instance, state, reason, version, pid, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name, instance) DO UPDATE SET state = excluded.state, reason = excluded.reason, version = excluded.version,
		pid = excluded.pid, updated_at = excluded.updated_at`)
	dropStatus = db.SQL(`DELETE FROM plugins_status WHERE instance = ? OR updated_at < ?`)
)

func scanWish(row db.Row) (*Wish, error) {
	var w Wish
	var granted, config string
	if err := row.Scan(&w.Name, &w.Enabled, &w.SHA256, &granted, &config, &w.RunAs, &w.Generation); err != nil {
		return nil, err
	}
	w.Config = json.RawMessage(config)
	return &w, json.Unmarshal([]byte(granted), &w.Granted)
}

// wishes gives every decision by name.
func (s *store) wishes(ctx context.Context) (map[string]*Wish, error) {
	rows, err := s.db.Query(ctx, listWishes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]*Wish{}
	for rows.Next() {
		w, err := scanWish(rows)
		if err != nil {
			return nil, err
		}
		all[w.Name] = w
	}
	return all, rows.Err()
}

// wish gives one decision, nil for none.
func (s *store) wish(ctx context.Context, name string) (*Wish, error) {
	w, err := scanWish(s.db.Row(ctx, oneWish, name))
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return w, err
}

func (s *store) put(ctx context.Context, w *Wish) error {
	granted, err := json.Marshal(w.Granted)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, putWish, w.Name, w.Enabled, w.SHA256, string(granted), string(w.Config), w.RunAs)
	return err
}

// change runs disable or reload; the error names a plugin without a decision.
func (s *store) change(ctx context.Context, what *db.Statement, name string) error {
	n, err := s.db.Exec(ctx, what, name)
	if err == nil && n == 0 {
		return fmt.Errorf("the plugin %q is not enabled (quoin plugin list shows those there are)", name)
	}
	return err
}

// A status that is not confirmed for a minute is of a process that is gone.
const (
	confirmEvery = 20 * time.Second
	forgetAfter  = time.Minute
)

func (s *store) tell(ctx context.Context, st Status) error {
	_, err := s.db.Exec(ctx, putStatus, st.Name, st.Instance, string(st.State), st.Reason, st.Version, st.PID, db.Micros(time.Now()))
	return err
}

func (s *store) statuses(ctx context.Context) ([]Status, error) {
	return db.All(ctx, s.db, func(row db.Row) (st Status, err error) {
		var state string
		var at int64
		err = row.Scan(&st.Name, &st.Instance, &state, &st.Reason, &st.Version, &st.PID, &at)
		st.State, st.At = State(state), db.Time(at)
		return st, err
	}, listStatus, db.Micros(time.Now().Add(-forgetAfter)))
}
