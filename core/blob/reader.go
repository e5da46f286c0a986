package blob

import (
	"context"
	"errors"
	"io"
)

// Reader reads a blob as an io.ReadSeeker, for http.ServeContent. It asks the
// store when it is read and not when it is sought. Close it.
type Reader struct {
	ctx   context.Context //nolint:containedctx // io.Reader has no other place for it
	store Store
	key   string
	size  int64

	at   int64
	open io.ReadCloser
	next int64 // what open gives next
}

// NewReader reads the blob of a known size, in bytes.
func NewReader(ctx context.Context, s Store, key string, size int64) *Reader {
	return &Reader{ctx: ctx, store: s, key: key, size: size}
}

// Begin asks the store for what begins at the offset, so that an error is known
// before anything is answered.
func (r *Reader) Begin(offset int64) error {
	if err := r.Close(); err != nil || offset >= r.size {
		return err
	}
	open, err := r.store.Get(r.ctx, r.key, offset, r.size-offset)
	if err == nil {
		r.open, r.next = open, offset
	}
	return err
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.open == nil || r.next != r.at {
		if err := r.Begin(r.at); err != nil {
			return 0, err
		}
	}
	n, err := r.open.Read(p)
	r.at += int64(n)
	r.next = r.at
	if errors.Is(err, io.EOF) && r.at < r.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("blob: seek before the beginning")
	}
	r.at = offset
	return offset, nil
}

// Close implements io.Closer.
func (r *Reader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}
