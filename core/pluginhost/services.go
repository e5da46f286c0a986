package pluginhost

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/sdk/plugin"
	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// needed is the capability of each call of the host services; empty for those
// that every plugin may make. A call that is not here is refused.
func needed() map[string]string {
	return map[string]string{
		hostv1.Log_Write_FullMethodName:       "",
		hostv1.Config_Get_FullMethodName:      "",
		hostv1.KV_Get_FullMethodName:          plugin.CapKV,
		hostv1.KV_Set_FullMethodName:          plugin.CapKV,
		hostv1.KV_Delete_FullMethodName:       plugin.CapKV,
		hostv1.KV_List_FullMethodName:         plugin.CapKV,
		hostv1.Documents_Get_FullMethodName:   plugin.CapDocumentsRead,
		hostv1.Documents_Index_FullMethodName: plugin.CapDocumentsWrite,
		hostv1.Documents_Merge_FullMethodName: plugin.CapDocumentsWrite,
		hostv1.Files_Read_FullMethodName:      plugin.CapFilesRead,
		hostv1.Files_Write_FullMethodName:     plugin.CapFilesWrite,
		hostv1.Search_Search_FullMethodName:   plugin.CapSearch,
		hostv1.Users_Current_FullMethodName:   plugin.CapUsersRead,
		hostv1.Users_Find_FullMethodName:      plugin.CapUsersRead,
		hostv1.Events_Emit_FullMethodName:     plugin.CapEventsEmit,
	}
}

// service answers the calls of one process of a plugin.
type service struct {
	hostv1.UnimplementedLogServer
	hostv1.UnimplementedConfigServer
	hostv1.UnimplementedUsersServer
	hostv1.UnimplementedSearchServer

	h     *Host
	name  string
	wish  Wish
	proc  *process
	token string // what the process says to be this plugin
	need  map[string]string
	busy  chan struct{} // calls at the same time
}

// maxServing bounds the calls of one plugin to the host at the same time.
const maxServing = 64

// serve opens the host services for a process: where, and what it must say there.
func (h *Host) serve(ctx context.Context, proc *process, p *plan) (address, token string, err error) {
	listener, address, err := listen(ctx, proc.temp)
	if err != nil {
		return "", "", fmt.Errorf("open the services for the plugin: %w", err)
	}
	s := &service{h: h, name: p.found.Name, wish: p.wish, proc: proc, token: rand.Text(), need: needed(), busy: make(chan struct{}, maxServing)}
	proc.host = grpc.NewServer(grpc.MaxRecvMsgSize(plugin.MaxMessage), grpc.MaxSendMsgSize(plugin.MaxMessage),
		grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream))
	s.register(proc.host)
	go func() { _ = proc.host.Serve(listener) }() // until the process is killed
	return address, s.token, nil
}

// listen opens a socket in the folder of the process, which nobody but the
// user of the server can enter, and gives its address as gRPC names it.
func listen(ctx context.Context, folder string) (l net.Listener, address string, err error) {
	path := filepath.Join(folder, "host.sock")
	l, err = (&net.ListenConfig{}).Listen(ctx, "unix", path)
	return l, "unix:" + path, err
}

// serviceNames are the full names of what a server serves, sorted.
func serviceNames(server *grpc.Server) []string {
	return slices.Sorted(maps.Keys(server.GetServiceInfo()))
}

func (s *service) register(server *grpc.Server) {
	hostv1.RegisterLogServer(server, s)
	hostv1.RegisterConfigServer(server, s)
	hostv1.RegisterKVServer(server, kvService{s: s})
	hostv1.RegisterDocumentsServer(server, documentService{s: s})
	hostv1.RegisterFilesServer(server, fileService{s: s})
	hostv1.RegisterSearchServer(server, s)
	hostv1.RegisterUsersServer(server, s)
	hostv1.RegisterEventsServer(server, eventService{s: s})
}

func (s *service) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (answer any, err error) {
	ctx, leave, err := s.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	defer leave()
	if caught := work.Protect(func() error { answer, err = next(ctx, req); return nil }); caught != nil {
		err = caught
	}
	return answer, s.face(info.FullMethod, err)
}

type streamWith struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s streamWith) Context() context.Context { return s.ctx }

func (s *service) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, leave, err := s.admit(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	defer leave()
	return s.face(info.FullMethod, work.Protect(func() error { return next(srv, streamWith{stream, ctx}) }))
}

// admit decides whether the plugin may make the call, and for whom it acts.
func (s *service) admit(ctx context.Context, method string) (context.Context, func(), error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if said := md.Get(pluginKey); len(said) != 1 || subtle.ConstantTimeCompare([]byte(said[0]), []byte(s.token)) != 1 {
		return nil, nil, status.Errorf(codes.Unauthenticated, "the metadata %s must be the host_token of Configure", pluginKey)
	}
	capability, known := s.need[method]
	if !known {
		return nil, nil, status.Errorf(codes.Unimplemented, "this server has no %s", method)
	}
	if capability != "" && !slices.Contains(s.wish.Granted, capability) {
		return nil, nil, status.Errorf(codes.PermissionDenied, "the plugin %s has not been granted %s: quoin plugin enable %s --grant %s", s.name, capability, s.name, capability)
	}
	select {
	case s.busy <- struct{}{}:
	default:
		return nil, nil, status.Errorf(codes.ResourceExhausted, "the plugin %s makes more than %d calls at the same time", s.name, maxServing)
	}
	leave := func() { <-s.busy }
	if capability == "" || capability == plugin.CapKV {
		return ctx, leave, nil // nobody's rights matter
	}
	ctx, err := s.acting(ctx)
	if err != nil {
		leave()
		return nil, nil, s.face(method, err)
	}
	return ctx, leave, nil
}

// The metadata of a call: the token of the process, and that of the call which it
// handles.
const (
	pluginKey = "quoin-plugin"
	callKey   = "quoin-call"
)

// acting gives a context with the identity for which a call of the plugin is
// made, none for nobody, and with the request and the trace that it belongs to.
func (s *service) acting(ctx context.Context) (context.Context, error) {
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		if token := md.Get(callKey); len(token) > 0 && token[0] != "" {
			if from := s.proc.calls.find(token[0]); from != nil {
				return auth.With(telemetry.Carry(ctx, from), auth.From(from)), nil
			}
			return nil, problem.New(problem.Forbidden, "the call for whose user this is made has ended")
		}
	}
	if s.wish.RunAs == "" || s.h.Identities == nil {
		return ctx, nil
	}
	id, err := s.h.Identities.Identity(ctx, s.wish.RunAs)
	if err != nil {
		return nil, err
	}
	return auth.With(ctx, id), nil
}

// face turns an error into what the plugin sees; the cause of an internal one is
// for the log.
func (s *service) face(method string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	p := problem.From(err)
	if p.Kind == problem.Internal {
		s.h.log.Error("a call of a plugin failed", "plugin", s.name, "method", method, "error", err)
	}
	return problemStatus(p)
}

// Write implements hostv1.LogServer.
func (s *service) Write(_ context.Context, req *hostv1.LogRequest) (*hostv1.LogResponse, error) {
	level := slog.LevelInfo
	switch req.Level {
	case "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	s.proc.output.entry(level, req.Message, req.Fields)
	return &hostv1.LogResponse{}, nil
}

// Get implements hostv1.ConfigServer.
func (s *service) Get(context.Context, *hostv1.ConfigRequest) (*hostv1.ConfigResponse, error) {
	return &hostv1.ConfigResponse{Config: s.wish.Config}, nil
}
