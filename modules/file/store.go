package file

import (
	"context"
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/db"
)

// object is a row of file_object: a file that is there.
type object struct {
	ID         int64
	Hash       string
	Algo       string
	Size       int64
	Name       string
	Type       string
	Sniffed    string
	Hidden     bool
	Uploads    int64
	Heads      int64
	FirstSeen  int64
	LastSeen   int64
	UploadedBy string
}

const objectColumns = `id, hash, algo, size, name, type, sniffed, hidden, uploads, heads, first_seen_at, last_seen_at, uploaded_by`

func (o *object) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&o.ID, &o.Hash, &o.Algo, &o.Size, &o.Name, &o.Type, &o.Sniffed, &o.Hidden, &o.Uploads, &o.Heads, &o.FirstSeen, &o.LastSeen, &o.UploadedBy)
}

// stuck is when a removal is taken for one whose process died.
const stuck = time.Minute

var (
	selectObject  = db.SQL(`SELECT ` + objectColumns + ` FROM file_object WHERE hash = ? AND removing_at = 0`)
	selectObjects = db.SQL(`SELECT ` + objectColumns + ` FROM file_object WHERE id > ? AND removing_at = 0 ORDER BY id LIMIT ?`)
	// addObject counts an upload of a file that is there already, unless it is
	// being removed. What markOrphan has left gets its facts.
	addObject = db.SQL(`INSERT INTO file_object (hash, algo, size, name, type, sniffed, first_seen_at, last_seen_at, uploaded_by)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET uploads = file_object.uploads + 1, name = excluded.name, type = excluded.type,
		algo = excluded.algo, size = excluded.size, sniffed = excluded.sniffed,
		uploaded_by = CASE WHEN file_object.uploaded_by = '' THEN excluded.uploaded_by ELSE file_object.uploaded_by END,
		last_seen_at = excluded.last_seen_at, removing_at = 0 WHERE file_object.removing_at < ?
		RETURNING uploads`)
	againObject = db.SQL(`UPDATE file_object SET uploads = uploads + 1, name = ?, type = ?, last_seen_at = ? WHERE hash = ? AND removing_at = 0`)
	touchObject = db.SQL(`UPDATE file_object SET heads = heads + ?, last_seen_at = ? WHERE hash = ? AND last_seen_at <= ?`)
	hideObject  = db.SQL(`UPDATE file_object SET hidden = ? WHERE hash = ? AND removing_at = 0`)
	markObject  = db.SQL(`UPDATE file_object SET removing_at = ? WHERE hash = ? AND last_seen_at < ?`)
	// markOrphan makes a row that is marked for bytes without a row, so that nobody
	// uploads the file while they are removed; one that was left is taken over.
	markOrphan = db.SQL(`INSERT INTO file_object (hash, algo, size, name, type, sniffed, uploads, first_seen_at, last_seen_at, uploaded_by, removing_at)
		VALUES (?, '', ?, '', '', '', 0, ?, 0, '', ?) ON CONFLICT (hash) DO UPDATE SET removing_at = excluded.removing_at
		WHERE file_object.removing_at > 0 AND file_object.removing_at < ?`)
	dropMarked  = db.SQL(`DELETE FROM file_object WHERE hash = ? AND removing_at = ?`)
	dropObject  = db.SQL(`DELETE FROM file_object WHERE hash = ?`)
	countObject = db.SQL(`SELECT count(*), COALESCE(sum(size), 0) FROM file_object`)
)

// store reads and writes rows. It decides nothing. claims is nil where they
// are rows too.
type store struct {
	db     *db.DB
	claims *claims
}

func newStore(d *db.DB) store {
	if d.Dialect() == db.SQLite {
		return store{d, &claims{by: map[string]lease{}}}
	}
	return store{db: d}
}

// object gives a file; nil when there is none.
func (s store) object(ctx context.Context, hash string) (*object, error) {
	o := &object{}
	err := o.scan(s.db.Row(ctx, selectObject, hash))
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return o, err
}

// objects gives those of the hashes that are there.
func (s store) objects(ctx context.Context, hashes []string) (map[string]*object, error) {
	args := make([][]any, len(hashes))
	for i, h := range hashes {
		args[i] = []any{h}
	}
	found := map[string]*object{}
	return found, s.db.Each(ctx, selectObject, args, func(_ int, rows db.Rows) error {
		for rows.Next() {
			o := &object{}
			if err := o.scan(rows); err != nil {
				return err
			}
			found[o.Hash] = o
		}
		return nil
	})
}

// every calls fn for all files, page by page.
func (s store) every(ctx context.Context, fn func(*object) error) error {
	const page = 500
	for last, n := int64(0), page; n == page; {
		n = 0
		var list []*object
		rows, err := s.db.Query(ctx, selectObjects, last, page)
		if err != nil {
			return err
		}
		for rows.Next() {
			o := &object{}
			if err := o.scan(rows); err != nil {
				rows.Close()
				return err
			}
			list = append(list, o)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
		for _, o := range list {
			if err := fn(o); err != nil {
				return err
			}
			n, last = n+1, o.ID
		}
	}
	return nil
}

// add stores a file or counts another upload of it, and tells how often it was
// uploaded by now; 0 when it is being removed at this moment.
func (s store) add(ctx context.Context, o *object, now time.Time) (uploads int64, err error) {
	at := db.Micros(now)
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.Row(ctx, addObject, o.Hash, o.Algo, o.Size, o.Name, o.Type, o.Sniffed, at, at, o.UploadedBy, db.Micros(now.Add(-stuck))).Scan(&uploads)
	})
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	return uploads, err
}

// again counts an upload of a file that is there; false when it is not.
func (s store) again(ctx context.Context, hash, name, typ string, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, againObject, name, typ, db.Micros(now), hash)
	return n > 0, err
}

// touch adds to the counters of files that were asked for.
func (s store) touch(ctx context.Context, heads map[string]int64, now time.Time) error {
	if len(heads) == 0 {
		return nil
	}
	at := db.Micros(now)
	return s.db.InTx(ctx, func(ctx context.Context) error {
		for hash, n := range heads {
			if err := s.db.Queue(ctx, touchObject, n, at, hash, at); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s store) hide(ctx context.Context, hash string, hidden bool) (bool, error) {
	n, err := s.db.Exec(ctx, hideObject, hidden, hash)
	return n > 0, err
}

// mark begins the removal of a file that nobody asked for since; false when
// somebody did.
func (s store) mark(ctx context.Context, hash string, since, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, markObject, db.Micros(now), hash, db.Micros(since))
	return n > 0, err
}

// markOrphan begins the removal of bytes that no row knew; false when the file
// has come since, or is being removed by another process.
func (s store) markOrphan(ctx context.Context, hash string, size int64, now time.Time) (bool, error) {
	at := db.Micros(now)
	n, err := s.db.Exec(ctx, markOrphan, hash, size, at, at, db.Micros(now.Add(-stuck)))
	return n > 0, err
}

// dropMarked ends the removal.
func (s store) dropMarked(ctx context.Context, hash string, marked time.Time) error {
	_, err := s.db.Exec(ctx, dropMarked, hash, db.Micros(marked))
	return err
}

func (s store) drop(ctx context.Context, hash string) error {
	_, err := s.db.Exec(ctx, dropObject, hash)
	return err
}

func (s store) count(ctx context.Context) (n, bytes int64, err error) {
	err = s.db.Row(ctx, countObject).Scan(&n, &bytes)
	return n, bytes, err
}
