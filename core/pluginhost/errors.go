package pluginhost

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quoin-cms/quoin/core/problem"
)

// codeOf is the gRPC code of a kind of problem.
func codeOf(k problem.Kind) codes.Code {
	switch k {
	case problem.Invalid, problem.Unprocessable, problem.Unsupported, problem.MethodNotAllowed:
		return codes.InvalidArgument
	case problem.Unauthenticated:
		return codes.Unauthenticated
	case problem.Forbidden:
		return codes.PermissionDenied
	case problem.NotFound:
		return codes.NotFound
	case problem.Conflict, problem.Locked, problem.PreconditionFailed:
		return codes.FailedPrecondition
	case problem.TooLarge, problem.TooManyRequests, problem.Full:
		return codes.ResourceExhausted
	case problem.Unavailable:
		return codes.Unavailable
	}
	return codes.Internal
}

// problemStatus is what a plugin sees of a problem: never its cause.
func problemStatus(p *problem.Problem) error {
	text := p.Detail
	if text == "" {
		text = p.Kind.Title()
	}
	for _, f := range p.Fields {
		if f.Message != text {
			text += "; " + f.Path + ": " + f.Message
		}
	}
	return status.Error(codeOf(p.Kind), text)
}

// fromPlugin says what a failed call of a plugin means to the one who waits.
func fromPlugin(name string, err error) error {
	if err == nil {
		return nil
	}
	var p *problem.Problem
	if errors.As(err, &p) {
		return err
	}
	text := cut(status.Convert(err).Message(), 2000)
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return problem.Wrap(err, problem.Unavailable, "the plugin %s did not answer in time", name)
	case codes.Canceled:
		return context.Canceled
	case codes.Unavailable:
		return problem.Wrap(err, problem.Unavailable, "the plugin %s ended while it answered", name)
	case codes.ResourceExhausted:
		return problem.Wrap(err, problem.TooLarge, "the answer of the plugin %s is too large", name)
	case codes.NotFound:
		return problem.New(problem.NotFound, "%s", text)
	case codes.InvalidArgument:
		return problem.New(problem.Invalid, "%s", text)
	case codes.Unknown: // the error of a handler
		return problem.New(problem.Unprocessable, "%s", text)
	}
	return problem.Wrap(err, problem.Internal, "the plugin %s failed", name)
}
