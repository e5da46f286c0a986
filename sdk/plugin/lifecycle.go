package plugin

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// lifecycle serves quoin.plugin.v1.Lifecycle.
type lifecycle struct {
	pluginv1.UnimplementedLifecycleServer
	p    *Plugin
	mu   sync.Mutex // one Configure at a time
	once bool
}

// Describe implements pluginv1.LifecycleServer.
func (l *lifecycle) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.Description, error) {
	return l.p.describe(), nil
}

// Configure implements pluginv1.LifecycleServer.
func (l *lifecycle) Configure(ctx context.Context, req *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.once {
		conn, err := dial(req.HostAddress, req.HostToken)
		if err != nil {
			return nil, status.Errorf(codes.Unavailable, "the host services cannot be reached: %v", err)
		}
		l.p.mu.Lock()
		l.p.host = newHost(conn, req.DataDir)
		l.p.mu.Unlock()
		l.once = true
	}
	c := l.p.call(ctx, nil)
	var err error
	switch {
	case l.p.configure != nil:
		err = protect(func() error { return l.p.configure(c, req.Config) })
	case len(bytes.TrimSpace(req.Config)) > 0 && !bytes.Equal(bytes.TrimSpace(req.Config), []byte("{}")):
		err = Field("", "the plugin has no settings")
	}
	if isPanic(err) {
		return nil, crashed(c, "configure", err)
	}
	return &pluginv1.ConfigureResponse{Problems: diagnostics(err)}, nil
}

// diagnostics gives the findings of an error, which may be joined ones.
func diagnostics(err error) []*pluginv1.Diagnostic {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*pluginv1.Diagnostic
		for _, e := range many.Unwrap() {
			all = append(all, diagnostics(e)...)
		}
		return all
	}
	var f *FieldError
	if errors.As(err, &f) {
		return []*pluginv1.Diagnostic{{Path: f.Path, Message: f.Message}}
	}
	return []*pluginv1.Diagnostic{{Message: err.Error()}}
}

// Stop implements pluginv1.LifecycleServer.
func (l *lifecycle) Stop(context.Context, *pluginv1.StopRequest) (*pluginv1.StopResponse, error) {
	return &pluginv1.StopResponse{}, nil
}
