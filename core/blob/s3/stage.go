package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/quoin-cms/quoin/core/blob"
)

// A stage is a row of objects <stage>/<offset>, which hold what was appended in
// pieces. They are put together on the server when the stage is published: S3
// wants parts of at least minPart bytes, and takes no more than 10,000.
const (
	minPart  = 5 << 20
	maxPart  = 16 << 20 // of one object, so that little is lost with a connection
	maxParts = 10_000
	staging  = "staging/"
)

// piece is one object of a stage.
type piece struct {
	name string
	at   int64
	size int64
}

func (s *Store) pieceName(stage string, at int64) string {
	return fmt.Sprintf("%s%s%s/%020d", s.c.Prefix, staging, stage, at)
}

// pieces lists the objects of a stage that hold its first size bytes, without
// a gap. Others were left behind by calls that failed.
func (s *Store) pieces(ctx context.Context, stage string, size int64) ([]piece, error) {
	var all []piece
	at := int64(0)
	err := s.list(ctx, s.c.Prefix+staging+stage+"/", func(o minio.ObjectInfo) error { // in the order of their offsets
		offset, err := strconv.ParseInt(o.Key[strings.LastIndexByte(o.Key, '/')+1:], 10, 64)
		if err != nil || offset != at || at >= size {
			return nil //nolint:nilerr // not one of ours
		}
		p := piece{o.Key, offset, min(o.Size, size-at)}
		all = append(all, p)
		at += p.size
		return nil
	})
	if err == nil && at < size {
		err = fmt.Errorf("%w: the stage holds %d bytes and not %d", blob.ErrNotFound, at, size)
	}
	return all, err
}

// Epoch implements blob.Stager: the server has stored what it acknowledged.
func (s *Store) Epoch() string { return "" }

// Append implements blob.Stager. A piece is sent while it is read when its
// length is known, else it is read first.
func (s *Store) Append(ctx context.Context, stage string, at int64, r io.Reader, size int64, keep bool) (n int64, err error) {
	if err := blob.CheckKey(stage); err != nil {
		return 0, err
	}
	if size >= 0 {
		n, err = s.appendKnown(ctx, stage, at, r, size)
	} else {
		n, err = s.appendUnknown(ctx, stage, at, r)
	}
	if err != nil && (!keep || errors.Is(err, blob.ErrFull)) {
		for done := int64(0); done < n; done += maxPart { // the sizes of pieces are known
			err = errors.Join(err, s.remove(context.WithoutCancel(ctx), s.pieceName(stage, at+done)))
		}
		n = 0
	}
	return n, err
}

func (s *Store) appendKnown(ctx context.Context, stage string, at int64, r io.Reader, size int64) (n int64, err error) {
	for n < size {
		part := min(size-n, maxPart)
		source := &source{Reader: io.LimitReader(r, part)}
		_, err := s.core.PutObject(ctx, s.c.Bucket, s.pieceName(stage, at+n), source, part, "", "", minio.PutObjectOptions{})
		if source.err != nil { // whoever sends is to blame, and not the bucket
			return n, source.err
		}
		if err != nil && source.n < part && source.ended {
			return n, blob.ErrSize(n+source.n, size)
		}
		if err != nil {
			return n, told(err)
		}
		n += part
	}
	more, err := io.CopyN(io.Discard, r, 1)
	if more > 0 {
		return n, blob.ErrSize(n+more, size)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// source remembers how reading went.
type source struct {
	io.Reader
	n     int64
	ended bool
	err   error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.n += int64(n)
	if errors.Is(err, io.EOF) {
		s.ended = true
	} else if err != nil {
		s.err = err
	}
	return n, err
}

func (s *Store) appendUnknown(ctx context.Context, stage string, at int64, r io.Reader) (n int64, err error) {
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	for {
		got, rerr := io.ReadFull(r, *buffer)
		ended := errors.Is(rerr, io.EOF) || errors.Is(rerr, io.ErrUnexpectedEOF)
		if rerr != nil && !ended {
			return n, rerr
		}
		if got > 0 {
			_, err := s.core.PutObject(ctx, s.c.Bucket, s.pieceName(stage, at+n), bytes.NewReader((*buffer)[:got]), int64(got), "", "", minio.PutObjectOptions{})
			if err != nil {
				return n, told(err)
			}
			n += int64(got)
		}
		if ended {
			return n, nil
		}
	}
}

// ReadStage implements blob.Stager.
func (s *Store) ReadStage(ctx context.Context, stage string, offset, length int64) (io.ReadCloser, error) {
	if err := blob.CheckKey(stage); err != nil {
		return nil, err
	}
	all, err := s.pieces(ctx, stage, offset+length)
	if err != nil {
		return nil, err
	}
	r := &pieceReader{ctx: ctx, s: s}
	for _, p := range all {
		if skip := offset - p.at; skip < p.size {
			skip = max(skip, 0)
			r.rest = append(r.rest, piece{p.name, skip, p.size - skip})
		}
	}
	return r, nil
}

// pieceReader reads pieces, each from its field at on, one after the other.
type pieceReader struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no other place for it
	s    *Store
	rest []piece
	open io.ReadCloser
}

// Read implements io.Reader.
func (r *pieceReader) Read(b []byte) (int, error) {
	for {
		if r.open == nil {
			if len(r.rest) == 0 {
				return 0, io.EOF
			}
			open, err := r.s.read(r.ctx, r.rest[0].name, r.rest[0].at, r.rest[0].size)
			if err != nil {
				return 0, err
			}
			r.open, r.rest = open, r.rest[1:]
		}
		n, err := r.open.Read(b)
		if errors.Is(err, io.EOF) {
			if err = r.Close(); err == nil && n == 0 {
				continue
			}
		}
		return n, err
	}
}

// Close implements io.Closer.
func (r *pieceReader) Close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	r.open = nil
	return err
}

// Fork implements blob.Stager: the server copies the pieces.
func (s *Store) Fork(ctx context.Context, from, to string, size int64) error {
	if err := errors.Join(blob.CheckKey(from), blob.CheckKey(to)); err != nil {
		return err
	}
	all, err := s.pieces(ctx, from, size)
	if err != nil {
		return err
	}
	for _, p := range all {
		source := minio.CopySrcOptions{Bucket: s.c.Bucket, Object: p.name}
		if _, err := s.core.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: s.c.Bucket, Object: s.pieceName(to, p.at)}, source); err != nil {
			return errors.Join(told(err), s.Discard(context.WithoutCancel(ctx), to))
		}
	}
	return nil
}

// Publish implements blob.Stager.
func (s *Store) Publish(ctx context.Context, stage, key string, size int64) error {
	name, err := s.object(key)
	if err != nil {
		return err
	}
	all, err := s.pieces(ctx, stage, size)
	if err != nil {
		return err
	}
	switch {
	case len(all) == 0:
		_, err = s.core.PutObject(ctx, s.c.Bucket, name, bytes.NewReader(nil), 0, "", "", minio.PutObjectOptions{})
	case len(all) == 1:
		_, err = s.core.Client.CopyObject(ctx, minio.CopyDestOptions{Bucket: s.c.Bucket, Object: name}, minio.CopySrcOptions{Bucket: s.c.Bucket, Object: all[0].name})
	default:
		err = s.assemble(ctx, name, all)
	}
	if err != nil {
		return told(err)
	}
	return s.Discard(ctx, stage)
}

// assemble makes one object of pieces.
func (s *Store) assemble(ctx context.Context, name string, all []piece) error {
	upload, err := s.core.NewMultipartUpload(ctx, s.c.Bucket, name, minio.PutObjectOptions{})
	if err != nil {
		return err
	}
	var parts []minio.CompletePart
	for _, g := range groups(all) {
		part, err := s.part(ctx, name, upload, len(parts)+1, g)
		if err != nil {
			return errors.Join(err, s.core.AbortMultipartUpload(context.WithoutCancel(ctx), s.c.Bucket, name, upload))
		}
		parts = append(parts, part)
	}
	_, err = s.core.CompleteMultipartUpload(ctx, s.c.Bucket, name, upload, parts, minio.PutObjectOptions{})
	return err
}

// groups puts neighbours together until each group is large enough for a part,
// and there are not too many.
func groups(all []piece) [][]piece {
	var list [][]piece
	last := all[len(all)-1]
	least := max(minPart, (last.at+last.size+maxParts-2)/(maxParts-1))
	size, from := int64(0), 0
	for i, p := range all {
		if size += p.size; size >= least || i == len(all)-1 {
			list = append(list, slices.Clone(all[from:i+1]))
			size, from = 0, i+1
		}
	}
	return list
}

// part makes one part: a large piece is copied by the server, small ones go
// through this process.
func (s *Store) part(ctx context.Context, name, upload string, number int, g []piece) (minio.CompletePart, error) {
	if len(g) == 1 {
		return s.core.CopyObjectPart(ctx, s.c.Bucket, g[0].name, s.c.Bucket, name, upload, number, 0, g[0].size, nil)
	}
	r := &pieceReader{ctx: ctx, s: s}
	size := int64(0)
	for _, p := range g {
		r.rest = append(r.rest, piece{p.name, 0, p.size})
		size += p.size
	}
	done, err := s.core.PutObjectPart(ctx, s.c.Bucket, name, upload, number, r, size, minio.PutObjectPartOptions{})
	return minio.CompletePart{PartNumber: number, ETag: done.ETag}, errors.Join(err, r.Close())
}

// Discard implements blob.Stager.
func (s *Store) Discard(ctx context.Context, stage string) error {
	if err := blob.CheckKey(stage); err != nil {
		return err
	}
	return s.list(ctx, s.c.Prefix+staging+stage+"/", func(o minio.ObjectInfo) error { return s.remove(ctx, o.Key) })
}

// Stages implements blob.Stager.
func (s *Store) Stages(ctx context.Context, fn func(blob.Info) error) error {
	stages := map[string]blob.Info{}
	err := s.list(ctx, s.c.Prefix+staging, func(o minio.ObjectInfo) error {
		name, _, _ := strings.Cut(strings.TrimPrefix(o.Key, s.c.Prefix+staging), "/")
		info := stages[name]
		info.Key, info.Size = name, info.Size+o.Size
		if o.LastModified.After(info.Modified) {
			info.Modified = o.LastModified
		}
		stages[name] = info
		return nil
	})
	for _, info := range stages {
		if err == nil {
			err = fn(info)
		}
	}
	return err
}
