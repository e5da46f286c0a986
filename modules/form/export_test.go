package form

import (
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
