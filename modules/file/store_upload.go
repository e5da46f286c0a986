package file

import (
	"context"
	"errors"
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
}

const uploadColumns = `id, hash, username, size, name, type, uploaded, state`

func (u *upload) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&u.ID, &u.Hash, &u.User, &u.Size, &u.Name, &u.Type, &u.Uploaded, &u.State)
}

var (
	selectUpload  = db.SQL(`SELECT ` + uploadColumns + ` FROM file_upload WHERE id = ?`)
	selectUploads = db.SQL(`SELECT ` + uploadColumns + ` FROM file_upload WHERE hash = ? AND username = ? ORDER BY uploaded DESC, id`)
	selectOfHash  = db.SQL(`SELECT id FROM file_upload WHERE hash = ?`)
	selectIdle    = db.SQL(`SELECT ` + uploadColumns + ` FROM file_upload WHERE touched_at < ? AND lease_until < ?`)
	// insertUpload begins an upload of a file that has not come to be in the
	// meantime.
	insertUpload = db.SQL(`INSERT INTO file_upload (` + uploadColumns + `, owner, lease_until, touched_at)
		SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text), CAST(? AS bigint), CAST(? AS text), CAST(? AS text), CAST(? AS bigint), CAST(? AS text),
		CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint) WHERE NOT EXISTS (SELECT 1 FROM file_object WHERE hash = ? AND removing_at = 0)`)
	claimUpload   = db.SQL(`UPDATE file_upload SET owner = ?, lease_until = ? WHERE id = ? AND uploaded = ? AND lease_until < ?`)
	renewUpload   = db.SQL(`UPDATE file_upload SET lease_until = ? WHERE id = ? AND owner = ?`)
	commitUpload  = db.SQL(`UPDATE file_upload SET uploaded = ?, state = ?, lease_until = ?, touched_at = ? WHERE id = ? AND owner = ?`)
	releaseUpload = db.SQL(`UPDATE file_upload SET owner = '', lease_until = 0 WHERE id = ? AND owner = ?`)
	deleteUpload  = db.SQL(`DELETE FROM file_upload WHERE id = ?`)
	deleteOfHash  = db.SQL(`DELETE FROM file_upload WHERE hash = ?`)
	insertClient  = db.SQL(`INSERT INTO file_client (hash, username, at, touched_at) VALUES (?, ?, ?, ?)`)
	selectClients = db.SQL(`SELECT DISTINCT at FROM file_client WHERE hash = ? AND username = ? ORDER BY at`)
	// moveClient moves one of the clients that are at an offset. Two that do so
	// at once may choose the same: the second moves none.
	moveClient  = db.SQL(`UPDATE file_client SET at = ?, touched_at = ? WHERE id = (SELECT min(id) FROM file_client WHERE hash = ? AND username = ? AND at = ?) AND at = ?`)
	dropClients = db.SQL(`DELETE FROM file_client WHERE hash = ? AND username = ? AND id <= (SELECT id FROM file_client WHERE hash = ? AND username = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`)
	// deleteClients forgets the clients of uploads that are no more.
	deleteClients = db.SQL(`DELETE FROM file_client WHERE NOT EXISTS (SELECT 1 FROM file_upload u WHERE u.hash = file_client.hash AND u.username = file_client.username) AND hash = ?`)
)

// uploads gives a user's uploads of a hash, the furthest first.
func (s store) uploads(ctx context.Context, hash, user string) ([]*upload, error) {
	return s.list(ctx, selectUploads, hash, user)
}

// idle gives the uploads that nobody went on with since.
func (s store) idle(ctx context.Context, since, now time.Time) ([]*upload, error) {
	return s.list(ctx, selectIdle, db.Micros(since), db.Micros(now))
}

func (s store) list(ctx context.Context, st *db.Statement, args ...any) ([]*upload, error) {
	return db.All(ctx, s.db, func(row db.Row) (*upload, error) {
		u := &upload{}
		return u, u.scan(row)
	}, st, args...)
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

// begin stores an upload, unless its file is there by now; with an owner it is
// claimed at once.
func (s store) begin(ctx context.Context, u *upload, owner string, until, now time.Time) (bool, error) {
	if s.claims != nil && owner != "" {
		s.claims.take(u.ID, owner, until, now) // nobody knows of it yet
		owner, until = "", time.Time{}
	}
	n, err := s.db.Exec(ctx, insertUpload, u.ID, u.Hash, u.User, u.Size, u.Name, u.Type, u.Uploaded, u.State, owner, db.Micros(until), db.Micros(now), u.Hash)
	return n > 0, err
}

// claim makes owner the only one who writes to the upload, if it still is
// where it was and nobody else has it.
func (s store) claim(ctx context.Context, u *upload, owner string, until, now time.Time) (bool, error) {
	if s.claims == nil {
		n, err := s.db.Exec(ctx, claimUpload, owner, db.Micros(until), u.ID, u.Uploaded, db.Micros(now))
		return n > 0, err
	}
	if !s.claims.take(u.ID, owner, until, now) {
		return false, nil
	}
	is, err := s.upload(ctx, u.ID)
	if err != nil || is == nil || is.Uploaded != u.Uploaded {
		s.claims.drop(u.ID, owner)
		return false, err
	}
	return true, nil
}

// renew keeps a claim; false when it was lost.
func (s store) renew(ctx context.Context, id, owner string, until time.Time) (bool, error) {
	if s.claims != nil {
		return s.claims.renew(id, owner, until), nil
	}
	n, err := s.db.Exec(ctx, renewUpload, db.Micros(until), id, owner)
	return n > 0, err
}

// commit stores how far the upload is, and moves its client there from an
// offset. until is zero to give the claim up.
func (s store) commit(ctx context.Context, u *upload, from int64, owner string, until, now time.Time) (kept bool, err error) {
	holder, row := owner, until
	if s.claims != nil {
		if !s.claims.owns(u.ID, owner) {
			return false, nil
		}
		defer func() { s.claims.renew(u.ID, owner, until) }() // not before the row tells how far it is
		holder, row = "", time.Time{}
	}
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		n, err := s.db.Exec(ctx, commitUpload, u.Uploaded, u.State, db.Micros(row), db.Micros(now), u.ID, holder)
		kept = n > 0
		if err != nil || !kept {
			return err
		}
		return s.moveClient(ctx, u.Hash, u.User, from, u.Uploaded, now)
	})
	return kept, err
}

// maxClients bounds how many clients of one user are told apart.
const maxClients = 64

// join notes a client that begins at an offset.
func (s store) join(ctx context.Context, hash, user string, at int64, now time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Queue(ctx, insertClient, hash, user, at, db.Micros(now)); err != nil {
			return err
		}
		return s.db.Queue(ctx, dropClients, hash, user, hash, user, maxClients)
	})
}

// clients gives the offsets at which the clients of a user are.
func (s store) clients(ctx context.Context, hash, user string) ([]int64, error) {
	return db.All(ctx, s.db, db.Value[int64], selectClients, hash, user)
}

// moveClient moves a client from an offset to another.
func (s store) moveClient(ctx context.Context, hash, user string, from, to int64, now time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		n, err := s.db.Exec(ctx, moveClient, to, db.Micros(now), hash, user, from, from)
		if err != nil || n > 0 {
			return err
		}
		return s.db.Queue(ctx, insertClient, hash, user, to, db.Micros(now))
	})
}

func (s store) release(ctx context.Context, id, owner string) error {
	if s.claims != nil {
		s.claims.drop(id, owner)
		return nil
	}
	_, err := s.db.Exec(ctx, releaseUpload, id, owner)
	return err
}

func (s store) deleteUpload(ctx context.Context, u *upload) error {
	s.claims.forget(u.ID)
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Queue(ctx, deleteUpload, u.ID); err != nil {
			return err
		}
		return s.db.Queue(ctx, deleteClients, u.Hash)
	})
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
		if err := s.db.Queue(ctx, deleteOfHash, o.Hash); err != nil {
			return err
		}
		return s.db.Queue(ctx, deleteClients, o.Hash)
	})
	for _, id := range left {
		s.claims.forget(id)
	}
	return uploads, left, err
}

func (s store) ids(ctx context.Context, st *db.Statement, args ...any) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string], st, args...)
}
