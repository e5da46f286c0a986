package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/quoin-cms/quoin/core/blob"
)

// draft is a file without a name, or with one in the folder of stages where
// the system has no such files. A file that is made there and renamed costs two
// locks more, for which all uploads wait in a row.
type draft struct {
	s    *Store
	f    *os.File
	name string
	done bool
}

// Draft implements blob.Drafter.
func (s *Store) Draft(ctx context.Context, r io.Reader) (blob.Draft, int64, error) {
	if err := s.room(0); err != nil {
		return nil, 0, err
	}
	d, err := s.draft()
	if err != nil {
		return nil, 0, told(err)
	}
	var n int64
	if from, ok := r.(io.WriterTo); ok {
		n, err = from.WriteTo(d.f)
	} else {
		n, err = s.copy(ctx, d.f, r)
	}
	if err != nil {
		return nil, 0, errors.Join(told(err), d.Discard(ctx))
	}
	return d, n, nil
}

func (s *Store) draft() (*draft, error) {
	folder := filepath.Join(s.root, staging)
	if s.nameless {
		f, err := openNameless(folder)
		return &draft{s: s, f: f}, err
	}
	f, err := os.CreateTemp(folder, "put-")
	if err != nil {
		return nil, err
	}
	return &draft{s: s, f: f, name: f.Name()}, nil
}

// Publish implements blob.Draft. As with stages the file gets its name first
// and is synced then.
func (d *draft) Publish(ctx context.Context, key string) error {
	to, err := d.s.path(key)
	if err != nil {
		return errors.Join(err, d.Discard(ctx))
	}
	if err := d.place(to); err != nil {
		return errors.Join(err, d.Discard(ctx))
	}
	d.done = true
	if err := errors.Join(told(d.f.Sync()), told(d.f.Close()), syncFolder(filepath.Dir(to))); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

func (d *draft) place(to string) error {
	if d.name == "" {
		err := d.s.inFolder(to, func() error { return link(d.f, to) })
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		d.name = d.s.temporary() // a link does not replace a file
		if err := link(d.f, d.name); err != nil {
			return told(err)
		}
	}
	return d.s.move(d.name, to)
}

// Discard implements blob.Draft.
func (d *draft) Discard(context.Context) error {
	if d.done {
		return nil
	}
	d.done = true
	err := d.f.Close()
	if d.name != "" {
		err = errors.Join(err, ignoreMissing(os.Remove(d.name)))
	}
	return err
}

// temporary is a name in the folder of stages; what a crash leaves there is
// swept with them.
func (s *Store) temporary() string {
	return filepath.Join(s.root, staging, "put-"+strings.ToLower(rand.Text()))
}

// canLink tries whether files without a name work here: not every file system
// has them, and giving them one needs /proc.
func (s *Store) canLink() bool {
	f, err := openNameless(filepath.Join(s.root, staging))
	if err != nil {
		return false
	}
	name := s.temporary()
	return errors.Join(link(f, name), f.Close(), ignoreMissing(os.Remove(name))) == nil
}
