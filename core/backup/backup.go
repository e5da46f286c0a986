// Package backup writes everything that an installation stores, rows and
// blobs, into one file that any other installation can be made of, whatever
// database and storage that one uses.
//
// The file is a ZIP archive:
//
//	tables/<name>.ndjson   a row per line, an array in the order of the manifest's columns
//	blobs/<key>            the bytes of a blob
//	blobs.ndjson           key, size and SHA-256 of each blob
//	manifest.json          what there is, with counts and checksums
//
// Rows are read in one snapshot of the database, sorted by primary key, and
// written alike by both databases: equal data gives equal bytes. Blobs are
// copied afterwards. They never change, so a blob that a row of the snapshot
// names can only be missing when it was deleted meanwhile; the manifest names
// those.
package backup

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
)

// Format names the layout of the archive.
const Format = "quoin-backup/1"

const (
	manifestName = "manifest.json"
	blobListName = "blobs.ndjson"
	tableFolder  = "tables/"
	blobFolder   = "blobs/"
)

// Module is what a backup needs to know of a module.
type Module struct {
	Name       string
	Migrations fs.FS
	Passing    []string // tables that are left out
	Blobs      []string // queries for the keys of blobs that rows name
}

// Place is an installation that is saved or restored.
type Place struct {
	DB      *db.DB
	Blobs   blob.Store
	Modules []Module // all that the program has, those of the core too
	Version string   // of the program
	// Tell takes lines about how far it is.
	Tell func(line string)
}

// Manifest describes an archive.
type Manifest struct {
	Format   string              `json:"format"`
	Version  string              `json:"version"` // of the program that made it
	Created  time.Time           `json:"created_at"`
	Database string              `json:"database"`
	Modules  map[string][]string `json:"modules"` // the migrations of each
	Tables   []Table             `json:"tables"`
	Blobs    Blobs               `json:"blobs"`
}

// Table describes the rows of one table.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	SHA256  string   `json:"sha256"` // of tables/<name>.ndjson
	// Counter is at least as large as any number that was given to a row, also
	// to those that are gone; 0 when rows are not numbered.
	Counter int64 `json:"counter,omitempty"`
}

// Blobs describes all blobs.
type Blobs struct {
	Count  int64    `json:"count"`
	Bytes  int64    `json:"bytes"`
	SHA256 string   `json:"sha256"` // of blobs.ndjson
	Missed []string `json:"missed"` // named by a row, but not there
}

// entry is a line of blobs.ndjson.
type entry struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func (m *Manifest) rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// Summary says in words what is in it.
func (m *Manifest) Summary() string {
	s := fmt.Sprintf("%d rows of %d tables and %d files with %d bytes, of %s, made by quoin %s from %s",
		m.rows(), len(m.Tables), m.Blobs.Count, m.Blobs.Bytes, m.Created.Format(time.RFC3339), m.Version, m.Database)
	if n := len(m.Blobs.Missed); n > 0 {
		s += fmt.Sprintf("; %d files that rows name were not there", n)
	}
	return s
}

func (p *Place) tell(format string, args ...any) {
	if p.Tell != nil {
		p.Tell(fmt.Sprintf(format, args...))
	}
}

// owner gives the module that a table belongs to: its name, or that and an
// underscore, begins the table's. The longest fits best.
func (p *Place) owner(table string) *Module {
	var best *Module
	for i, m := range p.Modules {
		if (table == m.Name || strings.HasPrefix(table, m.Name+"_")) && (best == nil || len(m.Name) > len(best.Name)) {
			best = &p.Modules[i]
		}
	}
	return best
}

// current refuses to save a database that a newer version has changed: what
// this one does not know of would be left out.
func (p *Place) current(ctx context.Context) error {
	newer, err := p.DB.Newer(ctx, p.sources())
	if err != nil {
		return err
	}
	if len(newer) > 0 {
		return fmt.Errorf("a newer version has changed the database (migration %s of %s), and quoin %s would leave out what it does not know: make the backup with the newer one", newer[0].Name, newer[0].Module, p.Version)
	}
	names, err := tables(ctx, p.DB)
	for _, name := range names {
		module, of := strings.CutPrefix(name, "migration_")
		if of && !strings.HasSuffix(name, "_lock") && !slices.ContainsFunc(p.Modules, func(m Module) bool { return m.Name == module }) {
			return fmt.Errorf("the database holds data of the module %q, which quoin %s does not have: make the backup with the version that does", module, p.Version)
		}
	}
	return err
}

func (p *Place) kept(table string) bool {
	m := p.owner(table)
	return m != nil && !slices.Contains(m.Passing, table)
}

func (p *Place) sources() []db.Source {
	var all []db.Source
	for _, m := range p.Modules {
		if m.Migrations != nil {
			all = append(all, db.Source{Module: m.Name, Files: m.Migrations})
		}
	}
	return all
}
