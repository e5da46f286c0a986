package file

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"sync"

	"github.com/quoin-cms/quoin/core/blob"
)

// Synced is the report of a copy between storages. Sizes are in bytes.
type Synced struct {
	DryRun bool    `json:"dry_run"`
	Copied int64   `json:"copied"`
	Bytes  int64   `json:"bytes"`
	There  int64   `json:"there"` // already at the other place
	Added  int64   `json:"added"` // files that were not known before
	Faults []Fault `json:"faults"`
}

// Syncing says what to copy where.
type Syncing struct {
	Other    blob.Store
	From     bool // from the other storage into ours, else from ours
	DryRun   bool
	Parallel int
	Progress func(*Synced)
}

// Sync copies what one storage has and the other lacks. Every file is hashed on
// the way; one that is not what its name says is reported and not copied. What
// comes into our storage becomes a file here, under its hash as the name. What
// other modules keep in ours, such as the files of submissions, is copied as it
// is: its names tell nothing of its bytes. In the other storage nobody here would
// know of it, nor remove it, and it is left there.
func (s *Service) Sync(ctx context.Context, o Syncing) (*Synced, error) {
	from, to := blob.Store(s.blobs), o.Other
	if o.From {
		from, to = to, from
	}
	if err := errors.Join(from.Check(ctx), to.Check(ctx)); err != nil {
		return nil, err
	}
	run := &syncing{s: s, o: o, from: from, to: to, report: &Synced{DryRun: o.DryRun, Faults: []Fault{}}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan blob.Info)
	var workers sync.WaitGroup
	for range max(1, o.Parallel) {
		workers.Go(func() {
			for i := range todo {
				if err := run.one(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := from.List(ctx, func(i blob.Info) error {
		select {
		case todo <- i:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(todo)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return run.report, err
}

type syncing struct {
	s        *Service
	o        Syncing
	from, to blob.Store
	mu       sync.Mutex
	report   *Synced
}

// one copies one blob and counts it.
func (r *syncing) one(ctx context.Context, i blob.Info) error {
	if ctx.Err() != nil || r.o.From && !isHash(i.Key) {
		return nil
	}
	have, err := r.to.Stat(ctx, i.Key)
	there := err == nil && have.Size == i.Size
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	added := false
	switch err = nil; {
	case r.o.DryRun:
	case isHash(i.Key):
		added, err = r.file(ctx, i, there)
	case !there:
		err = r.other(ctx, i)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var fault errFault
	switch {
	case errors.As(err, &fault):
		r.report.Faults = append(r.report.Faults, Fault{Hash: i.Key, What: string(fault)})
	case err != nil:
		return err
	case there:
		r.report.There++
	default:
		r.report.Copied++
		r.report.Bytes += i.Size
	}
	if added {
		r.report.Added++
	}
	if r.o.Progress != nil {
		r.o.Progress(r.report)
	}
	return nil
}

// file copies the bytes of a file, if need be, and makes it one of ours when they
// come into our storage.
func (r *syncing) file(ctx context.Context, i blob.Info, there bool) (added bool, err error) {
	if there && !r.o.From {
		return false, nil
	}
	algo, head, err := r.copy(ctx, i, there)
	if err != nil || !r.o.From {
		return false, err
	}
	return r.adopt(ctx, i, algo, head)
}

// other copies a blob of another module.
func (r *syncing) other(ctx context.Context, i blob.Info) error {
	in, err := r.from.Get(ctx, i.Key, 0, -1)
	if errors.Is(err, blob.ErrNotFound) { // deleted since it was listed
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(r.to.Put(ctx, i.Key, in, i.Size), in.Close())
}

// copy reads a blob, finds out the algorithm of its hash and stores it; one that
// is there is only read when it may have to be adopted.
func (r *syncing) copy(ctx context.Context, i blob.Info, there bool) (algo string, head []byte, err error) {
	if there {
		o, err := r.s.store.object(ctx, i.Key)
		if err != nil || o != nil {
			return "", nil, err
		}
	}
	in, err := r.from.Get(ctx, i.Key, 0, -1)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = in.Close() }() // only read
	h := &naming{r: in, size: i.Size, key: i.Key, d: map[string]*digest{}}
	for _, a := range algorithms() {
		if a.valid(i.Key) {
			h.d[a.name] = a.begin()
		}
	}
	if there {
		_, err = io.Copy(io.Discard, struct{ io.Reader }{h})
	} else {
		err = r.to.Put(ctx, i.Key, h, i.Size)
	}
	return h.algo, h.head, err
}

// naming hashes what it reads, and fails at the end when no algorithm gives the
// name, so that nothing is stored.
type naming struct {
	r    io.Reader
	size int64
	key  string
	d    map[string]*digest
	n    int64
	head []byte
	algo string
}

// Read implements io.Reader.
func (h *naming) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.n += int64(n)
	for name, d := range h.d {
		_, _ = d.Write(p[:n]) // a hash has no errors
		if h.n == h.size && hex.EncodeToString(d.Sum(nil)) == h.key {
			h.algo = name
		}
	}
	if want := sniffLength - len(h.head); want > 0 {
		h.head = append(h.head, p[:min(n, want)]...)
	}
	if h.n == h.size && h.algo == "" || h.n > h.size {
		return 0, errFault("has other bytes than its hash says")
	}
	return n, err
}

// adopt makes a file of a blob in our storage, unless it is one.
func (r *syncing) adopt(ctx context.Context, i blob.Info, algo string, head []byte) (bool, error) {
	o, err := r.s.store.object(ctx, i.Key)
	if err != nil || o != nil {
		return false, err
	}
	kind := sniff(head)
	n, err := r.s.store.add(ctx, &object{Hash: i.Key, Algo: algo, Size: i.Size, Name: i.Key, Type: kind, Sniffed: kind}, r.s.now())
	return n > 0, err
}
