package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
)

// Restore makes an installation of a backup: it verifies the backup, puts the
// blobs, and then the rows in one transaction. A database that was used before
// is refused, and so are blobs that are not of the backup. A backup of an older
// version is brought up to date at the end.
func Restore(ctx context.Context, a *Archive, p *Place) error {
	if err := a.fits(p); err != nil {
		return err
	}
	applied, err := p.DB.Migrations(ctx, p.sources())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(applied, func(m db.MigrationState) bool { return m.Applied }) {
		return errors.New("the database is in use, or a restore into it was broken off: restore into an empty one (a new data folder, or a new database)")
	}
	if err := a.Verify(ctx); err != nil {
		return fmt.Errorf("the backup is damaged, and nothing was restored:\n%w", err)
	}
	if err := a.restoreBlobs(ctx, p); err != nil {
		return err
	}
	if _, err := p.DB.Migrate(ctx, a.sources(p)); err != nil {
		return err
	}
	err = p.DB.InTx(ctx, func(ctx context.Context) error {
		for _, t := range a.Manifest.Tables {
			if err := a.restoreTable(ctx, p, t); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = p.DB.Migrate(ctx, a.all(p))
	return err
}

// fits refuses a backup that this program is too old for.
func (a *Archive) fits(p *Place) error {
	for name, migrations := range a.Manifest.Modules {
		i := slices.IndexFunc(p.Modules, func(m Module) bool { return m.Name == name && m.Migrations != nil })
		if i < 0 {
			return fmt.Errorf("the backup was made by quoin %s and holds data of the module %q, which quoin %s does not have: restore it with quoin %[1]s or a newer one", a.Manifest.Version, name, p.Version)
		}
		for _, m := range migrations {
			if !has(p.Modules[i].Migrations, p.DB.Dialect(), m) {
				return fmt.Errorf("the backup was made by quoin %s, which is newer than quoin %s (migration %s of %s): restore it with quoin %[1]s or a newer one", a.Manifest.Version, p.Version, m, name)
			}
		}
	}
	for _, t := range a.Manifest.Tables {
		if !p.kept(t.Name) || len(t.Columns) == 0 {
			return fmt.Errorf("the backup holds a table %.100q that no module has", t.Name)
		}
	}
	return nil
}

func has(files fs.FS, dialect db.Dialect, migration string) bool {
	list, err := fs.ReadDir(files, string(dialect))
	return err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), migration+".") })
}

// all are the migrations of the modules that the backup has data of.
func (a *Archive) all(p *Place) []db.Source {
	return slices.DeleteFunc(p.sources(), func(s db.Source) bool { return a.Manifest.Modules[s.Module] == nil })
}

// sources are the migrations that the backup's database had.
func (a *Archive) sources(p *Place) []db.Source {
	list := a.all(p)
	for i, s := range list {
		list[i].Files = only{s.Files, a.Manifest.Modules[s.Module]}
	}
	return list
}

// only shows those migrations of a folder that are named.
type only struct {
	fs.FS
	names []string
}

// ReadDir implements fs.ReadDirFS.
func (o only) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(o.FS, name)
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		return !e.IsDir() && !slices.ContainsFunc(o.names, func(n string) bool { return strings.HasPrefix(e.Name(), n+".") })
	}), err
}

// flushEvery is how many rows travel to the database at once.
const flushEvery = 256

func (a *Archive) restoreTable(ctx context.Context, p *Place, t Table) error {
	all, err := columns(ctx, p.DB, t.Name)
	if err != nil {
		return err
	}
	kinds := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		at := slices.IndexFunc(all, func(c column) bool { return c.name == name })
		if at < 0 {
			return fmt.Errorf("there is no column %.100q", name)
		}
		kinds[i] = all[at].kind
		if p.DB.Dialect() == db.SQLite && kinds[i] == "boolean" {
			kinds[i] = "integer"
		}
	}
	if _, err := p.DB.Exec(ctx, db.SQL("DELETE FROM "+quote(t.Name))); err != nil { // what its migrations put there
		return err
	}
	insert := insertion(t.Name, t.Columns)
	n := 0
	err = a.lines(ctx, tableFolder+t.Name+".ndjson", t.SHA256, func(line []byte) error {
		values, err := parseRow(line, kinds)
		if err != nil {
			return err
		}
		if n++; n%flushEvery == 0 {
			_, err = p.DB.Exec(ctx, insert, values...)
			return err
		}
		return p.DB.Queue(ctx, insert, values...)
	})
	if err != nil {
		return err
	}
	p.tell("%s: %d rows", t.Name, n)
	return count(ctx, p.DB, t.Name, all, t.Counter)
}

// restoreBlobs puts every blob that is not there yet. Blobs of the backup may
// be there, for a bucket may go on to be used with another database.
func (a *Archive) restoreBlobs(ctx context.Context, p *Place) error {
	there := map[string]int64{}
	if err := p.Blobs.Check(ctx); err != nil { // it makes a bucket that is missing
		return err
	}
	err := p.Blobs.List(ctx, func(i blob.Info) error {
		if a.files[blobFolder+i.Key] == nil {
			return fmt.Errorf("%s holds the file %s, which is not of the backup: restore into an empty place", p.Blobs, i.Key)
		}
		there[i.Key] = i.Size
		return nil
	})
	if err != nil {
		return err
	}
	n := 0
	return a.eachBlob(ctx, func(e entry) error {
		if n++; n%1000 == 0 {
			p.tell("%d of %d files", n, a.Manifest.Blobs.Count)
		}
		if size, ok := there[e.Key]; ok && size == e.Size {
			return nil
		}
		r, err := a.open(blobFolder + e.Key)
		if err != nil {
			return err
		}
		if err := errors.Join(p.Blobs.Put(ctx, e.Key, untilDone{ctx, r}, e.Size), r.Close()); err != nil {
			return fmt.Errorf("the file %s: %w", e.Key, err)
		}
		return nil
	})
}
