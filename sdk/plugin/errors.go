package plugin

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// NotFound tells whether a host service said that there is no such thing.
func NotFound(err error) bool { return status.Code(err) == codes.NotFound }

// Forbidden tells whether a host service refused the call: the user lacks the
// right, the operator has not granted the capability, or there is no user.
func Forbidden(err error) bool {
	code := status.Code(err)
	return code == codes.PermissionDenied || code == codes.Unauthenticated
}

// hostError is an error of a host service: its sentence only, for people. What
// gRPC knows of it is still there.
type hostError struct{ status *status.Status }

// Error implements error.
func (e *hostError) Error() string { return e.status.Message() }

// GRPCStatus gives the error to package status.
func (e *hostError) GRPCStatus() *status.Status { return e.status }

func told(err error) error {
	if s, ok := status.FromError(err); ok && err != nil {
		return &hostError{s}
	}
	return err
}

// plainly is a connection whose errors are sentences for people.
type plainly struct{ grpc.ClientConnInterface }

// Invoke implements grpc.ClientConnInterface.
func (p plainly) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	return told(p.ClientConnInterface.Invoke(ctx, method, args, reply, options...))
}

// NewStream implements grpc.ClientConnInterface.
func (p plainly) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := p.ClientConnInterface.NewStream(ctx, desc, method, options...)
	if err != nil {
		return nil, told(err)
	}
	return plainStream{s}, nil
}

type plainStream struct{ grpc.ClientStream }

// RecvMsg implements grpc.ClientStream; io.EOF stays what it is.
func (p plainStream) RecvMsg(m any) error { return told(p.ClientStream.RecvMsg(m)) }
