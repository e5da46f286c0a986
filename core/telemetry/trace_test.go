package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/telemetry/tracetest"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func tracing(t *testing.T, c telemetry.Traces) *telemetry.Tracing {
	t.Helper()
	tr, err := telemetry.NewTracing(t.Context(), c, "1.2.3", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Stop(context.Background()) })
	return tr
}

// TestTracingOffCostsNothing does what is done for a request, a statement, an
// event and a call, without tracing.
func TestTracingOffCostsNothing(t *testing.T) {
	off := tracing(t, telemetry.Traces{})
	if off != nil {
		t.Fatal("it is on")
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Traceparent", parent)
	n := testing.AllocsPerRun(100, func() {
		ctx, request := off.Serve(r.Context(), r)
		ctx, step := telemetry.Step(ctx, "step", telemetry.Calls)
		step.Text("key", "value")
		step.Number("number", 1<<40)
		ctx, more := off.Begin(ctx, parent, "more", telemetry.Handles)
		telemetry.SendTrace(ctx, r.Header)
		if telemetry.TraceParent(ctx) != "" || step.Recorded() || more.Recorded() {
			t.Fatal("there is a span")
		}
		more.End(errTold)
		step.End(errTold)
		request.End(nil)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := off.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

var errTold = fmt.Errorf("read secret: %w", problem.New(problem.Conflict, "of somebody"))

func TestSpansArrive(t *testing.T) {
	c := tracetest.New(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=trial")
	tr := tracing(t, c.Config())
	ctx, top := tr.Begin(t.Context(), parent, "top", telemetry.Handles, "00-00000000000000000000000000000001-0000000000000002-01", "nonsense")
	below, step := telemetry.Step(ctx, "step", telemetry.Inside)
	step.Text("empty", "")
	step.Number("n", 7)
	h := http.Header{"Tracestate": {"of=others"}}
	telemetry.SendTrace(below, h)
	step.End(errTold)
	top.End(nil)
	all := c.Wait(t, func(all []tracetest.Span) bool { return len(all) == 2 })
	a, b := tracetest.Named(all, "top"), tracetest.Named(all, "step")
	if a.Parent != "b7ad6b7169203331" || a.Kind != "CONSUMER" || a.Failed || fmt.Sprint(a.Links) != "[0000000000000002]" {
		t.Errorf("%+v", a)
	}
	if a.Resource["service.version"] != "1.2.3" || a.Resource["deployment.environment.name"] != "trial" {
		t.Errorf("%v", a.Resource)
	}
	if b.Parent != a.ID || b.Trace != a.Trace || !b.Failed || b.Attributes["error.type"] != "conflict" || !strings.Contains(b.Attributes["n"], "7") || len(b.Attributes) != 2 {
		t.Errorf("%+v", b)
	}
	if h.Get("Traceparent") != "00-"+b.Trace+"-"+b.ID+"-01" || h.Get("Tracestate") != "" {
		t.Errorf("%v", h)
	}
}

// TestSampling: what a caller decided holds, and what is not recorded is passed
// on.
func TestSampling(t *testing.T) {
	c := tracetest.New(t)
	config := c.Config()
	config.Sample = 0
	tr := tracing(t, config)
	unsampled := strings.TrimSuffix(parent, "1") + "0"
	for _, from := range []struct {
		traceparent string
		recorded    bool
	}{{"", false}, {unsampled, false}, {parent, true}, {"00-nonsense", false}} {
		ctx, span := tr.Begin(t.Context(), from.traceparent, "x", telemetry.Serves)
		got := telemetry.TraceParent(ctx)
		if span.Recorded() != from.recorded || telemetry.Sampled(got) != from.recorded || len(got) != len(parent) {
			t.Errorf("%q: recorded is %t, goes on as %q", from.traceparent, span.Recorded(), got)
		}
		if len(from.traceparent) == len(parent) && got[:35] != parent[:35] {
			t.Errorf("%q goes on in another trace: %q", from.traceparent, got)
		}
		if _, step := telemetry.Step(ctx, "step", telemetry.Calls); step.Recorded() != from.recorded {
			t.Errorf("%q: the step is recorded: %t", from.traceparent, step.Recorded())
		}
		span.End(nil)
	}
}

func TestTheLogNamesTheTrace(t *testing.T) {
	c := tracetest.New(t)
	tr := tracing(t, c.Config())
	ctx, span := tr.Begin(telemetry.WithRequestID(t.Context(), "r1"), parent, "x", telemetry.Serves)
	defer span.End(nil)
	var out bytes.Buffer
	log := telemetry.New(&out, telemetry.Config{})
	log.InfoContext(telemetry.Carry(t.Context(), ctx), "hello")
	for _, want := range []string{`"request_id":"r1"`, `"trace_id":"0af7651916cd43dd8448eb211c80319c"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, &out)
		}
	}
}

// TestACollectorThatIsAway: nobody waits for it, and stopping ends in time.
func TestACollectorThatIsAway(t *testing.T) {
	tr := tracing(t, telemetry.Traces{Enabled: true, Endpoint: "http://127.0.0.1:1", Sample: 1})
	_, span := tr.Begin(t.Context(), "", "x", telemetry.Serves)
	span.End(errors.New("plain"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tr.Stop(ctx); err == nil {
		t.Error("nothing was told of spans that are lost")
	}
}

func TestTracesValidate(t *testing.T) {
	good := []telemetry.Traces{{}, {Endpoint: "http://collector:4318", Sample: 1}, {Endpoint: "https://x/base", Sample: .5}}
	bad := []telemetry.Traces{{Endpoint: "collector:4318"}, {Endpoint: "ftp://x"}, {Endpoint: "http://"}, {Endpoint: "http://x?a=b"}, {Sample: -1}, {Sample: 1.1}, {Sample: math.NaN()}}
	for _, c := range good {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range bad {
		if c.Validate() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
}
