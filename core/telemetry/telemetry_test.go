package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quoin-cms/quoin/core/telemetry"
)

func TestLogLinesCarryTheRequestID(t *testing.T) {
	var out bytes.Buffer
	ctx := telemetry.WithRequestID(t.Context(), "req-1")
	log := telemetry.New(&out, telemetry.Config{}).With("module", "content")
	log.InfoContext(ctx, "hello", "n", 1)
	log.DebugContext(ctx, "not at this level")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	for key, want := range map[string]any{"msg": "hello", "level": "INFO", "module": "content", "n": 1.0, "request_id": "req-1"} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	out.Reset()
	telemetry.New(&out, telemetry.Config{Format: "text", Level: "debug"}).Debug("no request")
	if !strings.Contains(out.String(), `level=DEBUG msg="no request"`) || strings.Contains(out.String(), "request_id") {
		t.Errorf("got %s", out.String())
	}
	if telemetry.RequestID(t.Context()) != "" {
		t.Error("a context without a request has no id")
	}
	telemetry.Discard().ErrorContext(ctx, "dropped")
}

func TestAnUnknownLevelOrFormatFallsBack(t *testing.T) {
	var out bytes.Buffer
	telemetry.New(&out, telemetry.Config{Level: "loud", Format: "xml"}).Info("x")
	if !json.Valid(out.Bytes()) {
		t.Errorf("the fallback is info and json: %q", out.String())
	}
}

func TestChecksRunTogetherWithALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checks := telemetry.NewChecks(time.Second)
		var meet sync.WaitGroup
		meet.Add(2)
		both := func(context.Context) error { meet.Done(); meet.Wait(); return nil } // hangs unless both run
		hang := make(chan struct{})
		var hangs atomic.Int32
		for _, c := range []telemetry.Check{
			{Name: "b", Run: both},
			{Name: "a", Run: both},
			{Name: "bad", Run: func(context.Context) error { return errors.New("refused") }},
			{Name: "panics", Run: func(context.Context) error { panic("oops") }},
			{Name: "slow", Run: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
			{Name: "hangs", Run: func(context.Context) error { hangs.Add(1); <-hang; return nil }},
		} {
			if err := checks.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		results := checks.Ready(t.Context())
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %s", took)
		}
		want := []struct{ name, err string }{{"a", ""}, {"b", ""}, {"bad", "refused"}, {"hangs", "no answer after 1s"}, {"panics", "panicked: oops"}, {"slow", ""}}
		for i, w := range want {
			got := results[i]
			if got.Name != w.name || w.err != "" && (got.Err == nil || !strings.HasPrefix(got.Err.Error(), w.err)) || (got.Err == nil) != (w.err == "" && w.name != "slow") {
				t.Errorf("result %d: %+v, want %+v", i, got, w)
			}
		}
		if telemetry.Healthy(results) || !telemetry.Healthy(results[:2]) {
			t.Error("Healthy")
		}
		meet.Add(2)
		results = checks.Ready(t.Context())
		if hangs.Load() != 1 || results[3].Err == nil {
			t.Errorf("a hanging check was started %d times: %+v", hangs.Load(), results[3])
		}
		close(hang)
		synctest.Wait()
		meet.Add(2)
		if results = checks.Ready(t.Context()); results[3].Err != nil || hangs.Load() != 2 {
			t.Errorf("a check that ended runs again: %+v", results[3])
		}
	})
}

func TestACallerWhoGoesAwayDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checks := telemetry.NewChecks(time.Minute)
		release := make(chan struct{})
		err := checks.Add(telemetry.Check{Name: "db", Run: func(ctx context.Context) error {
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		first, second := make(chan []telemetry.Result, 1), make(chan []telemetry.Result, 1)
		go func() { first <- checks.Ready(gone) }()
		synctest.Wait()
		go func() { second <- checks.Ready(t.Context()) }()
		synctest.Wait()
		cancel()
		if telemetry.Healthy(<-first) {
			t.Error("the caller who went away got no answer")
		}
		close(release)
		if got := <-second; !telemetry.Healthy(got) {
			t.Errorf("the other caller: %+v", got)
		}
	})
}

func TestChecksHaveNames(t *testing.T) {
	checks := telemetry.NewChecks(time.Second)
	fine := func(context.Context) error { return nil }
	for _, c := range []struct {
		check telemetry.Check
		ok    bool
	}{{telemetry.Check{Name: "a", Run: fine}, true}, {telemetry.Check{Name: "a", Run: fine}, false}, {telemetry.Check{Run: fine}, false}, {telemetry.Check{Name: "b"}, false}} {
		if err := checks.Add(c.check); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.check.Name, err)
		}
	}
}

func TestStateNeverGoesBack(t *testing.T) {
	checks := telemetry.NewChecks(time.Second)
	for _, c := range []struct{ set, want telemetry.State }{
		{telemetry.Starting, telemetry.Starting}, {telemetry.Ready, telemetry.Ready}, {telemetry.Draining, telemetry.Draining}, {telemetry.Ready, telemetry.Draining},
	} {
		if checks.SetState(c.set); checks.State() != c.want {
			t.Errorf("after %s: %s, want %s", c.set, checks.State(), c.want)
		}
	}
	if telemetry.Starting.String() != "starting" || telemetry.Ready.String() != "ready" || telemetry.Draining.String() != "draining" {
		t.Error("names of the states")
	}
}

// BenchmarkAccessLine is the line the HTTP layer writes for every request.
func BenchmarkAccessLine(b *testing.B) {
	log := telemetry.New(io.Discard, telemetry.Config{})
	ctx := telemetry.WithRequestID(b.Context(), "01JD8Z6W4Q8M3T2XK5V7N9R1PC")
	b.ReportAllocs()
	for b.Loop() {
		log.LogAttrs(ctx, slog.LevelInfo, "request",
			slog.String("method", "GET"),
			slog.String("path", "/api/data/page/AVmX2c8Zl0kX4a1b7d3e"),
			slog.Int("status", 200),
			slog.Int64("bytes", 1834),
			slog.Duration("took", 184*time.Microsecond),
			slog.String("user", "admin"))
	}
}
