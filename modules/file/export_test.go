package file

import (
	"bufio"
	"io"
	"mime/multipart"
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

// Parts reads a form to its end, with a buffer of the size: fn gets each part.
func Parts(body io.Reader, boundary string, size int, fn func(head *multipart.Part, body io.Reader) error) error {
	f := newFormReader(bufio.NewReaderSize(body, size), boundary)
	for {
		p, err := f.next()
		if err != nil {
			return err
		}
		if err := fn(&p.head, p.body); err != nil {
			return err
		}
	}
}

// ErrPartHead is the error of a header that breaks off or is too large.
var ErrPartHead = errPartHead
