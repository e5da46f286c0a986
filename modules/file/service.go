// Package file keeps files under the hash of their bytes: uploads in one piece
// or in chunks, downloads, and the care for what is stored.
package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

// Service holds the rules of files.
type Service struct {
	cfg     *Config
	algo    algorithm
	store   store
	blobs   storage
	drafter blob.Drafter
	seen    *seen
	buffers sync.Pool // of bufio.Reader, for chunks
	forms   sync.Pool // the same for forms
	holders []port.FileHolder
	log     *slog.Logger
	now     func() time.Time
	lease   time.Duration // how long a chunk may stand still before another client takes over
}

// storage is what the module needs of a place for blobs.
type storage interface {
	blob.Store
	blob.Stager
}

// Options are what a Service is made from.
type Options struct {
	DB      *db.DB
	Blobs   blob.Store
	Config  *Config
	Holders []port.FileHolder
	Log     *slog.Logger
	Now     func() time.Time
	Lease   time.Duration
}

const standstill = 15 * time.Second

// New makes the service.
func New(o Options) (*Service, error) {
	blobs, ok := o.Blobs.(storage)
	if !ok {
		return nil, errors.New("the storage of files cannot take them in pieces")
	}
	algo, ok := algorithmOf(o.Config.Hash)
	if !ok {
		return nil, errors.New("file.hash: there is no algorithm " + o.Config.Hash)
	}
	s := &Service{cfg: o.Config, algo: algo, store: newStore(o.DB), blobs: blobs, holders: o.Holders, log: o.Log, now: o.Now, lease: o.Lease}
	if s.now == nil {
		s.now = time.Now
	}
	if s.lease == 0 {
		s.lease = standstill
	}
	s.buffers.New = func() any { return bufio.NewReaderSize(nil, peek) }
	s.forms.New = func() any { return bufio.NewReaderSize(nil, formBuffer) }
	if s.drafter, ok = o.Blobs.(blob.Drafter); !ok {
		s.drafter = stages{blobs}
	}
	s.seen = &seen{store: s.store, now: s.now, heads: map[string]int64{}}
	return s, nil
}

// failure is what goes wrong with an upload and is answered in it, with
// success false (spec.md 7, contract-notes 1.7).
type failure struct{ code, text string }

func (f *failure) Error() string { return f.text }

func isFailure(err error) bool { return errors.As(err, new(*failure)) }

func fail(code, text string) error { return &failure{code, text} }

// told gives the errors of a store of blobs their kinds.
func told(err error) error {
	switch {
	case errors.Is(err, blob.ErrFull):
		return problem.Wrap(err, problem.Full, "there is no room left for files").WithCode("storage_full")
	case errors.Is(err, blob.ErrUnavailable):
		p := problem.Wrap(err, problem.Unavailable, "the storage of files cannot be reached; what was uploaded before is kept").WithCode("storage_unavailable")
		p.RetryAfter = 5 * time.Second
		return p
	}
	return err
}

// canonical gives a hash of a request in lower case; NotFound for what cannot
// be one.
func canonical(hash string) (string, error) {
	hash = strings.ToLower(hash)
	if !isHash(hash) {
		return "", unknown(hash)
	}
	return hash, nil
}

func unknown(hash string) error {
	return problem.New(problem.NotFound, "there is no file %.130s", hash).WithCode("file_unknown")
}

// find gives a file that is there, or NotFound.
func (s *Service) find(ctx context.Context, hash string) (*object, error) {
	hash, err := canonical(hash)
	if err != nil {
		return nil, err
	}
	o, err := s.store.object(ctx, hash)
	if err == nil && o == nil {
		err = unknown(hash)
	}
	return o, err
}

// Heads tells for each hash whether its file is there.
func (s *Service) Heads(ctx context.Context, hashes []string) ([]bool, error) {
	var ask []string
	for _, h := range hashes {
		if c, err := canonical(h); err == nil {
			ask = append(ask, c)
		}
	}
	found, err := s.store.objects(ctx, ask)
	if err != nil {
		return nil, err
	}
	list := make([]bool, len(hashes))
	for i, h := range hashes {
		list[i] = found[strings.ToLower(h)] != nil
	}
	return list, s.seen.add(ctx, found)
}

func newStage() string { return uuid.Must(uuid.NewV7()).String() } // fails without randomness only

// drain reads what a client still sends, within reason: one that is answered
// before it has sent everything may not look at the answer.
func drain(r io.Reader) {
	const reason = 64 << 20
	_, _ = io.CopyN(io.Discard, r, reason) // it may have ended, or be gone
}
