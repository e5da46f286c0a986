package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope names who makes the spans.
const scope = "github.com/quoin-cms/quoin"

// Traces says whether traces are made, and where they go.
type Traces struct {
	Enabled  bool    `yaml:"enabled" doc:"Makes traces and sends them by OTLP over HTTP."`
	Endpoint string  `yaml:"endpoint" doc:"Where they go, such as http://collector:4318; empty takes OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318. The other OTEL_EXPORTER_OTLP_*, OTEL_BSP_*, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES variables hold as well."`
	Sample   float64 `yaml:"sample" doc:"Share of the requests that are traced, from 0 to 1. A request that comes with a traceparent follows what that says."`
}

// Validate tells an address that is none, or a share that is none.
func (c Traces) Validate() error {
	var errs []error
	if u, err := url.Parse(c.Endpoint); c.Endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "") {
		errs = append(errs, errors.New("endpoint: must be an address such as http://collector:4318"))
	}
	if !(c.Sample >= 0 && c.Sample <= 1) { // NaN is neither
		errs = append(errs, fmt.Errorf("sample: %v is not between 0 and 1", c.Sample))
	}
	return errors.Join(errs...)
}

// Tracing begins the spans that have none above them in this process. Nil is
// off: it begins none. It is safe for concurrent use.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// NewTracing makes what the configuration asks for, nil when that is nothing.
// Spans are sent from the background, many at once; those that a slow collector
// does not take are dropped, and what goes wrong is a warning in the log.
func NewTracing(ctx context.Context, c Traces, version string, log *slog.Logger) (*Tracing, error) {
	if !c.Enabled {
		return nil, nil
	}
	var options []otlptracehttp.Option
	if c.Endpoint != "" {
		u, err := url.Parse(c.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("telemetry.traces.endpoint: %w", err)
		}
		options = append(options, otlptracehttp.WithEndpointURL(u.JoinPath("v1/traces").String()))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("telemetry.traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attributesOf(version)...), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry.traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces were not sent", "error", err) })) // the SDK has no other place for it
	t := &Tracing{provider: sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter), sdktrace.WithResource(about),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.Sample))),
	)}
	t.tracer = t.provider.Tracer(scope)
	return t, nil
}

func attributesOf(version string) []attribute.KeyValue {
	host, _ := os.Hostname() // only to be read by people
	return []attribute.KeyValue{
		attribute.String("service.name", "quoin"), attribute.String("service.version", cmp.Or(version, "unknown")),
		attribute.String("service.instance.id", fmt.Sprintf("%s/%d", host, os.Getpid())),
	}
}

// Stop sends what waits, until ctx ends.
func (t *Tracing) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Begin begins a span below the one that traceparent names, or a new trace when
// that is empty: for work that began elsewhere or at another time. links are
// traceparents of what else led to it.
func (t *Tracing) Begin(ctx context.Context, traceparent, name string, kind Kind, links ...string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	options := []trace.SpanStartOption{kind.option()}
	for _, l := range links {
		if c := trace.SpanContextFromContext(remote(context.Background(), l)); c.IsValid() { //nolint:forbidigo // of a trace elsewhere
			options = append(options, trace.WithLinks(trace.Link{SpanContext: c}))
		}
	}
	return t.start(remote(ctx, traceparent), name, options...)
}

// Serve begins the span of a request, in the trace of the caller if it sent one
// (W3C Trace Context).
func (t *Tracing) Serve(ctx context.Context, r *http.Request) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	method := r.Method
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "_OTHER"
	}
	ctx, span := t.start(ctx, method, Serves.option())
	span.Text("http.request.method", method)
	span.Text("quoin.request_id", RequestID(ctx))
	return ctx, span
}

// start gives a context that passes the trace on even when the span is not
// recorded.
func (t *Tracing) start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, Span) {
	ctx, span := t.tracer.Start(ctx, name, options...)
	if !span.IsRecording() {
		return ctx, Span{}
	}
	return ctx, Span{span}
}
