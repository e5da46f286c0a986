package content

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
)

var _ port.FileHolder = (*source)(nil)

var (
	selectEveryRaw    = db.SQL(`SELECT raw FROM content_revision`)
	selectEveryExport = db.SQL(`SELECT export FROM content_config`)
)

// FileTexts implements port.FileHolder: every revision names files, drafts and
// those in the trash too, and so does the configuration.
func (s *source) FileTexts(ctx context.Context, fn func(text []byte) error) error {
	for _, st := range []*db.Statement{selectEveryRaw, selectEveryExport} {
		if err := s.texts(ctx, st, fn); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) texts(ctx context.Context, st *db.Statement, fn func(text []byte) error) error {
	rows, err := s.store.db.Query(ctx, st)
	if err != nil {
		return err
	}
	defer rows.Close()
	var text []byte
	for rows.Next() {
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if err := fn(text); err != nil {
			return err
		}
	}
	return rows.Err()
}
