package pluginhost_test

import (
	"log/slog"
	"testing"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/telemetry/tracetest"
)

func TestAPluginIsCalledWithinTheTrace(t *testing.T) {
	collector := tracetest.New(t)
	tracing, err := telemetry.NewTracing(t.Context(), collector.Config(), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tracing.Stop(t.Context()) }()
	k := running(t, nil)
	if outside, err := k.tool("good_trace", ""); err != nil || outside != "" {
		t.Errorf("outside of a trace: %q, %v", outside, err)
	}
	ctx, request := tracing.Begin(k.as("admin"), "", "request", telemetry.Serves)
	result, err := k.host.Tools().CallTool(ctx, port.ToolCall{Name: "good_trace", Arguments: []byte("{}")})
	request.End(err)
	if err != nil || len(result.Content) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	all := collector.Wait(t, func(all []tracetest.Span) bool { return tracetest.Named(all, "request") != nil })
	call, top := tracetest.Named(all, "plugin good"), tracetest.Named(all, "request")
	if call == nil || call.Parent != top.ID || call.Kind != "CLIENT" || call.Attributes["rpc.method"] == "" {
		t.Fatalf("%s", tracetest.List(all))
	}
	if got, want := result.Content[0].Text, "00-"+call.Trace+"-"+call.ID+"-01"; got != want {
		t.Errorf("the plugin got %q, want %q", got, want)
	}
}
