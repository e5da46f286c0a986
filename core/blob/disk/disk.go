// Package disk keeps blobs in a folder: <first three characters>/<key>, the
// layout of elasticms, and stages in the folder "staging" beside them.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/quoin-cms/quoin/core/blob"
)

const (
	staging    = "staging" // longer than the name of a folder of blobs
	prefix     = 3
	bufferSize = 256 << 10
	folderMode = 0o700
	fileMode   = 0o600
)

// Store is a folder. It implements blob.Store, blob.Filer, blob.Stager and
// blob.Drafter.
type Store struct {
	root     string
	minFree  int64
	epoch    string
	buffers  sync.Pool
	nameless bool // files without a name can be made and get one later
}

// Open takes a folder, which is made when it is not there. Writing is refused
// with blob.ErrFull when it would leave less than minFree bytes on the disk, so
// that uploads cannot take the room the database needs.
func Open(root string, minFree int64) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(root, staging), folderMode); err != nil {
		return nil, fmt.Errorf("the folder for files: %w", err)
	}
	s := &Store{root: root, minFree: minFree, epoch: bootID()}
	s.buffers.New = func() any { b := make([]byte, bufferSize); return &b }
	s.nameless = s.canLink()
	return s, nil
}

// String implements blob.Store.
func (s *Store) String() string { return "the folder " + s.root }

// Check implements blob.Store.
func (s *Store) Check(context.Context) error {
	_, err := os.Stat(filepath.Join(s.root, staging))
	return err
}

func (s *Store) path(key string) (string, error) {
	if err := blob.CheckKey(key); err != nil {
		return "", err
	}
	return filepath.Join(s.root, key[:prefix], key), nil
}

func (s *Store) stage(name string) (string, error) {
	if err := blob.CheckKey(name); err != nil {
		return "", err
	}
	return filepath.Join(s.root, staging, name), nil
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if _, err := s.path(key); err != nil {
		return err
	}
	if err := s.room(max(size, 0)); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Join(s.root, staging), "put-")
	if err != nil {
		return told(err)
	}
	n, err := s.copy(ctx, f, r)
	if err == nil && size >= 0 && n != size {
		err = blob.ErrSize(n, size)
	}
	return s.settle(f, err, key)
}

// settle makes a file that is complete the blob of a key; after an error it
// removes the file.
func (s *Store) settle(f *os.File, err error, key string) error {
	if err == nil {
		err = told(f.Sync())
	}
	err = errors.Join(err, told(f.Close()))
	if err == nil {
		err = s.rename(f.Name(), key)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(f.Name())))
	}
	return nil
}

// rename moves a synced file to its key and makes the move durable.
func (s *Store) rename(from, key string) error {
	to, err := s.path(key)
	if err == nil {
		err = s.move(from, to)
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// move renames a file and makes the folder when it is the first one there.
func (s *Store) move(from, to string) error {
	return s.inFolder(to, func() error { return os.Rename(from, to) })
}

// inFolder calls fn, and again with the folder of a blob when that was missing.
func (s *Store) inFolder(to string, fn func() error) error {
	err := fn()
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(to), folderMode); err == nil {
			err = errors.Join(syncFolder(s.root), fn())
		}
	}
	return told(err)
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return told(errors.Join(d.Sync(), d.Close()))
}

// copy is io.Copy with full buffers, whatever the reader gives at a time, and
// an eye on the context.
func (s *Store) copy(ctx context.Context, w io.Writer, r io.Reader) (int64, error) {
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	var n int64
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		got, err := fill(r, *buffer)
		if got > 0 {
			wrote, werr := w.Write((*buffer)[:got])
			n += int64(wrote)
			if werr != nil {
				return n, told(werr)
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// fill reads until the buffer is full. Unlike io.ReadFull it leaves io.EOF and
// every other error as it is.
func fill(r io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var got int
		got, err = r.Read(buffer[n:])
		n += got
	}
	return n, err
}

// Get implements blob.Store.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	f, err := s.File(ctx, key)
	if err != nil {
		return nil, err
	}
	return section(f, offset, length)
}

// part is a range of a file.
type part struct {
	io.Reader
	io.Closer
}

func section(f *os.File, offset, length int64) (io.ReadCloser, error) {
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if length < 0 {
		return f, nil
	}
	return part{io.LimitReader(f, length), f}, nil
}

// File implements blob.Filer.
func (s *Store) File(_ context.Context, key string) (*os.File, error) {
	path, err := s.path(key)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	return f, told(err)
}

// Stat implements blob.Store.
func (s *Store) Stat(_ context.Context, key string) (blob.Info, error) {
	path, err := s.path(key)
	if err != nil {
		return blob.Info{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return blob.Info{}, told(err)
	}
	return blob.Info{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil
}

// Delete implements blob.Store.
func (s *Store) Delete(_ context.Context, key string) error {
	path, err := s.path(key)
	if err != nil {
		return err
	}
	return ignoreMissing(os.Remove(path))
}

// List implements blob.Store.
func (s *Store) List(ctx context.Context, fn func(blob.Info) error) error {
	folders, err := os.ReadDir(s.root)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if !folder.IsDir() || len(folder.Name()) != prefix {
			continue
		}
		if err := each(ctx, filepath.Join(s.root, folder.Name()), fn); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn for the files of a folder whose names are keys.
func each(ctx context.Context, folder string, fn func(blob.Info) error) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || blob.CheckKey(e.Name()) != nil) {
			continue
		}
		if err != nil {
			return err
		}
		if err := fn(blob.Info{Key: e.Name(), Size: info.Size(), Modified: info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

// room refuses to begin what does not fit.
func (s *Store) room(size int64) error {
	free, err := freeSpace(s.root)
	if err != nil {
		return err
	}
	if free-size < s.minFree {
		return fmt.Errorf("%w: %d bytes are free in %s, %d of them are not for files", blob.ErrFull, free, s.root, s.minFree)
	}
	return nil
}

// told gives the errors of the system their names in package blob.
func told(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", blob.ErrNotFound, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w: %w", blob.ErrFull, err)
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
