package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// Serve opens, migrates, assembles and runs a server until ctx ends. ready is
// called once with the address it listens on, when everything works; the
// health paths answer earlier.
func Serve(ctx context.Context, c *Config, o Options, ready func(a *App, addr string)) (err error) {
	a, err := Open(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.LockFolder(ctx); err != nil {
		return err
	}
	server, err := a.server()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Server.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (choose another address with --listen)", c.Server.Listen, err)
	}
	front := &gate{checks: a.Checks, queues: a.queues}
	server.Handler = front
	stopMetrics, err := a.serveMetrics(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stopMetrics()
	served := make(chan error, 1)
	go func() { served <- serve(server, listener) }()
	if err := a.run(ctx, o.Version); err != nil {
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			err = nil // told to stop while it started
		}
		return errors.Join(err, server.Close())
	}
	front.open(a.Router)
	a.Checks.SetState(telemetry.Ready)
	ready(a, listener.Addr().String())
	go debug.FreeOSMemory() // starting takes memory that running does not need
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	return errors.Join(err, a.shutdown(context.WithoutCancel(ctx), server))
}

// server is the server with its limits, and with TLS if there is a certificate.
// Bodies have limits of their own (core/web).
func (a *App) server() (*http.Server, error) {
	s := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn),
	}
	if !a.Config.Server.TLS.On() {
		return s, nil
	}
	var err error
	s.TLSConfig, err = a.Config.Server.TLS.Config(a.Log)
	return s, err
}

func serve(s *http.Server, l net.Listener) error {
	if s.TLSConfig != nil {
		return s.ServeTLS(l, "", "")
	}
	return s.Serve(l)
}

func (a *App) run(ctx context.Context, version string) error {
	if err := a.Migrate(ctx); err != nil {
		return err
	}
	if err := a.Assemble(version); err != nil {
		return err
	}
	return a.Start(ctx)
}

// shutdown goes through the named phases: drain, requests, background work.
func (a *App) shutdown(ctx context.Context, server *http.Server) error {
	begin := time.Now()
	a.Checks.SetState(telemetry.Draining)
	close(a.stopping)
	if a.Config.Server.DrainDelay > 0 {
		<-time.After(a.Config.Server.DrainDelay)
	}
	within, cancel := context.WithTimeout(ctx, a.Config.Server.StopWithin)
	defer cancel()
	err := server.Shutdown(within)
	if err != nil {
		err = errors.Join(fmt.Errorf("requests were still running after %s: %w", a.Config.Server.StopWithin, err), server.Close())
	}
	within, cancel = context.WithTimeout(ctx, a.Config.Server.StopWithin)
	defer cancel()
	err = errors.Join(err, a.Stop(within))
	a.Log.Info("stopped", "seconds", time.Since(begin).Seconds())
	return err
}

// gate answers the health paths from the first moment and holds everything
// else back until the server is ready.
type gate struct {
	checks *telemetry.Checks
	queues *queues
	next   atomic.Pointer[http.Handler]
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.checks.State() == telemetry.Draining { // the next request of this client shall go elsewhere
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/livez", "/_liveness":
		answerHealth(w, http.StatusOK, map[string]any{"status": "ok"})
		return
	case "/readyz", "/_readiness":
		g.ready(w, r)
		return
	case "/status.json", "/health_check.json":
		g.status(w, r)
		return
	}
	if next := g.next.Load(); next != nil {
		(*next).ServeHTTP(w, r)
		return
	}
	web.SecurityHeaders(w.Header())
	starting := problem.New(problem.Unavailable, "the server is starting")
	starting.RetryAfter = time.Second
	web.Fail(w, r, starting)
}

// open lets requests through to the handler.
func (g *gate) open(next http.Handler) { g.next.Store(&next) }

func (g *gate) ready(w http.ResponseWriter, r *http.Request) {
	state := g.checks.State()
	results := g.checks.Ready(r.Context())
	status := http.StatusOK
	if state != telemetry.Ready || !telemetry.Healthy(results) {
		status = http.StatusServiceUnavailable
	}
	checks := map[string]string{}
	for _, res := range results {
		checks[res.Name] = "ok"
		if res.Err != nil { // the reason may hold addresses: it is for the log
			checks[res.Name] = "failing"
		}
	}
	answerHealth(w, status, map[string]any{"status": state.String(), "checks": checks})
}

func answerHealth(w http.ResponseWriter, status int, body map[string]any) {
	web.SecurityHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
