// Package plugintest runs a plugin inside a test: its real services over a real
// connection, with host services that keep everything in memory.
//
//	h := plugintest.Start(t, build())
//	if got := h.Tool("hello", `{"name":"Ada"}`).Text; got != "Hello Ada!" { … }
package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/quoin-cms/quoin/sdk/plugin"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// Option sets up the host before the plugin gets its settings.
type Option func(*Host)

// WithConfig gives the plugin settings: a JSON object.
func WithConfig(config string) Option { return func(h *Host) { h.config = []byte(config) } }

// WithUser says for whom calls are made; without it that is test, called Test
// User.
func WithUser(username, displayName string, roles ...string) Option {
	return func(h *Host) {
		h.user = plugin.User{Username: username, DisplayName: displayName, Roles: roles}
	}
}

// WithDocument puts a document into the host.
func WithDocument(contentType, ouuid, data string) Option {
	return func(h *Host) { h.documents[contentType+":"+ouuid] = json.RawMessage(data) }
}

// WithGrants says what the operator grants; without it that is everything.
func WithGrants(capabilities ...string) Option { return func(h *Host) { h.grants = capabilities } }

// WithSearch answers searches.
func WithSearch(answer func(search json.RawMessage) (json.RawMessage, error)) Option {
	return func(h *Host) { h.search = answer }
}

// Host is the host of one plugin in a test.
type Host struct {
	t         testing.TB
	conn      *grpc.ClientConn
	address   string // of the host services
	config    []byte
	user      plugin.User
	grants    []string
	search    func(json.RawMessage) (json.RawMessage, error)
	documents map[string]json.RawMessage
	memory
}

// Start serves the plugin until the test ends. Settings that it refuses end the
// test; see Configure.
func Start(t testing.TB, p *plugin.Plugin, options ...Option) *Host {
	t.Helper()
	h := &Host{
		t: t, user: plugin.User{Username: "test", DisplayName: "Test User", Roles: []string{"ROLE_API"}},
		grants: plugin.Capabilities(), documents: map[string]json.RawMessage{}, memory: memory{values: map[string][]byte{}, files: map[string][]byte{}},
	}
	for _, o := range options {
		o(h)
	}
	h.address = h.listen(h.register)
	conn, err := grpc.NewClient(h.listen(func(s *grpc.Server) { p.Register(s) }), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	h.conn = conn
	if err := h.Configure(string(h.config)); err != nil {
		t.Fatal(err)
	}
	return h
}

// listen serves on a socket of its own and gives its address.
func (h *Host) listen(register func(*grpc.Server)) (address string) {
	h.t.Helper()
	folder, err := os.MkdirTemp("", "plugintest-") // the path of a socket must be short
	if err != nil {
		h.t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(h.t.Context(), "unix", folder+"/s")
	if err != nil {
		h.t.Fatal(err)
	}
	s := grpc.NewServer(grpc.MaxRecvMsgSize(plugin.MaxMessage))
	register(s)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	h.t.Cleanup(func() { s.Stop(); <-done; _ = os.RemoveAll(folder) })
	return "unix:" + folder + "/s"
}

func (h *Host) caller() *pluginv1.Caller {
	return &pluginv1.Caller{Token: "test", Username: h.user.Username, DisplayName: h.user.DisplayName, Roles: h.user.Roles}
}

// Configure gives the plugin settings; its findings are *plugin.FieldError,
// joined.
func (h *Host) Configure(config string) error {
	r, err := pluginv1.NewLifecycleClient(h.conn).Configure(h.t.Context(), &pluginv1.ConfigureRequest{
		Config: []byte(config), Granted: h.grants, HostVersion: "test", HostAddress: h.address, DataDir: h.t.TempDir(),
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range r.Problems {
		errs = append(errs, &plugin.FieldError{Path: d.Path, Message: d.Message})
	}
	return errors.Join(errs...)
}

// Answer is what a tool answers.
type Answer struct {
	Text       string // of all parts
	Structured json.RawMessage
	Failed     bool
}

// Tool calls a tool with a JSON object; an error of the connection, such as that
// of a panic, ends the test.
func (h *Host) Tool(name, arguments string) Answer {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	stream, err := pluginv1.NewToolsClient(h.conn).Call(ctx, &pluginv1.ToolRequest{Caller: h.caller(), Tool: name, Arguments: []byte(arguments)})
	for err == nil {
		var part *pluginv1.ToolPart
		if part, err = stream.Recv(); err == nil && part.GetResult() != nil {
			r := part.GetResult()
			var texts []string
			for _, c := range r.Content {
				texts = append(texts, c.Text)
			}
			return Answer{strings.Join(texts, "\n"), r.Structured, r.Failed}
		}
	}
	h.t.Fatalf("tool %s: %v", name, err)
	return Answer{}
}

// Event hands over an event; the error is the one of the handler.
func (h *Host) Event(e plugin.Event) error {
	r, err := pluginv1.NewEventsClient(h.conn).Handle(h.t.Context(), &pluginv1.EventsRequest{Events: []*pluginv1.Event{{
		Id: e.ID, Type: e.Type, Subject: e.Subject, Data: e.Data, AtMicros: e.At.UnixMicro(), Actor: e.Actor,
	}}})
	if err != nil {
		return err
	}
	for _, v := range r.Verdicts {
		if v.Kind != pluginv1.Verdict_KIND_DONE {
			return errors.New(v.Message)
		}
	}
	return nil
}

// Transform gives what becomes of a webhook call.
func (h *Host) Transform(event, body string) (plugin.Delivery, error) {
	r, err := pluginv1.NewWebhooksClient(h.conn).Transform(h.t.Context(), &pluginv1.TransformRequest{Event: event, Body: []byte(body), Subscription: "test", Url: "https://example.org/hook"})
	return plugin.Delivery{Event: event, Body: r.GetBody(), Headers: r.GetHeaders(), Skip: r.GetSkip()}, err
}

// Read reads a resource.
func (h *Host) Read(uri string) ([]byte, error) {
	r, err := pluginv1.NewResourcesClient(h.conn).Read(h.t.Context(), &pluginv1.ReadRequest{Caller: h.caller(), Uri: uri})
	return r.GetData(), err
}

// Command runs a command and gives its output.
func (h *Host) Command(name string, args ...string) (lines []string, err error) {
	stream, err := pluginv1.NewCommandsClient(h.conn).Run(h.t.Context(), &pluginv1.RunRequest{Caller: h.caller(), Command: name, Args: args})
	for err == nil {
		var out *pluginv1.RunOutput
		if out, err = stream.Recv(); err == nil {
			lines = append(lines, out.Line)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return lines, err
}
