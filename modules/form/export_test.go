package form

import (
	"context"
	"strings"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/web"
)

// Sources are the migrations of the module.
func Sources() db.Source {
	return db.Source{Module: "form", Files: module.Sub(migrations, "migrations")}
}

// Operations are the module's endpoints.
func Operations(s *Service) []web.Operation { return operations(s) }

// ParsePath reads a property path.
func ParsePath(path string) ([]string, error) { return parsePath(path) }

// LookUp gives the value under a path.
func LookUp(raw []byte, steps []string) []byte { return lookUp(raw, steps) }

// Parse reads a submission.
func (s *Service) Parse(body []byte) (*Submission, error) { return s.parse(body) }

// Harmless keeps a cell from being a formula.
func Harmless(cell string) string { return harmless(cell) }

var fileIsThere = db.SQL(`SELECT 1 FROM form_file WHERE id = ?`)

// Orphans tells which blobs of submissions no row knows.
func (s *Service) Orphans(ctx context.Context) (keys []string, err error) {
	err = s.blobs.List(ctx, func(i blob.Info) error {
		id, ours := strings.CutPrefix(i.Key, keyPrefix)
		if !ours {
			return nil
		}
		var one int
		if _, err := db.Found(&one, s.store.db.Row(ctx, fileIsThere, id).Scan(&one)); err != nil {
			return err
		}
		if one == 0 {
			keys = append(keys, i.Key)
		}
		return nil
	})
	return keys, err
}
