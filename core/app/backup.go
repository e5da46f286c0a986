package app

import (
	"github.com/quoin-cms/quoin/core/backup"
	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/work"
)

// Blobs opens the store of files that the configuration names.
func (a *App) Blobs() (blob.Store, error) { return a.Config.openBlobs() }

// Place is this installation as backups see it: with the data of modules that
// are switched off, too.
func (a *App) Place(version string) (*backup.Place, error) {
	blobs, err := a.Blobs()
	if err != nil {
		return nil, err
	}
	p := &backup.Place{DB: a.DB, Blobs: blobs, Version: version}
	w, e := work.Migrations(), event.Migrations()
	p.Modules = []backup.Module{{Name: w.Module, Migrations: w.Files}, {Name: e.Module, Migrations: e.Files}}
	for _, s := range a.Config.all {
		p.Modules = append(p.Modules, backup.Module{Name: s.Name, Migrations: s.Migrations, Passing: s.Passing, Blobs: s.Blobs})
	}
	return p, nil
}
