package file

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

// files is the Service as other modules work with it.
type files struct{ *Service }

var _ port.Files = files{}

// HashAlgorithm implements port.Files.
func (f files) HashAlgorithm() string { return f.algo.name }

// MaxFileSize implements port.Files.
func (f files) MaxFileSize() int64 { return int64(f.cfg.MaxSize) }

// File implements port.Files.
func (f files) File(ctx context.Context, hash string) (*port.File, error) {
	o, err := f.find(ctx, hash)
	if err != nil {
		return nil, err
	}
	return &port.File{Hash: o.Hash, Algo: o.Algo, Name: o.Name, Type: o.Type, Size: o.Size}, nil
}

// OpenFile implements port.Files.
func (f files) OpenFile(ctx context.Context, hash string) (io.ReadSeekCloser, error) {
	o, err := f.find(ctx, hash)
	if err != nil {
		return nil, err
	}
	r := (&http.Request{Method: http.MethodGet, URL: &url.URL{}, Header: http.Header{}}).WithContext(ctx)
	return f.open(ctx, o, r)
}

// BeginUpload implements port.Files.
func (f files) BeginUpload(ctx context.Context, a port.File) (*port.FileUpload, error) {
	return handed(f.Init(ctx, Announced{Hash: a.Hash, Size: &a.Size, Name: a.Name, Type: a.Type, Algo: a.Algo}))
}

// AddChunk implements port.Files.
func (f files) AddChunk(ctx context.Context, hash string, body io.Reader, length int64) (*port.FileUpload, error) {
	return handed(f.Chunk(ctx, Chunk{Hash: hash, Body: body, Length: length}))
}

// handed hands the state of an upload to other modules. What the endpoints
// answer inside of the state is a problem here.
func handed(st State, err error) (*port.FileUpload, error) {
	if f := (*failure)(nil); errors.As(err, &f) {
		kind := problem.Conflict
		if f.code == "no_upload" {
			kind = problem.NotFound
		}
		return nil, problem.New(kind, "%s", f.text).WithCode(f.code)
	}
	if err != nil {
		return nil, err
	}
	return &port.FileUpload{
		File:     port.File{Hash: st.Hash, Algo: st.Algo, Name: st.Name, Type: st.Type, Size: st.Size},
		Uploaded: st.Uploaded, Available: st.Available, User: st.User,
	}, nil
}
