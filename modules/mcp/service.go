// Package mcp is the endpoint for agents: the Model Context Protocol in all its
// revisions, on one address (spec.md 4.2, contract-notes 1.2).
//
// A request passes the door (door.go), which knows the two eras of the protocol:
// with sessions (sessions.go) and without. Behind it the SDK speaks the
// protocol; what it is asked for comes from here (server.go): tools, resources
// and prompts, always with the rights of the caller.
//
// Sessions are in the database. Any process can go on with any session: what a
// client sends to one process and another one waits for is handed over
// (relay.go), and answers that nobody was there for are kept (replay.go).
package mcp

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
)

// Options are what a Service is made from. What is nil is not offered.
type Options struct {
	DB            *db.DB
	Config        *Config
	Log           *slog.Logger
	Version       string // of the program
	Authenticator auth.Authenticator
	Editor        port.Editor
	Types         port.ContentTypes
	Searcher      port.Searcher
	Files         port.Files
	Profiles      port.Profiles
	Tools         []port.ToolSource
	Resources     []port.ResourceSource
	Now           func() time.Time
}

// Service is the endpoint.
type Service struct {
	Options

	cfg           *Config
	store         *store
	log           *slog.Logger
	now           func() time.Time
	authenticator auth.Authenticator
	process       string // marks this process among others
	itself        *auth.Identity

	sdk       *sdk.Server
	versions  []string
	donors    map[string]context.Context
	stateless [2]http.Handler // JSON, events
	tools     *toolbox
	schemas   schemas // of tools of other modules
	sessions  sessions
	listeners listeners
	replay    *replay
	changes   *changes
	secret    []byte
	fetching  sync.Mutex

	life    context.Context // ends with the server
	end     context.CancelFunc
	running sync.WaitGroup
}

// New makes the endpoint. It can be called before Start, but for what needs the
// secret of the installation.
func New(ctx context.Context, o Options) *Service {
	s := &Service{
		Options: o, cfg: o.Config, store: &store{o.DB}, log: o.Log, now: o.Now, authenticator: o.Authenticator,
		process: strings.ToLower(rand.Text()[:12]), itself: auth.System("mcp"), sessions: sessions{all: map[string]*session{}},
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.replay = &replay{store: s.store, log: s.log, now: s.now, all: map[streamKey]*kept{}}
	s.tools = newToolbox(s)
	s.sdk = s.newServer()
	s.changes = &changes{service: s, wake: make(chan struct{}, 1)}
	for _, v := range sdk.SupportedProtocolVersions() {
		if v < stateless {
			s.versions = append(s.versions, v)
		}
	}
	s.donors = donorsOf(s.life, s.sdk, s.versions)
	for i, json := range []bool{true, false} {
		s.stateless[i] = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: json, PropagateRequestCancellation: true, DisableLocalhostProtection: true, // see refusedOrigin
			MaxRequestBodyBytes: int64(s.cfg.MaxBody), Logger: slog.New(slog.DiscardHandler),
		})
	}
	return s
}

// Start begins to follow other processes and changes.
func (s *Service) Start(ctx context.Context) error {
	secret, err := s.store.secret(ctx, rand.Text()+rand.Text())
	if err != nil {
		return err
	}
	s.secret = []byte(secret)
	s.running.Go(func() { s.hear(s.life) })
	s.running.Go(func() { s.poll(s.life) })
	s.running.Go(func() { s.forget(s.life) })
	s.running.Go(func() { s.changes.run(s.life) })
	for _, t := range s.Tools {
		t.WatchTools(s.changes.toolsChanged)
	}
	for _, r := range s.Resources {
		r.WatchResources(s.changes.resourceChanged)
	}
	return nil
}

// Stop ends every stream and call.
func (s *Service) Stop(ctx context.Context) error {
	s.end()
	for _, x := range s.sessions.list() {
		s.close(x)
	}
	gone := make(chan struct{})
	go func() { s.running.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
