package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/problem"
)

// Chunk is a piece of a file.
type Chunk struct {
	Hash   string
	Body   io.Reader
	Length int64  // bytes; negative when it is not known
	Offset *int64 // where it belongs, when the client says so
}

// peek is how much of a chunk is compared with what is stored, to find out
// which client of a user sends it.
const peek = 64 << 10

// Chunk adds a piece to an upload. Pieces come in order; several clients of one
// user that send the same file at once are told apart by the bytes.
//
// A chunk counts as a whole or not at all, so that a client may send it again.
// One with an offset counts as far as it came: its client asks before it goes
// on.
func (s *Service) Chunk(ctx context.Context, c Chunk) (State, error) {
	hash, err := canonical(c.Hash)
	if err != nil {
		return State{Hash: c.Hash}, fail("no_upload", "Upload job not found")
	}
	body := bufio.NewReaderSize(c.Body, peek)
	const often = 20 // others that change the upload in between come to an end
	for try := 1; ; try++ {
		st, again, err := s.chunk(ctx, hash, c, body)
		if !again || try == often {
			return st, err
		}
	}
}

// chunk tries to add a piece; again is true, with an error for the last time,
// when the upload changed before anything of the body was used.
func (s *Service) chunk(ctx context.Context, hash string, c Chunk, body *bufio.Reader) (st State, again bool, err error) {
	st = State{Hash: hash, Algo: s.algo.name, User: username(ctx)}
	rows, err := s.store.uploads(ctx, hash, st.User)
	if err != nil {
		return st, false, err
	}
	if len(rows) == 0 {
		st, err = s.stored(ctx, st)
		drain(body)
		return st, false, err
	}
	lead := rows[0]
	st.Size, st.Name, st.Type, st.Uploaded = lead.Size, lead.Name, lead.Type, lead.Uploaded
	if c.Offset != nil && *c.Offset != lead.Uploaded {
		return st, false, fail("offset_mismatch", fmt.Sprintf("the upload is at %d and not at %d", lead.Uploaded, *c.Offset))
	}
	at := lead.Uploaded
	if c.Offset == nil {
		at, err = s.locate(ctx, rows, body)
		if errors.Is(err, blob.ErrNotFound) { // the stage is gone: its file is complete, or its upload has failed
			return st, true, errChanged()
		}
		if err != nil {
			return st, false, told(err)
		}
	}
	if c.Length > 0 && at+c.Length > st.Size {
		return st, false, tooMany(st.Size)
	}
	if at < lead.Uploaded {
		return s.repeated(ctx, st, lead, at, c, body)
	}
	if _, err := body.Peek(1); errors.Is(err, io.EOF) || at == st.Size { // nothing to add
		if at < st.Size {
			return st, false, nil
		}
		drain(body)
		st, err = s.await(ctx, st)
		return st, false, err
	}
	u, owner, err := s.seize(ctx, rows, at)
	if u == nil && err == nil {
		return st, true, errChanged()
	}
	if err == nil {
		st, err = s.add(ctx, st, u, owner, c, body)
	}
	return st, false, err
}

func tooMany(size int64) error {
	return fail("too_many_bytes", fmt.Sprintf("more bytes come than the %d that were announced", size))
}

// stored answers a chunk without an upload: its file may be complete.
func (s *Service) stored(ctx context.Context, st State) (State, error) {
	o, err := s.store.object(ctx, st.Hash)
	if err != nil {
		return st, err
	}
	if o == nil {
		return st, fail("no_upload", "Upload job not found")
	}
	st.Size, st.Name, st.Type = o.Size, o.Name, o.Type
	return st.done(), nil
}

// locate finds out where a chunk belongs. As long as one client sends, that is
// the end. Where several do, one that is behind sends what is stored already. A
// chunk that begins like the bytes just before the end tells nothing (zeros
// everywhere), and is taken for the next.
func (s *Service) locate(ctx context.Context, rows []*upload, body *bufio.Reader) (int64, error) {
	lead := rows[0]
	var behind []int64
	for _, u := range rows {
		for _, at := range u.Cursors {
			if at < lead.Uploaded {
				behind = append(behind, at)
			}
		}
	}
	if len(behind) == 0 {
		return lead.Uploaded, nil
	}
	slices.Sort(behind)
	begin, _ := body.Peek(peek) // as much as there is
	for _, at := range slices.Compact(behind) {
		n := min(int64(len(begin)), lead.Uploaded-at)
		same, err := s.same(ctx, lead.ID, at, begin[:n])
		if err != nil {
			return 0, err
		}
		if !same || n == 0 {
			continue
		}
		if last, err := s.same(ctx, lead.ID, lead.Uploaded-n, begin[:n]); err != nil || !last || at+n == lead.Uploaded {
			return at, err
		}
	}
	return lead.Uploaded, nil
}

func (s *Service) same(ctx context.Context, stage string, at int64, want []byte) (bool, error) {
	r, err := s.blobs.ReadStage(ctx, stage, at, int64(len(want)))
	if err != nil {
		return false, err
	}
	got, err := io.ReadAll(r)
	return bytes.Equal(got, want), errors.Join(err, r.Close())
}

// repeated takes a chunk that another client was quicker with. What goes
// beyond the end is added.
func (s *Service) repeated(ctx context.Context, st State, lead *upload, at int64, c Chunk, body *bufio.Reader) (State, bool, error) {
	n, err := io.CopyN(io.Discard, body, lead.Uploaded-at)
	if err != nil && !errors.Is(err, io.EOF) {
		return st, false, problem.Wrap(err, problem.Invalid, "the chunk broke off")
	}
	if err == nil {
		if _, err := body.Peek(1); err == nil { // there is more
			c.Length -= n // below 0 stays unknown
			rows, err := s.store.uploads(ctx, st.Hash, st.User)
			if err != nil {
				return st, false, err
			}
			if len(rows) > 0 && rows[0].Uploaded == lead.Uploaded {
				u, owner, err := s.seize(ctx, rows, lead.Uploaded)
				if err != nil || u == nil {
					return st, false, errors.Join(err, errChanged())
				}
				u.Cursors = moved(u.Cursors, at, lead.Uploaded)
				st, err = s.add(ctx, st, u, owner, c, body)
				return st, false, err
			}
			return st, false, errChanged()
		}
	}
	st.Uploaded = at + n
	if st.Uploaded == st.Size {
		st, err = s.await(ctx, st)
		return st, false, err
	}
	_, err = s.store.move(ctx, lead, moved(lead.Cursors, at, at+n), s.now()) // a cursor that was not moved is found again by the bytes
	return st, false, err
}

func errChanged() error {
	p := problem.New(problem.Unavailable, "another client sends the same file; ask with init-upload where to go on").WithCode("changed")
	p.RetryAfter = time.Second
	return p
}

// moved replaces one cursor.
func moved(cursors []int64, from, to int64) []int64 {
	list := slices.Clone(cursors)
	if i := slices.Index(list, from); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	return append(list, to)
}

// seize claims one of the uploads that are at an offset. When somebody writes
// to all of them it makes a copy, so that nobody waits for a client that is
// slow or gone. nil means that the uploads have changed.
func (s *Service) seize(ctx context.Context, rows []*upload, at int64) (*upload, string, error) {
	owner := uuid.NewString()
	var busy *upload
	for _, u := range rows {
		if u.Uploaded != at {
			continue
		}
		now := s.now()
		if won, err := s.store.claim(ctx, u, owner, now.Add(s.lease), now); won || err != nil {
			return u, owner, err
		}
		busy = u
	}
	if busy == nil {
		return nil, "", nil
	}
	copied := *busy
	copied.ID, copied.Cursors = newStage(), nil
	err := s.blobs.Fork(ctx, busy.ID, copied.ID, at)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", told(err)
	}
	now := s.now()
	return &copied, owner, s.store.begin(ctx, &copied, owner, now.Add(s.lease), now)
}
