package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/quoin-cms/quoin/core/blob"
)

// Epoch implements blob.Stager: it is the boot of the machine.
func (s *Store) Epoch() string { return s.epoch }

// bootID names the running of the machine, or this process where the system
// does not tell.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return rand.Text()
	}
	return strings.TrimSpace(string(text))
}

// Append implements blob.Stager: a stage is a file, which Publish syncs.
func (s *Store) Append(ctx context.Context, stage string, at int64, r io.Reader, size int64, keep bool) (int64, error) {
	path, err := s.stage(stage)
	if err != nil {
		return 0, err
	}
	if err := s.room(max(size, 0)); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return 0, told(err)
	}
	n, err := s.append(ctx, f, at, r, size)
	if err != nil && (!keep || errors.Is(err, blob.ErrFull)) {
		n = 0
		err = errors.Join(err, f.Truncate(at)) // gives the room back
	}
	return n, errors.Join(err, told(f.Close()))
}

func (s *Store) append(ctx context.Context, f *os.File, at int64, r io.Reader, size int64) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() < at {
		return 0, fmt.Errorf("%w: the stage holds %d bytes and not %d", blob.ErrNotFound, info.Size(), at)
	}
	if info.Size() > at {
		if err := f.Truncate(at); err != nil {
			return 0, told(err)
		}
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := s.copy(ctx, f, r)
	if err == nil && size >= 0 && n != size {
		err = blob.ErrSize(n, size)
	}
	return n, err
}

// ReadStage implements blob.Stager.
func (s *Store) ReadStage(_ context.Context, stage string, offset, length int64) (io.ReadCloser, error) {
	path, err := s.stage(stage)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, told(err)
	}
	return section(f, offset, length)
}

// Fork implements blob.Stager. The system may share the blocks of the files.
func (s *Store) Fork(ctx context.Context, from, to string, size int64) error {
	path, err := s.stage(to)
	if err != nil {
		return err
	}
	if size == 0 {
		return s.Discard(ctx, to)
	}
	if err := s.room(size); err != nil {
		return err
	}
	r, err := s.ReadStage(ctx, from, 0, size)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode)
	if err != nil {
		return told(err)
	}
	n, err := f.ReadFrom(r.(part).Reader)
	if err == nil && n != size {
		err = blob.ErrSize(n, size)
	}
	if err = errors.Join(told(err), told(f.Close())); err != nil {
		return errors.Join(err, s.Discard(ctx, to))
	}
	return nil
}

// Publish implements blob.Stager. The file is renamed first and synced then:
// that is one flush of the journal, and not two.
func (s *Store) Publish(_ context.Context, stage, key string, size int64) error {
	path, err := s.stage(stage)
	if err != nil {
		return err
	}
	to, err := s.path(key)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, fileMode) // nothing was appended to an empty one
	if err != nil {
		return told(err)
	}
	if err := told(shorten(f, size)); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := s.move(path, to); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(told(f.Sync()), told(f.Close()), syncFolder(filepath.Dir(to))); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// shorten cuts off what a call that failed has left behind.
func shorten(f *os.File, size int64) error {
	info, err := f.Stat()
	switch {
	case err != nil || info.Size() == size:
		return err
	case info.Size() < size:
		return fmt.Errorf("%w: the stage holds %d bytes and not %d", blob.ErrNotFound, info.Size(), size)
	}
	return f.Truncate(size)
}

// Discard implements blob.Stager.
func (s *Store) Discard(_ context.Context, stage string) error {
	path, err := s.stage(stage)
	if err != nil {
		return err
	}
	return ignoreMissing(os.Remove(path))
}

// Stages implements blob.Stager.
func (s *Store) Stages(ctx context.Context, fn func(blob.Info) error) error {
	return each(ctx, filepath.Join(s.root, staging), fn)
}
