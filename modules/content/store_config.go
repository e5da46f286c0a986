package content

import (
	"context"
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// entity is a row of content_config.
type entity struct {
	ID     int64
	Kind   string
	Name   string
	Export []byte
	State  []byte
}

var (
	selectConfig = db.SQL(`SELECT id, kind, name, export, state FROM content_config ORDER BY kind, name`)
	selectEntity = db.SQL(`SELECT id, kind, name, export, state FROM content_config WHERE kind = ? AND name = ?`)
	selectNames  = db.SQL(`SELECT name FROM content_config WHERE kind = ? ORDER BY name`)
	upsertEntity = db.SQL(`INSERT INTO content_config (kind, name, export, state, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (kind, name) DO UPDATE SET export = excluded.export, state = excluded.state, updated_at = excluded.updated_at RETURNING id`)
	deleteEntity  = db.SQL(`DELETE FROM content_config WHERE id = ?`)
	emptyOut      = db.SQL(`DELETE FROM content_publication WHERE environment_id = ?`)
	selectVersion = db.SQL(`SELECT version FROM content_config_version WHERE id = 1`)
	holdVersion   = db.SQL(`UPDATE content_config_version SET version = version WHERE id = 1`)
	raiseVersion  = db.SQL(`UPDATE content_config_version SET version = version + 1 WHERE id = 1`)
)

// configs gives every entity and the version it was read at.
func (s store) configs(ctx context.Context) (all []entity, version int64, err error) {
	if version, err = s.configVersion(ctx); err != nil {
		return nil, 0, err
	}
	all, err = db.All(ctx, s.db, func(row db.Row) (e entity, err error) {
		err = row.Scan(&e.ID, &e.Kind, &e.Name, &e.Export, &e.State)
		return e, err
	}, selectConfig)
	return all, version, err
}

func (s store) configVersion(ctx context.Context) (v int64, err error) {
	err = s.db.Row(ctx, selectVersion).Scan(&v)
	return v, err
}

func (s store) entity(ctx context.Context, kind, name string) (*entity, error) {
	e := &entity{}
	err := s.db.Row(ctx, selectEntity, kind, name).Scan(&e.ID, &e.Kind, &e.Name, &e.Export, &e.State)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return e, err
}

// holdConfig makes other changes of the configuration wait for this transaction, so
// that it can read and then write.
func (s store) holdConfig(ctx context.Context) error { return s.db.Queue(ctx, holdVersion) }

func (s store) entityNames(ctx context.Context, kind string) ([]string, error) {
	rows, err := s.db.Query(ctx, selectNames, kind)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names := []string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// saveEntity writes an entity, sets its id and raises the version.
func (s store) saveEntity(ctx context.Context, e *entity, now time.Time) error {
	if len(e.State) == 0 {
		e.State = []byte("{}")
	}
	at := db.Micros(now)
	if err := s.db.Row(ctx, upsertEntity, e.Kind, e.Name, string(e.Export), string(e.State), at, at).Scan(&e.ID); err != nil {
		return err
	}
	return s.db.Queue(ctx, raiseVersion)
}

// deleteEntity removes an entity; an environment takes what was published in
// it along.
func (s store) deleteEntity(ctx context.Context, x *entity) error {
	if err := s.db.Queue(ctx, deleteEntity, x.ID); err != nil {
		return err
	}
	if x.Kind == kindEnvironment {
		if err := s.db.Queue(ctx, emptyOut, x.ID); err != nil {
			return err
		}
	}
	return s.db.Queue(ctx, raiseVersion)
}
