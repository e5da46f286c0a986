package file

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
)

const tag = "File"

// HashPath names a file in the path.
type HashPath struct {
	Hash string `path:"hash" doc:"hash of the file, hexadecimal"`
}

// operations are the endpoints of spec.md 4.7 and the neighbours that clients
// use (contract-notes 1.7).
func operations(s *Service) []web.Operation {
	ops := append(uploads(s), downloads(s)...)
	return append(ops,
		web.Op(web.Operation{
			ID: "file-hash-algo", Method: http.MethodGet, Path: "/api/file/hash-algo", Tag: tag, Summary: "Which hash names files", Doc: "A client hashes a file by it to know the name before it sends anything.",
		}, func(context.Context, *web.None) (*web.Reply[HashAlgo], error) {
			return web.Answer(HashAlgo{s.algo.name})
		}),
		web.Op(web.Operation{
			ID: "file-heads", Method: http.MethodPost, Path: "/api/file/heads", Tag: tag, Summary: "Which of many files are there",
			Takes:   web.Media{Of: []string{}, Doc: "hashes"},
			Answers: web.Media{Of: []any{}, Doc: "true, or the hash"},
			Doc:     "The body is a list of hashes, or an object with hashes as values. The answer has an entry for each, in order: true when the file is there, else the hash.",
		}, func(ctx context.Context, in *struct{ RawBody []byte }) (*web.Raw, error) {
			return heads(ctx, s, in.RawBody)
		}),
		web.Op(web.Operation{
			ID: "file-info", Method: http.MethodGet, Path: "/api/file/info/{hash}", Tag: tag, Summary: "What is known about a file", Errors: []int{404}, Doc: "Its facts and how often it was asked for.",
		}, func(ctx context.Context, in *struct {
			HashPath
			FirstSeen bool `query:"first-seen" default:"true" doc:"false leaves first-seen out"`
		}) (*web.Reply[*Info], error) {
			info, err := s.Info(ctx, in.Hash, in.FirstSeen)
			if err != nil {
				return nil, err
			}
			return web.Answer(info)
		}),
	)
}

// HashAlgo is the answer of hash-algo.
type HashAlgo struct {
	HashAlgo string `json:"hash_algo" doc:"sha1, sha256 or blake3"`
}

// maxHeads bounds one question for many files.
const maxHeads = 100_000

func heads(ctx context.Context, s *Service, body []byte) (*web.Raw, error) {
	if err := rawjson.Check(body, rawjson.Limits{Depth: 2}); err != nil {
		return nil, err
	}
	var hashes []string
	add := func(at string, value []byte) error {
		text, ok := rawjson.String(value)
		switch {
		case !ok:
			return problem.Field(problem.Invalid, at, "must be a hash, which is a string, not %s", rawjson.KindOf(value))
		case len(hashes) == maxHeads:
			return problem.Field(problem.Invalid, at, "is one too many: a list holds %d hashes at most", maxHeads)
		}
		hashes = append(hashes, text)
		return nil
	}
	var err error
	switch rawjson.KindOf(body) {
	case rawjson.Array:
		err = rawjson.Elements(body, func(i int, v []byte) error { return add("["+strconv.Itoa(i)+"]", v) })
	case rawjson.Map:
		err = rawjson.Members(body, add)
	default:
		err = problem.New(problem.Invalid, "the body must be a list of hashes")
	}
	if err != nil {
		return nil, err
	}
	found, err := s.Heads(ctx, hashes)
	if err != nil {
		return nil, err
	}
	b := []byte{'['}
	for i, h := range hashes {
		if i > 0 {
			b = append(b, ',')
		}
		if found[i] {
			b = append(b, "true"...)
		} else {
			b = rawjson.AppendString(b, h)
		}
	}
	return web.JSON(append(b, ']'))
}

// StateReply is the answer to a call about an upload.
type StateReply struct {
	Status int
	Offset string `header:"Upload-Offset" doc:"bytes received so far"`
	Body   State
}

// answer renders a state, or what went wrong with the upload.
func (st State) answer(err error) (*StateReply, error) {
	status := http.StatusOK
	var f *failure
	if errors.As(err, &f) {
		st.Error, st.Code = []string{f.text}, f.code
		if f.code == "offset_mismatch" { // only clients that know of offsets get there
			status = http.StatusConflict
		}
	} else if err != nil {
		return nil, err
	}
	st.Acknowledged, st.Success = true, f == nil
	st.SHA1, st.FileName, st.Status = st.Hash, st.Name, "created"
	st.ChunkURL = "/api/file/chunk/" + st.Hash
	st.URL = link("/data/file/view/", st.Hash, st.Name, st.Type)
	st.PreviewURL = st.URL
	return &StateReply{status, strconv.FormatInt(st.Uploaded, 10), st}, nil
}

func uploads(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "file-init-upload", Method: http.MethodPost, Path: "/api/file/init-upload", Tag: tag, Summary: "Begin an upload in chunks, or ask where to go on", Errors: []int{413},
			Doc: "A file that is there already is answered with available true and needs no chunks. What goes wrong with the upload itself is answered with success false and a code.",
		}, func(ctx context.Context, in *struct{ Body Announced }) (*StateReply, error) {
			st, err := s.Init(ctx, in.Body)
			return st.answer(err)
		}),
		web.Op(web.Operation{
			ID: "file-init-upload-old", Method: http.MethodPost, Path: "/api/file/init-upload/{hash}/{size}", Tag: tag, Summary: "Begin an upload in chunks (old form)", Errors: []int{413},
			Doc:       "As init-upload, with hash and size in the path. name, type and algo may be in the body, and the first two in the query.",
			EmptyBody: true, Takes: web.Media{Of: announcedElsewhere{}},
		}, func(ctx context.Context, in *struct {
			HashPath
			Size    int64  `path:"size" doc:"bytes"`
			Name    string `query:"name" doc:"file name"`
			Type    string `query:"type" doc:"media type"`
			RawBody []byte `contentType:"application/json"`
		}) (*StateReply, error) {
			more, err := readAnnounced(in.RawBody)
			if err != nil {
				return nil, err
			}
			st, err := s.Init(ctx, Announced{Hash: in.Hash, Size: &in.Size, Name: cmp.Or(more.Name, in.Name), Type: cmp.Or(more.Type, in.Type), Algo: more.Algo})
			return st.answer(err)
		}),
		web.Op(web.Operation{
			ID: "file-chunk", Method: http.MethodPost, Path: "/api/file/chunk/{hash}", Also: []string{"/api/file/upload-chunk/{hash}"}, Tag: tag, MaxBody: -1,
			Summary: "Send a piece of a file", Errors: []int{404, 409, 503, 507},
			Takes: web.Media{Type: "application/octet-stream", Doc: "the next bytes"}, Says: map[int]web.Media{http.StatusConflict: {Of: State{}}},
			Doc: "The body is the next bytes of the file, of any number and under any Content-Type; available tells when the file is complete and verified. " +
				"A chunk counts as a whole or not at all. With Upload-Offset the server checks where the chunk belongs (409 with the real offset otherwise) and keeps what came of one that broke off.",
		}, func(ctx context.Context, in *struct {
			HashPath
			Offset string `header:"Upload-Offset" doc:"where the chunk begins, in bytes"`
			Bytes  web.Upload
		}) (*StateReply, error) {
			c := Chunk{Hash: in.Hash, Body: &in.Bytes, Length: in.Bytes.Length}
			if in.Offset != "" {
				n, err := strconv.ParseInt(in.Offset, 10, 64)
				if err != nil || n < 0 {
					return nil, problem.Field(problem.Invalid, "Upload-Offset", "is not a number of bytes")
				}
				c.Offset = &n
			}
			st, err := s.Chunk(ctx, c)
			return st.answer(err)
		}),
		web.Op(web.Operation{
			ID: "file-upload", Method: http.MethodPost, Path: "/api/file/upload", Tag: tag, MaxBody: -1, Summary: "Upload a file in one piece", Errors: []int{413, 503, 507},
			Takes: web.Media{Type: "multipart/form-data", Of: uploadForm{}},
			Doc:   "multipart/form-data with the file in the field upload; a field or parameter type overrides the type of the part.",
		}, func(ctx context.Context, in *struct {
			ContentType string `header:"Content-Type" doc:"multipart/form-data with its boundary"`
			Type        string `query:"type" doc:"media type of the file"`
			Form        web.Upload
		}) (*web.Reply[Stored], error) {
			stored, err := s.Upload(ctx, in.ContentType, in.Type, &in.Form)
			if err != nil {
				drain(&in.Form)
				return nil, err
			}
			return web.Answer(stored)
		}),
	}
}

// announcedElsewhere is what the body of the old form of init-upload may add.
type announcedElsewhere struct {
	Name string `json:"name,omitempty" doc:"file name; upload.bin when it is missing"`
	Type string `json:"type,omitempty" doc:"media type; application/bin when it is missing"`
	Algo string `json:"algo,omitempty" doc:"algorithm of the hash; that of the server when it is missing"`
}

// readAnnounced reads a body that may be missing or []. Null counts as absent.
func readAnnounced(raw []byte) (a announcedElsewhere, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return a, nil
	}
	if err = rawjson.CheckObject(raw, rawjson.Limits{}); err != nil {
		return a, err
	}
	var wrong *json.UnmarshalTypeError
	if err = json.Unmarshal(rawjson.Object(raw), &a); errors.As(err, &wrong) {
		err = problem.Field(problem.Invalid, wrong.Field, "must be a string")
	}
	return a, err
}

// uploadForm describes the form of an upload, for the API document.
type uploadForm struct {
	Upload string `json:"upload" format:"binary" doc:"the file"`
	Type   string `json:"type,omitempty" doc:"media type, instead of that of the part"`
}

// Download is a call for a file.
type Download struct {
	HashPath
	Name string `query:"name" doc:"file name, instead of that of the last upload"`
	Type string `query:"type" doc:"media type, instead of that of the last upload"`
}

func downloads(s *Service) []web.Operation {
	open := s.cfg.Public
	get := func(inline, public bool) func(context.Context, *Download) (*web.Stream, error) {
		return func(_ context.Context, in *Download) (*web.Stream, error) {
			return web.Direct(func(w http.ResponseWriter, r *http.Request) error {
				return s.Serve(w, r, View{Hash: in.Hash, Inline: inline, Public: public && open, Name: in.Name, Type: in.Type})
			}), nil
		}
	}
	const doc = "Ranges and conditions work as in RFC 9110; the ETag is the hash, and answers may be kept for ever."
	bytes := web.Media{Type: "*/*", Doc: "the bytes, under the type of the file"}
	says := map[int]web.Media{http.StatusPreconditionFailed: {}, http.StatusRequestedRangeNotSatisfiable: {Type: "text/plain"}}
	return []web.Operation{
		web.Op(web.Operation{ID: "file-get", Method: http.MethodGet, Path: "/api/file/{hash}", Tag: tag, Summary: "Download a file", Doc: doc, Errors: []int{404, 503}, Answers: bytes, Says: says}, get(false, false)),
		web.Op(web.Operation{ID: "file-view", Method: http.MethodGet, Path: "/api/file/view/{hash}", Tag: tag, Summary: "Show a file", Doc: doc, Errors: []int{404, 503}, Answers: bytes, Says: says}, get(true, false)),
		web.Op(web.Operation{ID: "file-data", Method: http.MethodGet, Path: "/data/file/{hash}", Also: []string{"/public/file/{hash}"}, Tag: tag, Public: open, Summary: "Download a file from a website", Doc: doc, Errors: []int{404, 503}, Answers: bytes, Says: says}, get(false, true)),
		web.Op(web.Operation{ID: "file-data-view", Method: http.MethodGet, Path: "/data/file/view/{hash}", Also: []string{"/public/file/view/{hash}"}, Tag: tag, Public: open, Summary: "Show a file on a website", Doc: doc, Errors: []int{404, 503}, Answers: bytes, Says: says}, get(true, true)),
	}
}
