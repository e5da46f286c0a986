package pluginhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// documentService reads and writes documents through the API.
type documentService struct {
	hostv1.UnimplementedDocumentsServer
	s *service
}

func documentPath(verb, contentType, ouuid string) (string, error) {
	t, err := escape(contentType)
	if err != nil {
		return "", err
	}
	path := "/api/data/" + t
	if verb != "" {
		path += "/" + verb
	}
	if ouuid == "" {
		return path, nil
	}
	o, err := escape(ouuid)
	return path + "/" + o, err
}

// Get implements hostv1.DocumentsServer.
func (d documentService) Get(ctx context.Context, req *hostv1.GetDocumentRequest) (*hostv1.Document, error) {
	if req.Ouuid == "" {
		return nil, problem.Field(problem.Invalid, "ouuid", "is missing")
	}
	path, err := documentPath("", req.Type, req.Ouuid)
	if err != nil {
		return nil, err
	}
	b, err := d.s.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	data, _ := rawjson.Get(b, "revision")
	return &hostv1.Document{Type: req.Type, Ouuid: req.Ouuid, Revision: number(b, "id"), Data: data}, nil
}

// Index implements hostv1.DocumentsServer.
func (d documentService) Index(ctx context.Context, req *hostv1.WriteDocumentRequest) (*hostv1.WriteDocumentResponse, error) {
	return d.write(ctx, "index", req)
}

// Merge implements hostv1.DocumentsServer: the fields are merged into a draft,
// which is then finalized.
func (d documentService) Merge(ctx context.Context, req *hostv1.WriteDocumentRequest) (*hostv1.WriteDocumentResponse, error) {
	if req.Ouuid == "" {
		return nil, problem.Field(problem.Invalid, "ouuid", "is missing")
	}
	return d.write(ctx, "update", req)
}

func (d documentService) write(ctx context.Context, verb string, req *hostv1.WriteDocumentRequest) (*hostv1.WriteDocumentResponse, error) {
	path, err := documentPath(verb, req.Type, req.Ouuid)
	if err != nil {
		return nil, err
	}
	if req.Refresh {
		path += "?refresh=true"
	}
	b, err := d.s.ask(ctx, http.MethodPost, path, req.Data)
	if err != nil {
		return nil, err
	}
	if ok, _ := rawjson.Get(b, "success"); string(ok) != "true" {
		return nil, d.invalid(ctx, req.Type, b)
	}
	ouuid, _ := rawjson.Get(b, "ouuid")
	id, _ := rawjson.String(ouuid)
	return &hostv1.WriteDocumentResponse{Ouuid: id, Revision: number(b, "revision_id")}, nil
}

// invalid is the error of data that breaks its content type. The API has kept
// it in a draft, for people to go on with; a plugin has no use for that.
func (d documentService) invalid(ctx context.Context, contentType string, answer []byte) error {
	if revision := number(answer, "revision_id"); revision != 0 {
		path, err := documentPath("discard", contentType, strconv.FormatInt(revision, 10))
		if err == nil {
			_, err = d.s.ask(ctx, http.MethodPost, path, []byte("[]"))
		}
		if err != nil {
			d.s.h.log.WarnContext(ctx, "the draft of a plugin is left behind", "plugin", d.s.name, "revision", revision, "error", err)
		}
	}
	var told struct {
		Error []string `json:"error"`
	}
	_ = json.Unmarshal(answer, &told) // else there is no reason to tell
	return problem.New(problem.Unprocessable, "the document is not as its content type wants it: %s", strings.Join(told.Error, "; "))
}

func number(object []byte, member string) int64 {
	v, _ := rawjson.Get(object, member)
	n, _ := strconv.ParseInt(string(v), 10, 64)
	return n
}

// Search implements hostv1.SearchServer.
func (s *service) Search(ctx context.Context, req *hostv1.SearchRequest) (*hostv1.SearchResponse, error) {
	if !json.Valid(req.Search) {
		return nil, problem.Field(problem.Invalid, "search", "is not JSON")
	}
	body := append(append([]byte(`{"search":`), req.Search...), '}')
	b, err := s.ask(ctx, http.MethodPost, "/api/search/search", body)
	return &hostv1.SearchResponse{Result: b}, err
}

// Current implements hostv1.UsersServer.
func (s *service) Current(ctx context.Context, _ *hostv1.CurrentUserRequest) (*hostv1.User, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	return userOf(id), nil
}

// Find implements hostv1.UsersServer. The one who asks needs the right to read
// users, as at the API.
func (s *service) Find(ctx context.Context, req *hostv1.FindUserRequest) (*hostv1.User, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	if id.Username != req.Username && !id.HasAny(auth.RoleUserRead, auth.RoleUserManagement) {
		return nil, problem.New(problem.Forbidden, "%s is needed to look up other users", auth.RoleUserRead)
	}
	if s.h.Identities == nil {
		return nil, problem.New(problem.Unavailable, "no enabled module knows users")
	}
	found, err := s.h.Identities.Identity(ctx, req.Username)
	if err != nil {
		return nil, err
	}
	return userOf(found), nil
}

func userOf(id *auth.Identity) *hostv1.User {
	return &hostv1.User{Username: id.Username, DisplayName: id.DisplayName, Email: id.Email, Roles: id.Granted}
}

// eventService emits events under the name of the plugin.
type eventService struct {
	hostv1.UnimplementedEventsServer
	s *service
}

var kindShape = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// maxEvent bounds the data of an event, in bytes.
const maxEvent = 1 << 20

// Emit implements hostv1.EventsServer.
func (e eventService) Emit(ctx context.Context, req *hostv1.EmitRequest) (*hostv1.EmitResponse, error) {
	data := req.Data
	if len(data) == 0 {
		data = []byte("null")
	}
	switch {
	case len(req.Type) > 200 || !kindShape.MatchString(req.Type):
		return nil, problem.Field(problem.Invalid, "type", "must be words of a-z, 0-9, _ and - between dots")
	case len(data) > maxEvent:
		return nil, problem.New(problem.TooLarge, "the data of an event may have %d bytes", maxEvent)
	case !json.Valid(data):
		return nil, problem.Field(problem.Invalid, "data", "is not JSON")
	}
	actor := "plugin " + e.s.name
	if id := auth.From(ctx); id != nil {
		actor = id.Username
	}
	ev := event.Event{Type: "plugin." + e.s.name + "." + req.Type, Subject: cut(req.Subject, 500), Data: data, Actor: actor}
	h := e.s.h
	return &hostv1.EmitResponse{}, h.DB.InTx(ctx, func(ctx context.Context) error { return h.Bus.Emit(ctx, ev) })
}

// fileService streams files through the API.
type fileService struct {
	hostv1.UnimplementedFilesServer
	s *service
}

// pieceSize is the largest piece of a file, in bytes.
const pieceSize = 256 << 10

// Read implements hostv1.FilesServer.
func (f fileService) Read(req *hostv1.ReadFileRequest, stream hostv1.Files_ReadServer) error {
	hash, err := escape(req.Hash)
	if err != nil {
		return err
	}
	w := &answer{header: http.Header{}, limit: 64 << 10}
	first := true
	w.to = func(b []byte) error {
		for len(b) > 0 {
			piece := &hostv1.FilePiece{Data: b[:min(len(b), pieceSize)]}
			if first {
				piece.MimeType = w.header.Get("Content-Type")
				piece.Size, _ = strconv.ParseInt(w.header.Get("Content-Length"), 10, 64)
				first = false
			}
			if err := stream.Send(piece); err != nil {
				return err
			}
			b = b[len(piece.Data):]
		}
		return nil
	}
	return f.s.send(stream.Context(), w, http.MethodGet, "/api/file/view/"+hash, "application/octet-stream", http.NoBody)
}

// Write implements hostv1.FilesServer: the pieces become the upload of a form.
func (f fileService) Write(stream hostv1.Files_WriteServer) error {
	first, err := stream.Recv()
	if err != nil {
		return problem.New(problem.Invalid, "the file has no first piece")
	}
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() { w.CloseWithError(copyPieces(form, first, stream)) }()
	defer func() { _ = r.Close() }()
	a := &answer{header: http.Header{}, limit: 64 << 10}
	if err := f.s.send(stream.Context(), a, http.MethodPost, "/api/file/upload?type="+url.QueryEscape(first.MimeType), form.FormDataContentType(), r); err != nil {
		return err
	}
	var stored struct {
		SHA1 string `json:"sha1"`
		Hash string `json:"hash"`
		Size int64  `json:"filesize"`
	}
	if err := json.Unmarshal(a.body.Bytes(), &stored); err != nil {
		return fmt.Errorf("the answer to an upload: %w", err)
	}
	if stored.Hash == "" {
		stored.Hash = stored.SHA1
	}
	return stream.SendAndClose(&hostv1.WriteFileResponse{Hash: stored.Hash, Size: stored.Size})
}

func copyPieces(form *multipart.Writer, piece *hostv1.FilePiece, stream hostv1.Files_WriteServer) error {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{"name": "upload", "filename": piece.Name}))
	if piece.MimeType != "" {
		h.Set("Content-Type", piece.MimeType)
	}
	part, err := form.CreatePart(h)
	if err != nil {
		return err
	}
	for {
		if len(piece.Data) > pieceSize {
			return problem.New(problem.TooLarge, "a piece of a file may have %d bytes", pieceSize)
		}
		if _, err := part.Write(piece.Data); err != nil {
			return err
		}
		if piece, err = stream.Recv(); errors.Is(err, io.EOF) {
			return form.Close()
		} else if err != nil {
			return err
		}
	}
}
