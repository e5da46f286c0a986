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

	"github.com/quoin-cms/quoin/core/auth"
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
	body := s.buffers.Get().(*bufio.Reader)
	body.Reset(c.Body)
	defer func() { body.Reset(nil); s.buffers.Put(body) }()
	st := State{Hash: hash, Algo: s.algo.name, User: auth.Username(ctx)}
	var at int64
	for {
		var known bool
		if at, known, err = s.begin(ctx, &st, c, body); err != nil {
			return st, err
		}
		if known {
			break
		}
	}
	if at == st.Size { // complete already, or at least the bytes are all there
		drain(body)
		return s.await(ctx, st)
	}
	if c.Length > 0 && at+c.Length > st.Size {
		return st, tooMany(st.Size)
	}
	return s.place(ctx, st, at, c, body)
}

// begin finds out where a chunk belongs; known is false when the uploads
// changed meanwhile. Of the body it only looks at the beginning.
func (s *Service) begin(ctx context.Context, st *State, c Chunk, body *bufio.Reader) (at int64, known bool, err error) {
	if *st, err = s.stored(ctx, *st); err == nil {
		return st.Size, true, nil
	}
	if !isFailure(err) {
		return 0, false, err
	}
	var clients []int64 // of no use to one that says where its chunk belongs
	if c.Offset == nil {
		// Before the uploads: when these end, the clients are gone, and a chunk of
		// one that is behind would be taken for the next.
		if clients, err = s.store.clients(ctx, st.Hash, st.User); err != nil {
			return 0, false, err
		}
	}
	rows, err := s.store.uploads(ctx, st.Hash, st.User)
	if err != nil {
		return 0, false, err
	}
	if len(rows) == 0 { // never begun, or complete since
		drain(body)
		*st, err = s.stored(ctx, *st)
		return st.Size, err == nil, err
	}
	lead := rows[0]
	st.Size, st.Name, st.Type, st.Uploaded = lead.Size, lead.Name, lead.Type, lead.Uploaded
	switch {
	case lead.Uploaded == lead.Size:
		return st.Size, true, nil
	case c.Offset == nil:
		at, err := s.locate(ctx, lead, clients, body)
		if errors.Is(err, blob.ErrNotFound) {
			return 0, false, s.gone(ctx, lead)
		}
		return at, err == nil, told(err)
	case *c.Offset != lead.Uploaded:
		return 0, false, fail("offset_mismatch", fmt.Sprintf("the upload is at %d and not at %d", lead.Uploaded, *c.Offset))
	}
	return lead.Uploaded, true, nil
}

// gone deals with an upload whose bytes are not there: it has just ended, or
// the bytes are lost.
func (s *Service) gone(ctx context.Context, u *upload) error {
	now, err := s.store.upload(ctx, u.ID)
	if err != nil || now == nil || now.Uploaded != u.Uploaded {
		return err
	}
	return s.discard(ctx, u)
}

func tooMany(size int64) error {
	return fail("too_many_bytes", fmt.Sprintf("more bytes come than the %d that were announced", size))
}

// stored answers for a file that is there; a failure tells that it is not.
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
func (s *Service) locate(ctx context.Context, lead *upload, clients []int64, body *bufio.Reader) (int64, error) {
	behind := slices.DeleteFunc(clients, func(at int64) bool { return at >= lead.Uploaded })
	if len(behind) == 0 {
		return lead.Uploaded, nil
	}
	begin, _ := body.Peek(peek) // as much as there is
	for _, at := range behind {
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

// place puts a chunk where it belongs: what another client was quicker with is
// passed over, and the rest is added.
func (s *Service) place(ctx context.Context, st State, from int64, c Chunk, body *bufio.Reader) (State, error) {
	const often = 100 // others that change the uploads in between come to an end
	at := from
	for range often {
		rows, err := s.store.uploads(ctx, st.Hash, st.User)
		if err != nil {
			return st, err
		}
		if len(rows) == 0 || rows[0].Uploaded == st.Size {
			drain(body)
			return s.await(ctx, st)
		}
		n, err := io.CopyN(io.Discard, body, max(0, rows[0].Uploaded-at))
		at, c.Length = at+n, c.Length-n // a length that is not known stays negative
		if err != nil && !errors.Is(err, io.EOF) {
			return st, problem.Wrap(err, problem.Invalid, "the chunk broke off before its end")
		}
		if _, err := body.Peek(1); errors.Is(err, io.EOF) {
			return s.passed(ctx, st, from, at)
		}
		u, owner, err := s.seize(ctx, rows, at)
		if err != nil {
			return st, err
		}
		if u != nil {
			return s.add(ctx, st, u, owner, from, c, body)
		}
	}
	return st, errChanged()
}

// passed answers a chunk of which every byte was there already.
func (s *Service) passed(ctx context.Context, st State, from, to int64) (State, error) {
	st.Uploaded = to
	if to == st.Size {
		return s.await(ctx, st)
	}
	if from == to {
		return st, nil
	}
	return st, s.store.moveClient(ctx, st.Hash, st.User, from, to, s.now())
}

func errChanged() error {
	p := problem.New(problem.Unavailable, "another client sends the same file; ask with init-upload where to go on").WithCode("changed")
	p.RetryAfter = time.Second
	return p
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
	copied.ID = newStage()
	err := s.blobs.Fork(ctx, busy.ID, copied.ID, at)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", told(err)
	}
	now := s.now()
	begun, err := s.store.begin(ctx, &copied, owner, now.Add(s.lease), now)
	if err != nil || !begun {
		return nil, "", errors.Join(err, told(s.blobs.Discard(ctx, copied.ID)))
	}
	return &copied, owner, nil
}
