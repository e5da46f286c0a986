package backup

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
)

// Create writes a backup into a new file, which only its owner may read: it
// holds personal data and the hashes of passwords. The file has its name once
// it is complete and on the disk. The server may run meanwhile.
func Create(ctx context.Context, p *Place, path string) (*Manifest, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, exists(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial") // of its own, for another process may be at the same
	if err != nil {
		return nil, err
	}
	m, err := Write(ctx, p, f)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = name(f.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	return m, syncFolder(filepath.Dir(path))
}

// Write is Create for a pipe. What it wrote before an error has no end, and is
// refused as a backup.
func Write(ctx context.Context, p *Place, to io.Writer) (*Manifest, error) {
	w := &writer{place: p, zip: zip.NewWriter(to), named: map[string]bool{}}
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	return &w.manifest, w.zip.Close()
}

// name gives a file the name that it is to have, which no other file has.
func name(partial, path string) error {
	switch err := os.Link(partial, path); {
	case errors.Is(err, fs.ErrExist):
		return exists(path)
	case err == nil:
		return os.Remove(partial)
	}
	return os.Rename(partial, path) // not every file system has links
}

func exists(path string) error {
	return fmt.Errorf("%s exists already: a backup does not replace a file", path)
}

func syncFolder(path string) error {
	dir, err := os.Open(path) //nolint:gosec // the folder of the backup
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// writer makes one archive.
type writer struct {
	place    *Place
	zip      *zip.Writer
	manifest Manifest
	named    map[string]bool // keys of blobs that rows name
}

func (w *writer) write(ctx context.Context) error {
	w.manifest = Manifest{Format: Format, Version: w.place.Version, Created: time.Now().UTC().Truncate(time.Second), Database: string(w.place.DB.Dialect()), Modules: map[string][]string{}}
	if err := w.place.DB.Snapshot(ctx, w.rows); err != nil {
		return err
	}
	if err := w.blobs(ctx); err != nil {
		return err
	}
	text, err := json.MarshalIndent(w.manifest, "", "  ")
	if err != nil {
		return err
	}
	out, err := w.zip.Create(manifestName)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}

// rows writes what one snapshot of the database holds.
func (w *writer) rows(ctx context.Context) error {
	if err := w.place.current(ctx); err != nil {
		return err
	}
	applied, err := w.place.DB.Migrations(ctx, w.place.sources())
	if err != nil {
		return err
	}
	for _, m := range applied {
		if m.Applied {
			w.manifest.Modules[m.Module] = append(w.manifest.Modules[m.Module], m.Name)
		}
	}
	if len(w.manifest.Modules) == 0 {
		return errors.New("the database holds nothing of quoin: is the configuration the one of the server?")
	}
	names, err := tables(ctx, w.place.DB)
	if err != nil {
		return err
	}
	for _, name := range names {
		if w.place.kept(name) {
			if err := w.table(ctx, name); err != nil {
				return fmt.Errorf("table %s: %w", name, err)
			}
		}
	}
	for _, m := range w.place.Modules {
		if w.manifest.Modules[m.Name] == nil {
			continue
		}
		for _, query := range m.Blobs {
			if err := keys(ctx, w.place.DB, query, func(key string) { w.named[key] = true }); err != nil {
				return fmt.Errorf("the files of %s: %w", m.Name, err)
			}
		}
	}
	return nil
}

// keys calls fn for each key that a query of Module.Blobs gives.
func keys(ctx context.Context, d *db.DB, query string, fn func(key string)) error {
	rows, err := d.Query(ctx, db.SQL(query))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return err
		}
		fn(key)
	}
	return rows.Err()
}

func (w *writer) table(ctx context.Context, name string) error {
	all, err := columns(ctx, w.place.DB, name)
	if err != nil {
		return err
	}
	t := Table{Name: name}
	values, targets := make([]any, len(all)), make([]any, len(all))
	for i, c := range all {
		t.Columns = append(t.Columns, c.name)
		targets[i] = &values[i]
	}
	if t.Counter, err = counter(ctx, w.place.DB, name, all); err != nil {
		return err
	}
	out, sum, err := w.entry(tableFolder+name+".ndjson", zip.Deflate)
	if err != nil {
		return err
	}
	rows, err := w.place.DB.Query(ctx, selection(name, all))
	if err != nil {
		return err
	}
	defer rows.Close()
	var line []byte
	for ; rows.Next(); t.Rows++ {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if line, err = appendRow(line[:0], values); err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	t.SHA256 = hex.EncodeToString(sum.Sum(nil))
	w.manifest.Tables = append(w.manifest.Tables, t)
	w.place.tell("%s: %d rows", name, t.Rows)
	return rows.Err()
}

// entry begins a file of the archive whose bytes are hashed as well.
func (w *writer) entry(name string, method uint16) (io.Writer, hash.Hash, error) {
	out, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	sum := sha256.New()
	return io.MultiWriter(out, sum), sum, err
}

// blobs copies every blob there is now.
func (w *writer) blobs(ctx context.Context) error {
	var all []blob.Info
	err := w.place.Blobs.List(ctx, func(i blob.Info) error { all = append(all, i); return nil })
	if err != nil {
		return fmt.Errorf("list %s: %w", w.place.Blobs, err)
	}
	slices.SortFunc(all, func(a, b blob.Info) int { return cmp.Compare(a.Key, b.Key) })
	var list []entry
	for _, i := range all {
		e, err := w.blob(ctx, i.Key)
		if errors.Is(err, blob.ErrNotFound) { // deleted since it was listed
			continue
		}
		if err != nil {
			return fmt.Errorf("the file %s: %w", i.Key, err)
		}
		list = append(list, e)
		delete(w.named, i.Key)
		w.manifest.Blobs.Bytes += e.Size
		if len(list)%1000 == 0 {
			w.place.tell("%d of %d files", len(list), len(all))
		}
	}
	w.manifest.Blobs.Count = int64(len(list))
	w.manifest.Blobs.Missed = []string{}
	for key := range w.named {
		w.manifest.Blobs.Missed = append(w.manifest.Blobs.Missed, key)
	}
	slices.Sort(w.manifest.Blobs.Missed)
	out, sum, err := w.entry(blobListName, zip.Deflate)
	for _, e := range list {
		if err == nil {
			err = json.NewEncoder(out).Encode(e)
		}
	}
	w.manifest.Blobs.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

func (w *writer) blob(ctx context.Context, key string) (entry, error) {
	r, err := w.place.Blobs.Get(ctx, key, 0, -1)
	if err != nil {
		return entry{}, err
	}
	defer func() { _ = r.Close() }() // it was only read
	first := make([]byte, 64<<10)    // a store may find out at the first read that the blob is gone
	n, err := io.ReadFull(r, first)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return entry{}, err
	}
	out, sum, err := w.entry(blobFolder+key, zip.Store)
	if err != nil {
		return entry{}, err
	}
	if _, err = out.Write(first[:n]); err != nil {
		return entry{}, err
	}
	rest, err := io.Copy(out, r)
	return entry{key, int64(n) + rest, hex.EncodeToString(sum.Sum(nil))}, err
}
