package file

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/quoin-cms/quoin/core/blob"
)

// Verified is the report of a check of everything that is stored.
type Verified struct {
	Files  int64   `json:"files"`
	Bytes  int64   `json:"bytes"`
	Faults []Fault `json:"faults"`
}

// Fault is one file that is not as it should be.
type Fault struct {
	Hash string `json:"hash"`
	Name string `json:"name"`
	What string `json:"what"`
}

// errFault is what check finds, in words.
type errFault string

func (e errFault) Error() string { return string(e) }

// Verify reads every file and compares its hash. progress is called after each
// file.
func (s *Service) Verify(ctx context.Context, progress func(v *Verified)) (*Verified, error) {
	v := &Verified{Faults: []Fault{}}
	return v, s.store.every(ctx, func(o *object) error {
		err := s.check(ctx, o)
		var fault errFault
		switch {
		case errors.As(err, &fault):
			v.Faults = append(v.Faults, Fault{o.Hash, o.Name, string(fault)})
		case err != nil:
			return told(err)
		}
		v.Files++
		v.Bytes += o.Size
		progress(v)
		return nil
	})
}

// check reads one file.
func (s *Service) check(ctx context.Context, o *object) error {
	algo, ok := algorithmOf(o.Algo)
	if !ok {
		return errFault("the algorithm " + o.Algo + " is not known")
	}
	r, err := s.blobs.Get(ctx, o.Hash, 0, -1)
	if errors.Is(err, blob.ErrNotFound) {
		return errFault("is missing")
	}
	if err != nil {
		return err
	}
	hash := algo.new()
	n, err := io.Copy(hash, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	if n != o.Size {
		return errFault(fmt.Sprintf("has %d bytes instead of %d", n, o.Size))
	}
	if hex.EncodeToString(hash.Sum(nil)) != o.Hash {
		return errFault("has other bytes than its hash says")
	}
	return nil
}
