package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/quoin-cms/quoin/core/problem"
)

// Kind is how a span stands to others, in OpenTelemetry's words.
type Kind uint8

// The kinds: a step inside the process, a request that is served, a call that
// is made, an event that is emitted, and one that is handled.
const (
	Inside Kind = iota
	Serves
	Calls
	Emits
	Handles
)

func (k Kind) option() trace.SpanStartOption {
	kinds := [...]trace.SpanKind{trace.SpanKindInternal, trace.SpanKindServer, trace.SpanKindClient, trace.SpanKindProducer, trace.SpanKindConsumer}
	return trace.WithSpanKind(kinds[k])
}

// Span is one step of a trace. The zero Span is none: its methods do nothing
// and cost nothing. Attributes must hold neither secrets, nor bodies, nor values
// of statements.
type Span struct{ span trace.Span }

// Recorded reports whether what is noted of the span goes anywhere.
func (s Span) Recorded() bool { return s.span != nil }

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Text notes an attribute, by its name in OpenTelemetry's conventions if it has
// one there.
func (s Span) Text(key, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Number notes an attribute that is a number.
func (s Span) Number(key string, value int64) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int64(key, value))
	}
}

// End ends the span. Of an error it keeps the kind only: its text, which may
// hold what people wrote, is for the log, which names the trace.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
		s.span.SetAttributes(attribute.String("error.type", errorType(err)))
	}
	s.span.End()
}

func errorType(err error) string {
	var p *problem.Problem
	switch {
	case errors.As(err, &p):
		return p.Kind.Name()
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}

// Step begins a span below the one of ctx. Without one, or when that one is not
// recorded, it gives ctx back and no span.
func Step(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := above.TracerProvider().Tracer(scope).Start(ctx, name, kind.option())
	return ctx, Span{span}
}

// Current is the span of ctx.
func Current(ctx context.Context) Span {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		return Span{span}
	}
	return Span{}
}

// TraceParent is where ctx stands in a trace, in the form of the header
// traceparent (W3C Trace Context, 3.2); empty outside of one.
func TraceParent(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return fmt.Sprintf("00-%s-%s-%s", c.TraceID(), c.SpanID(), c.TraceFlags()&trace.FlagsSampled)
}

// Sampled reports whether a traceparent says that its trace is recorded.
func Sampled(traceparent string) bool {
	return trace.SpanContextFromContext(remote(context.Background(), traceparent)).IsSampled() //nolint:forbidigo // for its values
}

// SendTrace puts traceparent and tracestate into the header of a request that
// goes out with ctx, and takes away what is there under these names. Outside of
// a trace it changes nothing.
func SendTrace(ctx context.Context, h http.Header) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	h.Del("tracestate")
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
}

// Carry gives a context with the request id and the span of another one, such
// as of the request that a library made its own context for.
func Carry(ctx, from context.Context) context.Context {
	ctx = WithRequestID(ctx, RequestID(from))
	if span := trace.SpanFromContext(from); span.SpanContext().IsValid() {
		ctx = trace.ContextWithSpan(ctx, span)
	}
	return ctx
}

// traceID is the id of the trace of ctx, for the log; empty outside of one.
func traceID(ctx context.Context) string {
	if c := trace.SpanContextFromContext(ctx); c.IsValid() {
		return c.TraceID().String()
	}
	return ""
}

// remote gives a context that stands where traceparent says; one that is not of
// the form changes nothing.
func remote(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}
