package file

import (
	"os"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/work"
)

// What tests see of the inside.

// Operations are the endpoints.
func Operations(s *Service) []web.Operation { return operations(s) }

// Defaults are the defaults of the configuration.
func Defaults() *Config { return defaults() }

// Sources are the tables that the module needs.
func Sources() []db.Source {
	return []db.Source{work.Migrations(), event.Migrations(), {Module: "file", Files: os.DirFS("migrations")}}
}

// The functions that tests call one by one.
var (
	CleanName   = cleanName
	CleanType   = cleanType
	Disposition = disposition
	Mark        = mark
	Sniff       = sniff
)
