package pluginhost

import (
	"context"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/quoin-cms/quoin/core/telemetry"
)

// tracing are the options of a connection to a plugin that tell it where in a
// trace it is called, in the metadata traceparent (W3C Trace Context).
func tracing() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return invoke(inTrace(ctx, method), method, req, reply, conn, opts...)
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return stream(inTrace(ctx, method), desc, conn, method, opts...)
		}),
	}
}

func inTrace(ctx context.Context, method string) context.Context {
	if telemetry.TraceParent(ctx) == "" {
		return ctx
	}
	telemetry.Current(ctx).Text("rpc.method", method)
	h := http.Header{}
	telemetry.SendTrace(ctx, h)
	for _, name := range []string{"traceparent", "tracestate"} {
		if v := h.Get(name); v != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, name, v)
		}
	}
	return ctx
}
