package content

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
)

var (
	selectOUUIDs = db.SQL(`SELECT DISTINCT ouuid FROM content_revision WHERE type_id = ? AND ouuid > ? AND NOT deleted ORDER BY ouuid LIMIT 500`)
	holdHistory  = db.Dual(`SELECT count(*) FROM content_revision WHERE type_id = ? AND ouuid = ?`,
		`SELECT count(*) FROM (SELECT id FROM content_revision WHERE type_id = $1 AND ouuid = $2 ORDER BY id FOR UPDATE) AS held`)
	pruneHistory = db.SQL(`DELETE FROM content_revision WHERE type_id = ? AND ouuid = ? AND NOT draft
		AND number < (SELECT max(newest.number) FROM content_revision newest WHERE newest.type_id = ? AND newest.ouuid = ? AND NOT newest.draft)
		AND NOT EXISTS (SELECT 1 FROM content_publication p WHERE p.type_id = content_revision.type_id AND p.ouuid = content_revision.ouuid AND p.revision_id = content_revision.id)`)
	unlockDrafts = db.SQL(`UPDATE content_revision SET lock_by = '', lock_until = 0 WHERE draft AND lock_by <> ''
		AND (? = '' OR lock_by = ?) AND (CAST(? AS bigint) = 0 OR type_id = ?) AND (CAST(? AS bigint) = 0 OR id = ?)`)
)

// ouuids gives a page of the documents of a type, those after a name.
func (s store) ouuids(ctx context.Context, typeID int64, after string) (page []string, err error) {
	return db.All(ctx, s.db, db.Value[string], selectOUUIDs, typeID, after)
}

// prune removes the revisions of a document that are final but neither the
// newest nor published.
func (s store) prune(ctx context.Context, typeID int64, ouuid string) (n int64, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		var all int64 // one that is being published must be seen as such afterwards
		if err := s.db.Row(ctx, holdHistory, typeID, ouuid).Scan(&all); err != nil {
			return err
		}
		n, err = s.db.Exec(ctx, pruneHistory, typeID, ouuid, typeID, ouuid)
		return err
	})
	return n, err
}

// unlock takes locks away; an empty name, type 0 and id 0 mean any.
func (s store) unlock(ctx context.Context, user string, typeID, id int64) (int64, error) {
	return s.db.Exec(ctx, unlockDrafts, user, user, typeID, typeID, id, id)
}
