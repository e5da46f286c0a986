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
}

// NewReader reads the blob of a known size, in bytes.
func NewReader(ctx context.Context, s Store, key string, size int64) *Reader {
	return &Reader{ctx: ctx, store: s, key: key, size: size}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.open == nil {
		open, err := r.store.Get(r.ctx, r.key, r.at, r.size-r.at)
		if err != nil {
			return 0, err
		}
		r.open = open
	}
	n, err := r.open.Read(p)
	r.at += int64(n)
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
	if offset != r.at {
		if err := r.Close(); err != nil {
			return 0, err
		}
		r.at = offset
	}
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
