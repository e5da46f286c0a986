package content

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// revision is a row of content_revision.
type revision struct {
	ID          int64
	TypeID      int64
	OUUID       string
	Number      int64
	Draft       bool
	Failed      bool
	Deleted     bool
	Edits       int64
	Raw         []byte
	CreatedAt   int64
	CreatedBy   string
	FinalizedAt int64
	FinalizedBy string
	LockBy      string
	LockUntil   int64
}

// etag names the state of a revision: its id, and for a draft its edits too. A
// draft that becomes final changes its state.
func (r *revision) etag() string {
	b := strconv.AppendInt([]byte{'"'}, r.ID, 10)
	if r.Draft {
		b = strconv.AppendInt(append(b, '-'), r.Edits, 10)
	}
	return string(append(b, '"'))
}

// lockedFor reports whether somebody else holds the lock.
func (r *revision) lockedFor(user string, now time.Time) bool {
	return r.Draft && r.LockBy != "" && r.LockBy != user && r.LockUntil > db.Micros(now)
}

const revisionColumns = `id, type_id, ouuid, number, draft, failed, deleted, edits, raw, created_at, created_by, finalized_at, finalized_by, lock_by, lock_until`

// listColumns leave out the data, which may be megabytes for each revision.
var listColumns = strings.Replace(revisionColumns, " raw,", " '',", 1)

func (r *revision) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&r.ID, &r.TypeID, &r.OUUID, &r.Number, &r.Draft, &r.Failed, &r.Deleted, &r.Edits, &r.Raw,
		&r.CreatedAt, &r.CreatedBy, &r.FinalizedAt, &r.FinalizedBy, &r.LockBy, &r.LockUntil)
}

var (
	selectNewest = db.SQL(`SELECT ` + revisionColumns + ` FROM content_revision
		WHERE type_id = ? AND ouuid = ? ORDER BY number DESC LIMIT 1`)
	selectNewestFinal = db.SQL(`SELECT ` + revisionColumns + ` FROM content_revision
		WHERE type_id = ? AND ouuid = ? AND NOT draft ORDER BY number DESC LIMIT 1`)
	selectHead = db.SQL(`SELECT id, draft, edits, deleted, raw FROM content_revision
		WHERE type_id = ? AND ouuid = ? ORDER BY number DESC LIMIT 1`)
	selectState = db.SQL(`SELECT id, draft, edits, (SELECT count(*) FROM content_publication p
		WHERE p.type_id = r.type_id AND p.ouuid = r.ouuid AND p.revision_id IS NOT NULL)
		FROM content_revision r WHERE type_id = ? AND ouuid = ? ORDER BY number DESC LIMIT 1`)
	selectRevision  = db.SQL(`SELECT ` + revisionColumns + ` FROM content_revision WHERE id = ?`)
	selectRevisions = db.SQL(`SELECT ` + listColumns + ` FROM content_revision
		WHERE type_id = ? AND ouuid = ? AND number < ? ORDER BY number DESC LIMIT ?`)
	insertRevision = db.SQL(`INSERT INTO content_revision
		(type_id, ouuid, number, draft, failed, raw, created_at, created_by, finalized_at, finalized_by, lock_by, lock_until)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`)
	insertFinal = db.SQL(`INSERT INTO content_revision
		(type_id, ouuid, number, draft, raw, created_at, created_by, finalized_at, finalized_by)
		VALUES (?, ?, ?, FALSE, ?, ?, ?, ?, ?) RETURNING id`)
	// Where the id is known before, nobody waits for the insert.
	insertFinalAs = db.SQL(`INSERT INTO content_revision
		(id, type_id, ouuid, number, draft, raw, created_at, created_by, finalized_at, finalized_by)
		VALUES (?, ?, ?, ?, FALSE, ?, ?, ?, ?, ?)`)
	insertAs = db.SQL(`INSERT INTO content_revision
		(id, type_id, ouuid, number, draft, failed, raw, created_at, created_by, finalized_at, finalized_by, lock_by, lock_until)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	// revisionIDs is as the migration makes it.
	revisionIDs = db.NewSequence("content_revision_id", 64)
	updateDraft = db.SQL(`UPDATE content_revision SET raw = ?, failed = ?, edits = edits + 1, created_at = ?, created_by = ?, lock_by = ?, lock_until = ?
		WHERE id = ? AND draft AND edits = ?`)
	finalizeDraft = db.SQL(`UPDATE content_revision SET raw = ?, draft = ?, failed = ?, finalized_at = ?, finalized_by = ?, lock_by = '', lock_until = 0
		WHERE id = ? AND draft AND NOT deleted AND edits = ?`)
	deleteDraft = db.SQL(`DELETE FROM content_revision WHERE id = ? AND draft AND deleted = ? AND edits = ?`)
	markDeleted = db.SQL(`UPDATE content_revision SET deleted = ? WHERE type_id = ? AND ouuid = ? AND deleted <> ?`)
	publish     = db.SQL(`INSERT INTO content_publication (type_id, ouuid, environment_id, revision_id, published_at, published_by)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (type_id, ouuid, environment_id) DO UPDATE SET
		revision_id = excluded.revision_id, published_at = excluded.published_at, published_by = excluded.published_by`)
	unpublish = db.SQL(`UPDATE content_publication SET revision_id = NULL, published_at = ?, published_by = ?
		WHERE type_id = ? AND ouuid = ? AND environment_id = ? AND revision_id IS NOT NULL`)
	unpublishAll = db.SQL(`UPDATE content_publication SET revision_id = NULL, published_at = ?, published_by = ?
		WHERE type_id = ? AND ouuid = ? AND revision_id IS NOT NULL`)
	holdPublications = db.SQL(`UPDATE content_publication SET published_by = published_by
		WHERE type_id = ? AND ouuid = ? AND revision_id IS NOT NULL`)
	// A row that is there already: what collides, when the revision is deleted.
	collideDeleted = db.Dual(`INSERT INTO content_revision (id, type_id, ouuid, number, draft, raw, created_at, created_by)
		SELECT id, type_id, ouuid, number, draft, '', created_at, created_by FROM content_revision WHERE id = ? AND deleted`,
		`WITH head AS MATERIALIZED (SELECT id, type_id, ouuid, number, draft, deleted, created_at, created_by FROM content_revision WHERE id = $1 FOR SHARE)
		INSERT INTO content_revision (id, type_id, ouuid, number, draft, raw, created_at, created_by)
		SELECT id, type_id, ouuid, number, draft, '', created_at, created_by FROM head WHERE deleted`)
	keepRevision = db.Dual(`SELECT id FROM content_revision WHERE id = ? AND NOT deleted`,
		`SELECT id FROM content_revision WHERE id = $1 AND NOT deleted FOR UPDATE`)
	selectPublications = db.SQL(`SELECT environment_id, revision_id FROM content_publication
		WHERE type_id = ? AND ouuid = ? AND revision_id IS NOT NULL ORDER BY environment_id`)
	selectDrafts = db.SQL(`SELECT ` + revisionColumns + ` FROM content_revision WHERE draft AND NOT deleted ORDER BY created_at DESC`)
	listDrafts   = db.SQL(`SELECT ` + listColumns + ` FROM content_revision WHERE draft AND NOT deleted ORDER BY created_at DESC`)
	countOfType  = db.SQL(`SELECT count(*) FROM content_revision WHERE type_id = ? AND NOT deleted`)
)

// store reads and writes documents. It decides nothing.
type store struct{ db *db.DB }

// head gives what a read of a document answers; nil when there is none. The
// drivers hand out text as strings: taken as one it is not copied.
func (s store) head(ctx context.Context, typeID int64, ouuid string) (*Document, error) {
	var r revision
	d := &Document{}
	err := s.db.Row(ctx, selectHead, typeID, ouuid).Scan(&r.ID, &r.Draft, &r.Edits, &r.Deleted, &d.Raw)
	if errors.Is(err, db.ErrNotFound) || err == nil && r.Deleted {
		return nil, nil
	}
	d.ID, d.ETag = r.ID, r.etag()
	return d, err
}

// newest gives the newest revision, also of a deleted document; nil when there
// never was one.
func (s store) newest(ctx context.Context, typeID int64, ouuid string) (*revision, error) {
	return s.one(s.db.Row(ctx, selectNewest, typeID, ouuid))
}

// newestFinal gives the newest revision that is no draft; nil without one.
func (s store) newestFinal(ctx context.Context, typeID int64, ouuid string) (*revision, error) {
	return s.one(s.db.Row(ctx, selectNewestFinal, typeID, ouuid))
}

// gone reports whether a document that was put into the trash is in no
// environment, and its newest revision still the given one, in the state in
// which it was read.
func (s store) gone(ctx context.Context, r *revision) (bool, error) {
	now, published := revision{}, 0
	err := s.db.Row(ctx, selectState, r.TypeID, r.OUUID).Scan(&now.ID, &now.Draft, &now.Edits, &published)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return published == 0 && now.etag() == r.etag(), err
}

func (s store) byID(ctx context.Context, id int64) (*revision, error) {
	return s.one(s.db.Row(ctx, selectRevision, id))
}

func (s store) one(row db.Row) (*revision, error) {
	r := &revision{}
	err := r.scan(row)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return r, err
}

func (s store) list(ctx context.Context, st *db.Statement, args ...any) (all []*revision, err error) {
	err = s.each(ctx, st, args, func(r *revision) bool { all = append(all, r); return true })
	return all, err
}

// each hands out the revisions of a query until fn has enough.
func (s store) each(ctx context.Context, st *db.Statement, args []any, fn func(*revision) bool) error {
	rows, err := s.db.Query(ctx, st, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r := &revision{}
		if err := r.scan(rows); err != nil {
			return err
		}
		if !fn(r) {
			return nil
		}
	}
	return rows.Err()
}

// insert adds a revision and sets its id. A number that is taken answers a
// unique violation, here or at the commit.
func (s store) insert(ctx context.Context, r *revision) (err error) {
	if r.ID, err = s.db.NextID(ctx, revisionIDs); err != nil {
		return err
	}
	switch {
	case r.ID != 0 && !r.Draft:
		return s.db.Queue(ctx, insertFinalAs, r.ID, r.TypeID, r.OUUID, r.Number, db.Text(r.Raw), r.CreatedAt, r.CreatedBy, r.FinalizedAt, r.FinalizedBy)
	case r.ID != 0:
		return s.db.Queue(ctx, insertAs, r.ID, r.TypeID, r.OUUID, r.Number, r.Draft, r.Failed, db.Text(r.Raw), r.CreatedAt, r.CreatedBy,
			r.FinalizedAt, r.FinalizedBy, r.LockBy, r.LockUntil)
	case !r.Draft:
		return s.db.Row(ctx, insertFinal, r.TypeID, r.OUUID, r.Number, db.Text(r.Raw), r.CreatedAt, r.CreatedBy, r.FinalizedAt, r.FinalizedBy).Scan(&r.ID)
	}
	return s.db.Row(ctx, insertRevision, r.TypeID, r.OUUID, r.Number, r.Draft, r.Failed, db.Text(r.Raw), r.CreatedAt, r.CreatedBy,
		r.FinalizedAt, r.FinalizedBy, r.LockBy, r.LockUntil).Scan(&r.ID)
}

// errChanged tells that a draft is not in the state that was read.
var errChanged = problem.New(problem.Conflict, "the document has changed in the meantime; read it again").WithCode("changed")

func (s store) changed(n int64, err error) error {
	if err == nil && n == 0 {
		return errChanged
	}
	return err
}

// edit replaces the data of a draft that is still in the state of r.
func (s store) edit(ctx context.Context, r *revision) error {
	err := s.changed(s.db.Exec(ctx, updateDraft, db.Text(r.Raw), r.Failed, r.CreatedAt, r.CreatedBy, r.LockBy, r.LockUntil, r.ID, r.Edits))
	r.Edits++
	return err
}

// finalize ends a draft that is still in the state of r.
func (s store) finalize(ctx context.Context, r *revision) error {
	return s.changed(s.db.Exec(ctx, finalizeDraft, db.Text(r.Raw), false, false, r.FinalizedAt, r.FinalizedBy, r.ID, r.Edits))
}

func (s store) discard(ctx context.Context, r *revision) error {
	return s.changed(s.db.Exec(ctx, deleteDraft, r.ID, r.Deleted, r.Edits))
}

// unlessDeleted makes the transaction fail with a unique violation, as if
// another write had been faster, when somebody has put the document into the
// trash since its newest revision was read. It waits for no answer, and comes
// after publishing: deleting holds the same rows in that order.
func (s store) unlessDeleted(ctx context.Context, head *revision) error {
	if head == nil || head.Deleted || head.Draft {
		return nil
	}
	return s.db.Queue(ctx, collideDeleted, head.ID)
}

// setDeleted puts every revision of a document into the trash or back.
func (s store) setDeleted(ctx context.Context, typeID int64, ouuid string, deleted bool) error {
	return s.db.Queue(ctx, markDeleted, deleted, typeID, ouuid, deleted)
}

func (s store) publish(ctx context.Context, r *revision, environment int64, at int64, by string) error {
	return s.db.Queue(ctx, publish, r.TypeID, r.OUUID, environment, r.ID, at, by)
}

// unpublish reports whether the document was in the environment.
func (s store) unpublish(ctx context.Context, typeID int64, ouuid string, environment int64, at int64, by string) (bool, error) {
	n, err := s.db.Exec(ctx, unpublish, at, by, typeID, ouuid, environment)
	return n > 0, err
}

func (s store) unpublishAll(ctx context.Context, typeID int64, ouuid string, at int64, by string) error {
	return s.db.Queue(ctx, unpublishAll, at, by, typeID, ouuid)
}

// hold makes whoever publishes or deletes the document at the same time wait
// for this transaction.
func (s store) hold(ctx context.Context, typeID int64, ouuid string) error {
	return s.db.Queue(ctx, holdPublications, typeID, ouuid)
}

// keep makes whoever deletes or removes the revision at the same time wait for
// this transaction, and reports whether it is there and not in the trash.
func (s store) keep(ctx context.Context, id int64) (bool, error) {
	err := s.db.Row(ctx, keepRevision, id).Scan(&id)
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// publications maps the environments a document is in to its revision there.
func (s store) publications(ctx context.Context, typeID int64, ouuid string) (map[int64]int64, error) {
	rows, err := s.db.Query(ctx, selectPublications, typeID, ouuid)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	in := map[int64]int64{}
	for rows.Next() {
		var env, rev int64
		if err := rows.Scan(&env, &rev); err != nil {
			return nil, err
		}
		in[env] = rev
	}
	return in, rows.Err()
}

func (s store) used(ctx context.Context, typeID int64) (bool, error) {
	var n int64
	err := s.db.Row(ctx, countOfType, typeID).Scan(&n)
	return n > 0, err
}
