package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

// gauges are what the core itself tells.
func (a *App) gauges() []telemetry.Gauge {
	queue := func(name, help string, value func(work.Stats, func(float64, string))) telemetry.Gauge {
		return telemetry.Gauge{Name: name, Help: help, Labels: []string{"table", "queue", "state"}, Collect: func(ctx context.Context, emit func(float64, ...string)) error {
			all, err := a.queues.get(ctx)
			for _, t := range all {
				for _, s := range t.Queues {
					value(s, func(v float64, state string) { emit(v, t.Table, s.Queue, state) })
				}
			}
			return err
		}}
	}
	return []telemetry.Gauge{
		queue("quoin_queue_rows", "Events, jobs, calls of webhooks and tasks that wait, run, or were given up.", func(s work.Stats, emit func(float64, string)) {
			emit(float64(s.Pending), "pending")
			emit(float64(s.Leased), "running")
			emit(float64(s.Buried), "buried")
		}),
		queue("quoin_queue_lag_seconds", "For how long the oldest row that is due has been due.", func(s work.Stats, emit func(float64, string)) {
			emit(s.Lag.Seconds(), "due")
		}),
		{Name: "quoin_database_connections", Help: "Connections to the database.", Labels: []string{"state"}, Collect: func(_ context.Context, emit func(float64, ...string)) error {
			s := a.DB.Stats()
			emit(float64(s.InUse), "used")
			emit(float64(s.Idle), "idle")
			emit(float64(s.Max), "max")
			return nil
		}},
		{Name: "quoin_check_up", Help: "1 for each check of /readyz that is good, else 0.", Labels: []string{"check"}, Collect: func(ctx context.Context, emit func(float64, ...string)) error {
			for _, r := range a.Checks.Ready(ctx) {
				emit(bit(r.Err == nil), r.Name)
			}
			return nil
		}},
		{Name: "quoin_ready", Help: "1 while the process takes requests.", Collect: func(_ context.Context, emit func(float64, ...string)) error {
			emit(bit(a.Checks.State() == telemetry.Ready))
			return nil
		}},
	}
}

func bit(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// serveMetrics answers /metrics on an address of its own until stop is called.
// It does nothing when none is configured.
func (a *App) serveMetrics(ctx context.Context) (stop func(), err error) {
	address := a.Config.Telemetry.Listen
	if address == "" {
		return func() {}, nil
	}
	if err := a.metrics.Add(a.gauges()...); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (telemetry.listen)", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	front := &gate{checks: a.Checks, queues: a.queues}
	for _, path := range []string{"GET /livez", "GET /readyz"} { // for workers, which have no other address
		mux.Handle(path, front)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelWarn)}
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.Log.Error("metrics are not served any more", "error", err)
		}
	})
	a.Log.Info("metrics", "listen", listener.Addr().String())
	return func() { _ = server.Close(); ended.Wait() }, nil
}
