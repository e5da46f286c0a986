package file

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// upload is a row of file_upload: a file that is on its way.
type upload struct {
	ID       string
	Hash     string
	User     string
	Size     int64
	Name     string
	Type     string
	Uploaded int64
	State    string
	Cursors  []int64
}

const uploadColumns = `id, hash, username, size, name, type, uploaded, state, cursors`

func (u *upload) scan(row interface{ Scan(...any) error }) error {
	var cursors string
	err := row.Scan(&u.ID, &u.Hash, &u.User, &u.Size, &u.Name, &u.Type, &u.Uploaded, &u.State, &cursors)
	u.Cursors = parseCursors(cursors)
	return err
}

var (
	selectUpload  = db.SQL(`SELECT ` + uploadColumns + ` FROM file_upload WHERE id = ?`)
	selectUploads = db.SQL(`SELECT ` + uploadColumns + ` FROM file_upload WHERE hash = ? AND username = ? ORDER BY uploaded DESC, id`)
	selectOfHash  = db.SQL(`SELECT id FROM file_upload WHERE hash = ?`)
	selectIdle    = db.SQL(`SELECT id FROM file_upload WHERE touched_at < ? AND lease_until < ?`)
	insertUpload  = db.SQL(`INSERT INTO file_upload (` + uploadColumns + `, owner, lease_until, touched_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	claimUpload   = db.SQL(`UPDATE file_upload SET owner = ?, lease_until = ? WHERE id = ? AND uploaded = ? AND lease_until < ?`)
	renewUpload   = db.SQL(`UPDATE file_upload SET lease_until = ? WHERE id = ? AND owner = ?`)
	commitUpload  = db.SQL(`UPDATE file_upload SET uploaded = ?, state = ?, cursors = ?, lease_until = ?, touched_at = ? WHERE id = ? AND owner = ?`)
	releaseUpload = db.SQL(`UPDATE file_upload SET owner = '', lease_until = 0 WHERE id = ? AND owner = ?`)
	moveCursors   = db.SQL(`UPDATE file_upload SET cursors = ?, touched_at = ? WHERE id = ? AND cursors = ?`)
	deleteUpload  = db.SQL(`DELETE FROM file_upload WHERE id = ?`)
	deleteOfHash  = db.SQL(`DELETE FROM file_upload WHERE hash = ?`)
	freeUploads   = db.SQL(`UPDATE file_upload SET owner = '', lease_until = 0 WHERE lease_until > 0`)
)

// maxCursors bounds how many clients of one user are told apart.
const maxCursors = 64

func parseCursors(text string) []int64 {
	var list []int64
	for _, part := range strings.Fields(text) {
		if n, err := strconv.ParseInt(part, 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

func formatCursors(list []int64) string {
	if len(list) > maxCursors {
		list = list[len(list)-maxCursors:]
	}
	var b []byte
	for _, n := range list {
		b = append(strconv.AppendInt(b, n, 10), ' ')
	}
	return strings.TrimSpace(string(b))
}

// uploads gives a user's uploads of a hash, the furthest first.
func (s store) uploads(ctx context.Context, hash, user string) ([]*upload, error) {
	rows, err := s.db.Query(ctx, selectUploads, hash, user)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*upload
	for rows.Next() {
		u := &upload{}
		if err := u.scan(rows); err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	return list, rows.Err()
}

// upload gives an upload; nil when there is none.
func (s store) upload(ctx context.Context, id string) (*upload, error) {
	u := &upload{}
	err := u.scan(s.db.Row(ctx, selectUpload, id))
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return u, err
}

// begin stores an upload; with an owner it is claimed at once.
func (s store) begin(ctx context.Context, u *upload, owner string, until, now time.Time) error {
	_, err := s.db.Exec(ctx, insertUpload, u.ID, u.Hash, u.User, u.Size, u.Name, u.Type, u.Uploaded, u.State, formatCursors(u.Cursors), owner, db.Micros(until), db.Micros(now))
	return err
}

// claim makes owner the only one who writes to the upload, if it still is
// where it was and nobody else has it.
func (s store) claim(ctx context.Context, u *upload, owner string, until, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, claimUpload, owner, db.Micros(until), u.ID, u.Uploaded, db.Micros(now))
	return n > 0, err
}

// renew keeps a claim; false when it was lost.
func (s store) renew(ctx context.Context, id, owner string, until time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, renewUpload, db.Micros(until), id, owner)
	return n > 0, err
}

// commit stores how far the upload is. until is zero to give the claim up.
func (s store) commit(ctx context.Context, u *upload, owner string, until, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, commitUpload, u.Uploaded, u.State, formatCursors(u.Cursors), db.Micros(until), db.Micros(now), u.ID, owner)
	return n > 0, err
}

func (s store) release(ctx context.Context, id, owner string) error {
	_, err := s.db.Exec(ctx, releaseUpload, id, owner)
	return err
}

// move changes the cursors, if they still are what they were.
func (s store) move(ctx context.Context, u *upload, cursors []int64, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, moveCursors, formatCursors(cursors), db.Micros(now), u.ID, formatCursors(u.Cursors))
	return n > 0, err
}

func (s store) deleteUpload(ctx context.Context, id string) error {
	_, err := s.db.Exec(ctx, deleteUpload, id)
	return err
}

// complete stores a file and ends every upload of it; it gives the uploads
// that were left, and as add how often the file was uploaded.
func (s store) complete(ctx context.Context, o *object, now time.Time) (uploads int64, left []string, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		if uploads, err = s.add(ctx, o, now); err != nil || uploads == 0 {
			return err
		}
		if left, err = s.ids(ctx, selectOfHash, o.Hash); err != nil || len(left) == 0 {
			return err
		}
		return s.db.Queue(ctx, deleteOfHash, o.Hash)
	})
	return uploads, left, err
}

// idle gives the uploads that nobody went on with since.
func (s store) idle(ctx context.Context, since, now time.Time) ([]string, error) {
	return s.ids(ctx, selectIdle, db.Micros(since), db.Micros(now))
}

func (s store) ids(ctx context.Context, st *db.Statement, args ...any) ([]string, error) {
	rows, err := s.db.Query(ctx, st, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, rows.Err()
}

// free gives up every claim: for a process that is the only one.
func (s store) free(ctx context.Context) error {
	_, err := s.db.Exec(ctx, freeUploads)
	return err
}
