package file

import (
	"context"
	"errors"
	"io"

	"github.com/quoin-cms/quoin/core/blob"
)

// stages makes drafts of stages, where a store has none of its own.
type stages struct{ blobs storage }

// Draft implements blob.Drafter.
func (s stages) Draft(ctx context.Context, r io.Reader) (blob.Draft, int64, error) {
	d := &staged{blobs: s.blobs, id: newStage()}
	n, err := s.blobs.Append(ctx, d.id, 0, r, -1, false)
	if err != nil {
		return nil, 0, errors.Join(err, d.Discard(context.WithoutCancel(ctx)))
	}
	d.size = n
	return d, n, nil
}

// staged is a stage that is complete.
type staged struct {
	blobs storage
	id    string
	size  int64
}

// Publish implements blob.Draft.
func (d *staged) Publish(ctx context.Context, key string) error {
	return d.blobs.Publish(ctx, d.id, key, d.size)
}

// Discard implements blob.Draft.
func (d *staged) Discard(ctx context.Context) error { return d.blobs.Discard(ctx, d.id) }
