package form

import (
	"context"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// store reads and writes submissions (here) and codes (store_code.go).
type store struct{ db *db.DB }

const columns = `s.seq, s.id, s.name, s.instance, s.locale, s.label, s.data, s.expires_at, s.tries, s.process_id, s.process_by,
	s.held_until, s.processed_at, s.created_at, s.modified_at`

const free = `SELECT ` + columns + ` FROM form_submission s WHERE s.processed_at = 0 AND s.name = ? AND s.held_until <= ?
	AND (s.expires_at = 0 OR s.expires_at > ?) ORDER BY s.seq LIMIT 1`

var (
	insertSubmission = db.SQL(`INSERT INTO form_submission (id, name, instance, locale, label, data, expires_at, created_at, modified_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	insertFile = db.SQL(`INSERT INTO form_file (id, submission_id, position, filename, mime_type, size, form_field) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	// An expired submission is not there any more, also before it is deleted.
	oneSubmission = db.SQL(`SELECT ` + columns + ` FROM form_submission s WHERE s.id = ? AND (s.expires_at = 0 OR s.expires_at > ?)`)
	listAfter     = db.SQL(`SELECT ` + columns + ` FROM form_submission s WHERE s.seq > ? AND (s.expires_at = 0 OR s.expires_at > ?)
		AND (? = '' OR s.name = ?) AND (? = '' OR s.instance = ?) AND (? = '' OR s.locale = ?) AND s.created_at >= ? AND s.created_at < ?
		AND (? = '' OR ? = 'yes' AND s.processed_at > 0 OR ? = 'no' AND s.processed_at = 0) ORDER BY s.seq LIMIT ?`)
	filesOf  = db.SQL(`SELECT id, filename, mime_type, size, form_field FROM form_file WHERE submission_id = ? ORDER BY position`)
	nextFree = db.Dual(free, free+` FOR UPDATE SKIP LOCKED`)
	hold     = db.SQL(`UPDATE form_submission SET tries = tries + 1, process_id = ?, process_by = ?, held_until = ?, modified_at = ? WHERE id = ? AND processed_at = 0 AND held_until <= ?`)
	letGo    = db.SQL(`UPDATE form_submission SET process_id = NULL, held_until = 0, modified_at = ? WHERE id = ? AND process_id = ? AND processed_at = 0`)
	process  = db.SQL(`UPDATE form_submission SET processed_at = ?, held_until = 0, modified_at = ?, data = CASE WHEN ? THEN data ELSE NULL END
		WHERE id = ? AND process_id = ? AND processed_at = 0`)

	trashFiles = db.SQL(`INSERT INTO form_trash (key, created_at) SELECT 'form-' || id, ? FROM form_file WHERE submission_id = ? ON CONFLICT DO NOTHING`)
	trashKey   = db.SQL(`INSERT INTO form_trash (key, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING`)
	dropFiles  = db.SQL(`DELETE FROM form_file WHERE submission_id = ?`)
	dropOne    = db.SQL(`DELETE FROM form_submission WHERE id = ?`)
	expired    = db.SQL(`SELECT id FROM form_submission WHERE expires_at > 0 AND expires_at <= ? ORDER BY expires_at LIMIT ?`)
	listTrash  = db.SQL(`SELECT key FROM form_trash WHERE key > ? ORDER BY key LIMIT ?`)
	emptyTrash = db.SQL(`DELETE FROM form_trash WHERE key = ?`)
	trashedAt  = db.SQL(`SELECT created_at FROM form_trash WHERE key = ?`)

	insertAccess = db.SQL(`INSERT INTO form_access (submission_id, username, what, address, at) VALUES (?, ?, ?, ?, ?)`)
	accessOf     = db.SQL(`SELECT username, what, address, at FROM form_access WHERE submission_id = ? ORDER BY id`)
	sweepAccess  = db.SQL(`DELETE FROM form_access WHERE at < ?`)
)

func scan(row db.Row) (*Submission, error) {
	var s Submission
	var data, processID, processBy *string
	var expires, held, processed, created, modified int64
	err := row.Scan(&s.Seq, &s.ID, &s.Name, &s.Instance, &s.Locale, &s.Label, &data, &expires, &s.Tries, &processID, &processBy,
		&held, &processed, &created, &modified)
	if err != nil {
		return nil, err
	}
	if data != nil {
		s.Data = []byte(*data)
	}
	if processID != nil {
		s.ProcessID = *processID
	}
	if processBy != nil {
		s.ProcessBy = *processBy
	}
	s.ExpiresAt, s.HeldUntil, s.Processed = db.Time(expires), db.Time(held), db.Time(processed)
	s.CreatedAt, s.Modified = db.Time(created), db.Time(modified)
	return &s, nil
}

// insert stores a submission whose files are in the blob store already.
func (st *store) insert(ctx context.Context, s *Submission) error {
	if _, err := st.db.Exec(ctx, insertSubmission, s.ID, s.Name, s.Instance, s.Locale, s.Label, string(s.Data), db.Micros(s.ExpiresAt),
		db.Micros(s.CreatedAt), db.Micros(s.Modified)); err != nil {
		return err
	}
	for i, f := range s.Files {
		if _, err := st.db.Exec(ctx, insertFile, f.ID, s.ID, i, f.Filename, f.MimeType, f.Size, f.FormField); err != nil {
			return err
		}
		n, err := st.db.Exec(ctx, emptyTrash, f.key()) // see Service.keep
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("the bytes of the file %s were collected before the submission was stored", f.ID)
		}
	}
	return nil
}

// one finds a submission with its files, nil when there is none.
func (st *store) one(ctx context.Context, id string, now time.Time) (*Submission, error) {
	s, err := db.Found(scan(st.db.Row(ctx, oneSubmission, id, db.Micros(now))))
	if err != nil || s == nil {
		return nil, err
	}
	return s, st.files(ctx, s)
}

// files adds the files of a submission.
func (st *store) files(ctx context.Context, s *Submission) error {
	var err error
	s.Files, err = db.All(ctx, st.db, func(row db.Row) (*File, error) {
		f := &File{}
		return f, row.Scan(&f.ID, &f.Filename, &f.MimeType, &f.Size, &f.FormField)
	}, filesOf, s.ID)
	return err
}

// page lists submissions after one, by age, without their files.
func (st *store) page(ctx context.Context, f Filter, after int64, now time.Time, limit int) ([]*Submission, error) {
	until := f.Until
	if until.IsZero() {
		until = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return db.All(ctx, st.db, scan, listAfter, after, db.Micros(now), f.Name, f.Name, f.Instance, f.Instance, f.Locale, f.Locale,
		db.Micros(f.Since), db.Micros(until), f.Processed, f.Processed, f.Processed, limit)
}

// remove deletes a submission with its files; their bytes go to the trash.
func (st *store) remove(ctx context.Context, id string, now time.Time) (files int64, err error) {
	if files, err = st.removeFiles(ctx, id, now); err != nil {
		return 0, err
	}
	_, err = st.db.Exec(ctx, dropOne, id)
	return files, err
}

// removeFiles deletes the files of a submission.
func (st *store) removeFiles(ctx context.Context, id string, now time.Time) (files int64, err error) {
	if _, err := st.db.Exec(ctx, trashFiles, db.Micros(now), id); err != nil {
		return 0, err
	}
	return st.db.Exec(ctx, dropFiles, id)
}

// strings runs a query that answers texts.
func (st *store) strings(ctx context.Context, q *db.Statement, args ...any) ([]string, error) {
	return db.All(ctx, st.db, db.Value[string], q, args...)
}
