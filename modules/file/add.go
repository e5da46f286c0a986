package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/problem"
)

// claimed reads a chunk for whoever holds the claim on an upload, and keeps the
// claim as long as bytes come.
type claimed struct {
	ctx   context.Context //nolint:containedctx // io.Reader has no other place for it
	s     *Service
	u     *upload
	owner string
	body  io.Reader
	d     *digest
	left  int64 // bytes that the file still takes
	until time.Time
	lost  bool
	over  bool
	err   error // of the client
}

// Read implements io.Reader.
func (c *claimed) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	if int64(n) > c.left {
		c.over = true
		return 0, tooMany(c.u.Size)
	}
	c.left -= int64(n)
	if now := c.s.now(); now.After(c.until.Add(-c.s.lease * 2 / 3)) {
		c.until = now.Add(c.s.lease)
		kept, rerr := c.s.store.renew(c.ctx, c.u.ID, c.owner, c.until)
		if rerr != nil || !kept {
			c.lost = rerr == nil
			return 0, errors.Join(rerr, errChanged())
		}
	}
	_, _ = c.d.Write(p[:n]) // a hash has no errors
	return n, err
}

// add appends a chunk, of a client that was at from, to an upload that is
// claimed, and finishes the upload when it is complete.
func (s *Service) add(ctx context.Context, st State, u *upload, owner string, from int64, c Chunk, body *bufio.Reader) (State, error) {
	at := u.Uploaded
	d := s.digest(u)
	r := &claimed{ctx: ctx, s: s, u: u, owner: owner, body: body, d: d, left: u.Size - at, until: s.now().Add(s.lease)}
	n, err := s.blobs.Append(ctx, u.ID, at, r, c.Length, c.Offset != nil)
	ctx = context.WithoutCancel(ctx) // the client may be gone; what came is kept
	if errors.Is(err, blob.ErrNotFound) {
		return s.stolen(ctx, st, u)
	}
	if n == 0 && err != nil {
		return st, s.refused(ctx, r, err)
	}
	u.Uploaded += n
	if d.n != n { // not everything that was read is stored
		d.known = false
	}
	u.State = d.state(s.blobs.Epoch())
	now := s.now()
	until := time.Time{}
	if u.Uploaded == u.Size {
		until = now.Add(s.lease)
	}
	kept, cerr := s.store.commit(ctx, u, from, owner, until, now)
	if cerr != nil {
		return st, cerr
	}
	if !kept {
		return s.stolen(ctx, st, u)
	}
	st.Uploaded = u.Uploaded
	if err != nil {
		return st, s.refused(ctx, r, err)
	}
	if u.Uploaded < u.Size {
		return st, nil
	}
	return s.finish(ctx, st, u, owner, d)
}

// digest gives the hash of what was uploaded so far.
func (s *Service) digest(u *upload) *digest {
	if u.Uploaded == 0 {
		return s.algo.begin()
	}
	return s.algo.resume(u.State, s.blobs.Epoch())
}

// refused gives the claim up and says why a chunk was not taken.
func (s *Service) refused(ctx context.Context, r *claimed, err error) error {
	released := errors.Join(s.store.release(ctx, r.u.ID, r.owner), s.forget(ctx, r.u))
	switch {
	case r.over:
		return tooMany(r.u.Size)
	case r.err != nil || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.Join(problem.Wrap(err, problem.Invalid, "the chunk broke off before its end"), released)
	}
	return told(err)
}

// stolen answers a client whose upload ended while it was sending: another one
// was quicker, or it stood still for too long.
func (s *Service) stolen(ctx context.Context, st State, u *upload) (State, error) {
	st, err := s.stored(ctx, st)
	if !isFailure(err) {
		return st, errors.Join(err, s.forget(ctx, u))
	}
	now, err := s.store.upload(ctx, u.ID)
	if err == nil && now != nil && now.Uploaded == u.Uploaded {
		if in, err := s.inPlace(ctx, u); in || err != nil {
			return st.done(), err
		}
		// The bytes before are lost.
		return st, errors.Join(s.discard(ctx, u), fail("no_upload", "Upload job not found: what was uploaded is lost, begin again"))
	}
	return st, errors.Join(err, s.forget(ctx, u), errChanged())
}

// inPlace ends an upload whose bytes are a blob already: a process was killed
// after it had verified and published them. It tells whether they are. They are
// verified again: a machine that lost its power may have kept the name of a file
// and not the bytes.
func (s *Service) inPlace(ctx context.Context, u *upload) (bool, error) {
	if u.Uploaded != u.Size {
		return false, nil
	}
	var fault errFault
	if err := s.check(ctx, s.objectOf(u, "")); errors.As(err, &fault) {
		return false, nil
	} else if err != nil {
		return false, told(err)
	}
	r, err := s.blobs.Get(ctx, u.Hash, 0, min(u.Size, sniffLength))
	if err != nil {
		return false, told(err)
	}
	head, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return false, told(err)
	}
	return true, s.publish(ctx, published{}, u, s.objectOf(u, sniff(head)))
}

// published is a draft of what is in its place.
type published struct{}

// Publish implements blob.Draft.
func (published) Publish(context.Context, string) error { return nil }

// Discard implements blob.Draft.
func (published) Discard(context.Context) error { return nil }

// forget removes the stage of an upload that ended while it was written to.
func (s *Service) forget(ctx context.Context, u *upload) error {
	now, err := s.store.upload(ctx, u.ID)
	if err != nil || now != nil {
		return err
	}
	return told(s.blobs.Discard(ctx, u.ID))
}

// finish verifies a complete upload and makes it a file. The claim is held.
func (s *Service) finish(ctx context.Context, st State, u *upload, owner string, d *digest) (State, error) {
	if !d.known {
		err := s.rehash(ctx, u, owner, d)
		if errors.Is(err, blob.ErrNotFound) {
			return s.stolen(ctx, st, u)
		}
		if err != nil {
			return st, err
		}
	}
	if d.text() != u.Hash {
		st.Uploaded = 0
		return st, errors.Join(s.discard(ctx, u), fail("hash_mismatch", "the bytes do not have the hash that was announced; the upload is dropped"))
	}
	sniffed, err := s.sniffStage(ctx, u.ID, u.Size)
	if errors.Is(err, blob.ErrNotFound) {
		return s.stolen(ctx, st, u)
	}
	if err != nil {
		return st, errors.Join(told(err), s.store.release(ctx, u.ID, owner))
	}
	err = s.publish(ctx, &staged{s.blobs, u.ID, u.Size}, u, s.objectOf(u, sniffed))
	if errors.Is(err, blob.ErrNotFound) {
		return s.stolen(ctx, st, u)
	}
	if err != nil {
		return st, errors.Join(err, s.store.release(ctx, u.ID, owner))
	}
	return st.done(), nil
}

// objectOf is the file that an upload becomes.
func (s *Service) objectOf(u *upload, sniffed string) *object {
	return &object{Hash: u.Hash, Algo: s.algo.name, Size: u.Size, Name: u.Name, Type: u.Type, Sniffed: sniffed, UploadedBy: u.User}
}

// rehash works the hash out from what is stored.
func (s *Service) rehash(ctx context.Context, u *upload, owner string, d *digest) error {
	r, err := s.blobs.ReadStage(ctx, u.ID, 0, u.Size)
	if err != nil {
		return errors.Join(told(err), s.store.release(ctx, u.ID, owner))
	}
	d.Reset()
	d.known = true
	c := &claimed{ctx: ctx, s: s, u: u, owner: owner, body: r, d: d, left: u.Size, until: s.now().Add(s.lease)}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, c, make([]byte, peek))
	if err == nil && n != u.Size {
		err = blob.ErrSize(n, u.Size)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return errors.Join(told(err), s.store.release(ctx, u.ID, owner))
	}
	return nil
}

// publish stores verified bytes as a file, unless it is there. The question is
// asked without a transaction first: nearly always it is not. A file whose bytes
// the storage has lost gets them back. u is the upload it comes from, nil for a
// form.
func (s *Service) publish(ctx context.Context, d blob.Draft, u *upload, o *object) error {
	known, err := s.store.object(ctx, o.Hash)
	if err != nil {
		return err
	}
	if known != nil {
		info, err := s.blobs.Stat(ctx, o.Hash)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return told(err)
		}
		if err != nil || info.Size != o.Size {
			known = nil
		}
	}
	if known != nil {
		there, err := s.store.again(ctx, o.Hash, o.Name, o.Type, s.now())
		if err == nil && there && u != nil {
			err = s.store.deleteUpload(ctx, u)
		}
		if err != nil || there {
			return errors.Join(err, told(d.Discard(ctx)))
		}
	}
	if err := d.Publish(ctx, o.Hash); err != nil {
		return told(err)
	}
	for {
		n, left, err := s.store.complete(ctx, o, s.now())
		if err != nil {
			return err
		}
		for _, id := range left {
			if err := s.blobs.Discard(ctx, id); err != nil {
				s.log.WarnContext(ctx, "the rest of an upload is left for the sweep", "stage", id, "error", err)
			}
		}
		if n > 0 {
			return s.present(ctx, o)
		}
		select { // the garbage collection is removing the old one
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// present makes sure that the garbage collection did not take the bytes of a
// file that came back at the same moment.
func (s *Service) present(ctx context.Context, o *object) error {
	_, err := s.blobs.Stat(ctx, o.Hash)
	if errors.Is(err, blob.ErrNotFound) {
		p := problem.Wrap(err, problem.Unavailable, "the file was being removed; upload it again")
		p.RetryAfter = time.Second
		return errors.Join(p, s.store.drop(ctx, o.Hash))
	}
	return told(err)
}

// pause is how often a state in the database is looked at again.
const pause = 20 * time.Millisecond

// await waits until an upload whose bytes are all there is verified, or does
// that itself when nobody is at it.
func (s *Service) await(ctx context.Context, st State) (State, error) {
	for {
		rows, err := s.store.uploads(ctx, st.Hash, st.User)
		if err != nil {
			return st, err
		}
		stored, err := s.stored(ctx, st)
		if !isFailure(err) || len(rows) == 0 || rows[0].Uploaded < rows[0].Size {
			return stored, err
		}
		u, owner, now := rows[0], newStage(), s.now()
		won, err := s.store.claim(ctx, u, owner, now.Add(s.lease), now)
		if err != nil {
			return st, err
		}
		if won {
			return s.finish(context.WithoutCancel(ctx), st, u, owner, s.digest(u))
		}
		select {
		case <-ctx.Done():
			return st, ctx.Err()
		case <-time.After(pause):
		}
	}
}
