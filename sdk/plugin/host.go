package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// host is the connection to the host services.
type host struct {
	conn   grpc.ClientConnInterface
	log    hostv1.LogClient
	folder string
}

func newHost(conn grpc.ClientConnInterface, folder string) *host {
	return &host{conn: plainly{conn}, log: hostv1.NewLogClient(conn), folder: folder}
}

// dial connects to the host services.
func dial(address, token string) (*grpc.ClientConn, error) {
	if address == "" {
		return nil, errors.New("the server does not say where they are")
	}
	return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(hostToken(token)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)))
}

// hostToken tells the host which plugin calls.
type hostToken string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (t hostToken) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"quoin-plugin": string(t)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials: the socket
// does not leave the machine.
func (t hostToken) RequireTransportSecurity() bool { return false }

// noHost is the connection of a plugin that has no host yet.
type noHost struct{}

// Invoke implements grpc.ClientConnInterface.
func (noHost) Invoke(context.Context, string, any, any, ...grpc.CallOption) error { return errNoHost }

// NewStream implements grpc.ClientConnInterface.
func (noHost) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errNoHost
}

var errNoHost = errors.New("the plugin is not connected to a host yet")

func (c *Call) conn() grpc.ClientConnInterface {
	if c.host == nil {
		return noHost{}
	}
	return c.host.conn
}

// DataDir is a private folder that stays between starts.
func (c *Call) DataDir() string {
	if c.host == nil {
		return ""
	}
	return c.host.folder
}

// Log writes into the log of the server, with the plugin's name and the request.
func (c *Call) Log() *slog.Logger {
	var out hostv1.LogClient
	if c.host != nil {
		out = c.host.log
	}
	log := slog.New(&logHandler{to: out})
	if c.request != "" {
		log = log.With("request", c.request)
	}
	return log
}

// KV is the store of the plugin: small values, shared by all its processes.
type KV struct {
	c   *Call
	api hostv1.KVClient
}

// KV gives the store of the plugin. Capability kv.
func (c *Call) KV() KV { return KV{c, hostv1.NewKVClient(c.conn())} }

// Get gives a value; ok is false when there is none.
func (k KV) Get(key string) (value []byte, ok bool, err error) {
	r, err := k.api.Get(k.c, &hostv1.KVGetRequest{Key: key})
	return r.GetValue(), r.GetFound(), err
}

// Set writes a value of at most 1 MiB that lives for ttl, or for ever with 0.
func (k KV) Set(key string, value []byte, ttl time.Duration) error {
	_, err := k.api.Set(k.c, &hostv1.KVSetRequest{Key: key, Value: value, TtlMillis: ttl.Milliseconds()})
	return err
}

// SetIfAbsent is Set where there is no value yet: of all processes that try,
// one wins.
func (k KV) SetIfAbsent(key string, value []byte, ttl time.Duration) (won bool, err error) {
	r, err := k.api.Set(k.c, &hostv1.KVSetRequest{Key: key, Value: value, TtlMillis: ttl.Milliseconds(), IfAbsent: true})
	return r.GetWritten(), err
}

// CompareAndSet is Set where the value is old.
func (k KV) CompareAndSet(key string, old, value []byte, ttl time.Duration) (written bool, err error) {
	r, err := k.api.Set(k.c, &hostv1.KVSetRequest{Key: key, Value: value, TtlMillis: ttl.Milliseconds(), IfEquals: true, Old: old})
	return r.GetWritten(), err
}

// Delete removes a value.
func (k KV) Delete(key string) error {
	_, err := k.api.Delete(k.c, &hostv1.KVDeleteRequest{Key: key})
	return err
}

// Keys gives up to 1,000 keys with a prefix, in order, after the key after.
func (k KV) Keys(prefix, after string) ([]string, error) {
	r, err := k.api.List(k.c, &hostv1.KVListRequest{Prefix: prefix, After: after, Limit: 1000})
	return r.GetKeys(), err
}

// Document is the newest revision of a document.
type Document struct {
	Type, OUUID string
	Revision    int64
	Data        json.RawMessage
}

// Decode reads the data into v, as json.Unmarshal does.
func (d *Document) Decode(v any) error { return json.Unmarshal(d.Data, v) }

// Document reads a document. Capability documents:read.
func (c *Call) Document(contentType, ouuid string) (*Document, error) {
	d, err := hostv1.NewDocumentsClient(c.conn()).Get(c, &hostv1.GetDocumentRequest{Type: contentType, Ouuid: ouuid})
	if err != nil {
		return nil, err
	}
	return &Document{d.Type, d.Ouuid, d.Revision, d.Data}, nil
}

// Index creates a document, or replaces the one with the ouuid, and publishes
// it. data is a JSON object or a value that becomes one. Capability
// documents:write.
func (c *Call) Index(contentType, ouuid string, data any) (newOUUID string, err error) {
	b, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	r, err := hostv1.NewDocumentsClient(c.conn()).Index(c, &hostv1.WriteDocumentRequest{Type: contentType, Ouuid: ouuid, Data: b})
	return r.GetOuuid(), err
}

// Merge changes fields of a document and publishes it. Capability
// documents:write.
func (c *Call) Merge(contentType, ouuid string, fields any) error {
	b, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	_, err = hostv1.NewDocumentsClient(c.conn()).Merge(c, &hostv1.WriteDocumentRequest{Type: contentType, Ouuid: ouuid, Data: b})
	return err
}

// Search asks the search engine: search is the object search of POST
// /api/search/search. It gives the answer of the API. Capability search.
func (c *Call) Search(search any) (json.RawMessage, error) {
	b, err := json.Marshal(search)
	if err != nil {
		return nil, err
	}
	r, err := hostv1.NewSearchClient(c.conn()).Search(c, &hostv1.SearchRequest{Search: b})
	return r.GetResult(), err
}

// Emit makes an event of the type plugin.<name of the plugin>.<kind>.
// Capability events:emit.
func (c *Call) Emit(kind, subject string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_, err = hostv1.NewEventsClient(c.conn()).Emit(c, &hostv1.EmitRequest{Type: kind, Subject: subject, Data: b})
	return err
}

// FindUser gives a user by name. Capability users:read.
func (c *Call) FindUser(username string) (User, error) {
	u, err := hostv1.NewUsersClient(c.conn()).Find(c, &hostv1.FindUserRequest{Username: username})
	return User{u.GetUsername(), u.GetDisplayName(), u.GetRoles()}, err
}

// ReadFile writes a file to w and gives its MIME type. Capability files:read.
func (c *Call) ReadFile(hash string, w io.Writer) (mimeType string, err error) {
	ctx, cancel := context.WithCancel(c)
	defer cancel() // also where w takes no more
	stream, err := hostv1.NewFilesClient(c.conn()).Read(ctx, &hostv1.ReadFileRequest{Hash: hash})
	if err != nil {
		return "", err
	}
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return mimeType, nil
		}
		if err != nil {
			return mimeType, err
		}
		if piece.MimeType != "" {
			mimeType = piece.MimeType
		}
		if _, err := w.Write(piece.Data); err != nil {
			return mimeType, err
		}
	}
}

// WriteFile stores what r gives and gives its hash. Capability files:write.
func (c *Call) WriteFile(name, mimeType string, r io.Reader) (hash string, err error) {
	ctx, cancel := context.WithCancel(c)
	defer cancel() // a file whose end did not come is not stored
	stream, err := hostv1.NewFilesClient(c.conn()).Write(ctx)
	if err != nil {
		return "", err
	}
	first := true
	for buf := make([]byte, 256<<10); ; first = false {
		n, err := fill(r, buf)
		piece := &hostv1.FilePiece{Data: buf[:n]}
		if first {
			piece.Name, piece.MimeType = name, mimeType
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read what to store: %w", err)
		}
		if (n > 0 || first) && stream.Send(piece) != nil {
			break // CloseAndRecv tells why
		}
		if err != nil {
			break
		}
	}
	answer, err := stream.CloseAndRecv()
	return answer.GetHash(), err
}

// fill reads until buf is full or r has ended, which is io.EOF. io.ReadFull would
// hide the io.ErrUnexpectedEOF of a reader that broke off.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}
