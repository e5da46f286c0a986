package file

import (
	"context"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Announced is what a client says about a file before it sends it.
type Announced struct {
	Hash string `json:"hash" required:"true" doc:"hash of the whole file, hexadecimal"`
	Size *int64 `json:"size" required:"true" doc:"bytes"`
	Name string `json:"name,omitempty" doc:"file name; upload.bin when it is missing"`
	Type string `json:"type,omitempty" doc:"media type; application/bin when it is missing"`
	Algo string `json:"algo,omitempty" doc:"algorithm of the hash; that of the server when it is missing"`
}

// State is how far an upload is (spec.md 2.5).
type State struct {
	Acknowledged bool     `json:"acknowledged"`
	Success      bool     `json:"success"`
	Error        []string `json:"error,omitempty" doc:"why success is false"`
	Code         string   `json:"code,omitempty" doc:"the same for programs: hash_mismatch, size_mismatch, too_many_bytes, unknown_algorithm, no_upload, offset_mismatch"`
	SHA1         string   `json:"sha1" doc:"the hash, under its old name" deprecated:"true"`
	Hash         string   `json:"hash"`
	Algo         string   `json:"algo"`
	Type         string   `json:"type"`
	Available    bool     `json:"available" doc:"the file is complete, verified and stored"`
	Name         string   `json:"name"`
	Size         int64    `json:"size" doc:"bytes"`
	Status       string   `json:"status" doc:"always created"`
	Uploaded     int64    `json:"uploaded" doc:"bytes received so far: where to go on"`
	User         string   `json:"user"`
	FileName     string   `json:"fileName"`
	PreviewURL   string   `json:"previewUrl"`
	ChunkURL     string   `json:"chunkUrl" doc:"where the next chunk goes"`
	URL          string   `json:"url"`
}

const (
	defaultName = "upload.bin"
	defaultType = "application/bin"
)

// Init begins an upload, or tells how far it is.
func (s *Service) Init(ctx context.Context, a Announced) (State, error) {
	st, err := s.announced(ctx, a)
	if err != nil {
		return st, err
	}
	o, err := s.store.object(ctx, st.Hash)
	if err != nil {
		return st, err
	}
	if o != nil {
		return s.initStored(ctx, st, o)
	}
	rows, err := s.store.uploads(ctx, st.Hash, st.User)
	if err != nil {
		return st, err
	}
	if rows, err = s.sameSize(ctx, rows, st.Size); err != nil {
		return st, err
	}
	if len(rows) == 0 {
		u := &upload{ID: newStage(), Hash: st.Hash, User: st.User, Size: st.Size, Name: st.Name, Type: st.Type}
		begun, err := s.store.begin(ctx, u, "", time.Time{}, s.now())
		if err != nil {
			return st, err
		}
		if !begun { // somebody else was quicker with the whole file
			return s.stored(ctx, st)
		}
		rows = append(rows, u)
	}
	if err := s.store.join(ctx, st.Hash, st.User, rows[0].Uploaded, s.now()); err != nil {
		return st, err
	}
	st.Uploaded = rows[0].Uploaded
	if st.Uploaded == st.Size {
		return s.await(ctx, st)
	}
	return st, nil
}

// announced checks what the client says.
func (s *Service) announced(ctx context.Context, a Announced) (State, error) {
	st := State{Hash: strings.ToLower(a.Hash), Name: cleanName(a.Name), Type: cleanType(a.Type), Algo: s.algo.name, User: auth.Username(ctx)}
	if a.Size != nil {
		st.Size = *a.Size
	}
	switch {
	case a.Hash == "":
		return st, problem.Field(problem.Invalid, "hash", "is missing")
	case a.Size == nil:
		return st, problem.Field(problem.Invalid, "size", "is missing")
	case st.Size < 0:
		return st, problem.Field(problem.Invalid, "size", "is negative")
	case a.Algo != "" && !strings.EqualFold(a.Algo, s.algo.name):
		return st, fail("unknown_algorithm", "the hash algorithm of this server is "+s.algo.name)
	case !s.algo.valid(st.Hash):
		return st, problem.Field(problem.Invalid, "hash", "is not a %s hash in hexadecimal", s.algo.name)
	case st.Size > int64(s.cfg.MaxSize):
		return st, problem.Field(problem.TooLarge, "size", "files may have %s at most", s.cfg.MaxSize)
	}
	return st, nil
}

// initStored answers for a file that is there already.
func (s *Service) initStored(ctx context.Context, st State, o *object) (State, error) {
	if o.Size != st.Size {
		return st, fail("size_mismatch", "the file with this hash has another size")
	}
	there, err := s.store.again(ctx, st.Hash, st.Name, st.Type, s.now())
	if err == nil && !there { // removed in the meantime
		return s.Init(ctx, Announced{Hash: st.Hash, Size: &st.Size, Name: st.Name, Type: st.Type})
	}
	return st.done(), err
}

func (st State) done() State {
	st.Available, st.Uploaded = true, st.Size
	return st
}

// sameSize refuses a size other than that of an upload which has begun, and
// forgets those that have not.
func (s *Service) sameSize(ctx context.Context, rows []*upload, size int64) ([]*upload, error) {
	var same []*upload
	for _, u := range rows {
		switch {
		case u.Size == size:
			same = append(same, u)
		case u.Uploaded > 0:
			return nil, fail("size_mismatch", "an upload with this hash and another size is on its way")
		default:
			if err := s.discard(ctx, u); err != nil {
				return nil, err
			}
		}
	}
	return same, nil
}

// discard ends an upload. The row goes first: a stage without a row is swept.
func (s *Service) discard(ctx context.Context, u *upload) error {
	if err := s.store.deleteUpload(ctx, u); err != nil {
		return err
	}
	return told(s.blobs.Discard(ctx, u.ID))
}
