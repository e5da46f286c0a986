package plugintest

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the name of a file, not a secret
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quoin-cms/quoin/sdk/plugin"
	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// memory is what the host keeps.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	files  map[string][]byte
	events []plugin.Event
	lines  []string
	serial int64
}

// Value gives a value that the plugin keeps, nil for none.
func (h *Host) Value(key string) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.values[key]
}

// Document gives a document, nil for none.
func (h *Host) Document(contentType, ouuid string) json.RawMessage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.documents[contentType+":"+ouuid]
}

// PutFile stores a file and gives its hash.
func (h *Host) PutFile(data []byte) (hash string) {
	sum := sha1.Sum(data) //nolint:gosec // the name of a file
	hash = hex.EncodeToString(sum[:])
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[hash] = data
	return hash
}

// Emitted gives what the plugin emitted.
func (h *Host) Emitted() []plugin.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// Logged gives the messages that the plugin logged.
func (h *Host) Logged() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

func (h *Host) register(s *grpc.Server) {
	hostv1.RegisterLogServer(s, logs{h: h})
	hostv1.RegisterConfigServer(s, config{h: h})
	hostv1.RegisterKVServer(s, kv{h: h})
	hostv1.RegisterDocumentsServer(s, documents{h: h})
	hostv1.RegisterFilesServer(s, files{h: h})
	hostv1.RegisterSearchServer(s, search{h: h})
	hostv1.RegisterUsersServer(s, users{h: h})
	hostv1.RegisterEventsServer(s, events{h: h})
}

// may answers PermissionDenied for what was not granted.
func (h *Host) may(capability string) error {
	if slices.Contains(h.grants, capability) {
		return nil
	}
	return status.Errorf(codes.PermissionDenied, "the plugin has not been granted %s", capability)
}

type logs struct {
	hostv1.UnimplementedLogServer
	h *Host
}

// Write implements hostv1.LogServer.
func (l logs) Write(_ context.Context, req *hostv1.LogRequest) (*hostv1.LogResponse, error) {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	l.h.lines = append(l.h.lines, req.Message)
	return &hostv1.LogResponse{}, nil
}

type config struct {
	hostv1.UnimplementedConfigServer
	h *Host
}

// Get implements hostv1.ConfigServer.
func (c config) Get(context.Context, *hostv1.ConfigRequest) (*hostv1.ConfigResponse, error) {
	return &hostv1.ConfigResponse{Config: c.h.config}, nil
}

type kv struct {
	hostv1.UnimplementedKVServer
	h *Host
}

// Get implements hostv1.KVServer.
func (k kv) Get(_ context.Context, req *hostv1.KVGetRequest) (*hostv1.KVGetResponse, error) {
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	v, ok := k.h.values[req.Key]
	return &hostv1.KVGetResponse{Found: ok, Value: v}, k.h.may(plugin.CapKV)
}

// Set implements hostv1.KVServer; nothing expires within a test.
func (k kv) Set(_ context.Context, req *hostv1.KVSetRequest) (*hostv1.KVSetResponse, error) {
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	if err := k.h.may(plugin.CapKV); err != nil {
		return nil, err
	}
	old, ok := k.h.values[req.Key]
	if req.IfAbsent && ok || req.IfEquals && (!ok || !bytes.Equal(old, req.Old)) {
		return &hostv1.KVSetResponse{}, nil
	}
	k.h.values[req.Key] = bytes.Clone(req.Value)
	return &hostv1.KVSetResponse{Written: true}, nil
}

// Delete implements hostv1.KVServer.
func (k kv) Delete(_ context.Context, req *hostv1.KVDeleteRequest) (*hostv1.KVDeleteResponse, error) {
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	_, ok := k.h.values[req.Key]
	delete(k.h.values, req.Key)
	return &hostv1.KVDeleteResponse{Found: ok}, k.h.may(plugin.CapKV)
}

// List implements hostv1.KVServer.
func (k kv) List(_ context.Context, req *hostv1.KVListRequest) (*hostv1.KVListResponse, error) {
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	answer := &hostv1.KVListResponse{}
	for _, key := range slices.Sorted(maps.Keys(k.h.values)) {
		if strings.HasPrefix(key, req.Prefix) && key > req.After && len(answer.Keys) < int(req.Limit) {
			answer.Keys = append(answer.Keys, key)
		}
	}
	return answer, k.h.may(plugin.CapKV)
}

type documents struct {
	hostv1.UnimplementedDocumentsServer
	h *Host
}

// Get implements hostv1.DocumentsServer.
func (d documents) Get(_ context.Context, req *hostv1.GetDocumentRequest) (*hostv1.Document, error) {
	if err := d.h.may(plugin.CapDocumentsRead); err != nil {
		return nil, err
	}
	data := d.h.Document(req.Type, req.Ouuid)
	if data == nil {
		return nil, status.Errorf(codes.NotFound, "there is no document %s:%s", req.Type, req.Ouuid)
	}
	return &hostv1.Document{Type: req.Type, Ouuid: req.Ouuid, Revision: 1, Data: data}, nil
}

// Index implements hostv1.DocumentsServer.
func (d documents) Index(_ context.Context, req *hostv1.WriteDocumentRequest) (*hostv1.WriteDocumentResponse, error) {
	if err := d.h.may(plugin.CapDocumentsWrite); err != nil {
		return nil, err
	}
	d.h.mu.Lock()
	defer d.h.mu.Unlock()
	d.h.serial++
	if req.Ouuid == "" {
		req.Ouuid = fmt.Sprintf("test-%d", d.h.serial)
	}
	d.h.documents[req.Type+":"+req.Ouuid] = bytes.Clone(req.Data)
	return &hostv1.WriteDocumentResponse{Ouuid: req.Ouuid, Revision: d.h.serial}, nil
}

// Merge implements hostv1.DocumentsServer.
func (d documents) Merge(ctx context.Context, req *hostv1.WriteDocumentRequest) (*hostv1.WriteDocumentResponse, error) {
	all := map[string]json.RawMessage{}
	old := d.h.Document(req.Type, req.Ouuid)
	if old == nil {
		return nil, status.Errorf(codes.NotFound, "there is no document %s:%s", req.Type, req.Ouuid)
	}
	if err := errors.Join(json.Unmarshal(old, &all), json.Unmarshal(req.Data, &all)); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	merged, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return d.Index(ctx, &hostv1.WriteDocumentRequest{Type: req.Type, Ouuid: req.Ouuid, Data: merged})
}

type files struct {
	hostv1.UnimplementedFilesServer
	h *Host
}

// Read implements hostv1.FilesServer.
func (f files) Read(req *hostv1.ReadFileRequest, stream hostv1.Files_ReadServer) error {
	f.h.mu.Lock()
	data, ok := f.h.files[req.Hash]
	f.h.mu.Unlock()
	if !ok {
		return status.Errorf(codes.NotFound, "there is no file %s", req.Hash)
	}
	if err := f.h.may(plugin.CapFilesRead); err != nil {
		return err
	}
	for piece := range slices.Chunk(data, 256<<10) {
		if err := stream.Send(&hostv1.FilePiece{Data: piece}); err != nil {
			return err
		}
	}
	return nil
}

// Write implements hostv1.FilesServer.
func (f files) Write(stream hostv1.Files_WriteServer) error {
	if err := f.h.may(plugin.CapFilesWrite); err != nil {
		return err
	}
	var data []byte
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&hostv1.WriteFileResponse{Hash: f.h.PutFile(data), Size: int64(len(data))})
		}
		if err != nil {
			return err
		}
		data = append(data, piece.Data...)
	}
}

type search struct {
	hostv1.UnimplementedSearchServer
	h *Host
}

// Search implements hostv1.SearchServer.
func (s search) Search(_ context.Context, req *hostv1.SearchRequest) (*hostv1.SearchResponse, error) {
	if err := s.h.may(plugin.CapSearch); err != nil {
		return nil, err
	}
	if s.h.search == nil {
		return &hostv1.SearchResponse{Result: []byte(`{"hits":{"total":{"value":0,"relation":"eq"},"hits":[]}}`)}, nil
	}
	result, err := s.h.search(req.Search)
	return &hostv1.SearchResponse{Result: result}, err
}

type users struct {
	hostv1.UnimplementedUsersServer
	h *Host
}

// Current implements hostv1.UsersServer.
func (u users) Current(context.Context, *hostv1.CurrentUserRequest) (*hostv1.User, error) {
	return &hostv1.User{Username: u.h.user.Username, DisplayName: u.h.user.DisplayName, Roles: u.h.user.Roles}, u.h.may(plugin.CapUsersRead)
}

// Find implements hostv1.UsersServer.
func (u users) Find(ctx context.Context, req *hostv1.FindUserRequest) (*hostv1.User, error) {
	if req.Username != u.h.user.Username {
		return nil, status.Errorf(codes.NotFound, "there is no user %q", req.Username)
	}
	return u.Current(ctx, nil)
}

type events struct {
	hostv1.UnimplementedEventsServer
	h *Host
}

// Emit implements hostv1.EventsServer.
func (e events) Emit(_ context.Context, req *hostv1.EmitRequest) (*hostv1.EmitResponse, error) {
	e.h.mu.Lock()
	defer e.h.mu.Unlock()
	e.h.events = append(e.h.events, plugin.Event{Type: req.Type, Subject: req.Subject, Data: req.Data})
	return &hostv1.EmitResponse{}, e.h.may(plugin.CapEventsEmit)
}
