package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// User is for whom a call is made; empty for events.
type User struct {
	Username    string
	DisplayName string
	Roles       []string
}

// Call is one call of a handler. It is a context that ends when nobody waits
// for the answer any more, and the way to the host services, which act with the
// rights of User.
type Call struct {
	context.Context

	user     User
	request  string
	host     *host
	progress func(done, total float64, message string)
	print    func(line []byte) error
}

// callKey is the metadata that binds a call to a host service to its user.
const callKey = "quoin-call"

func (p *Plugin) call(ctx context.Context, from *pluginv1.Caller) *Call {
	p.mu.RLock()
	defer p.mu.RUnlock()
	c := &Call{Context: ctx, host: p.host}
	if from != nil {
		c.Context = metadata.AppendToOutgoingContext(ctx, callKey, from.Token)
		c.user = User{Username: from.Username, DisplayName: from.DisplayName, Roles: from.Roles}
		c.request = from.RequestId
	}
	return c
}

// User is for whom the call is made.
func (c *Call) User() User { return c.user }

// RequestID is that of the request in the log of the server; may be empty.
func (c *Call) RequestID() string { return c.request }

// Progress tells who waits for a tool how far it is; total 0 is not known.
func (c *Call) Progress(done, total float64, message string) {
	if c.progress != nil {
		c.progress(done, total, message)
	}
}

// Print writes a line of the output of a command.
func (c *Call) Print(format string, args ...any) {
	if c.print != nil {
		_ = c.print(fmt.Appendf(nil, format, args...)) // the reader is gone: c ends
	}
}

// decode reads JSON strictly: unknown fields and trailing text are errors.
func decode(raw []byte, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return decodeError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the JSON value")
	}
	return nil
}

func decodeError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return Field(wrong.Field, "must be %s, not %s", wrong.Type, wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Field(strings.Trim(name, `"`), "is not known")
	}
	return err
}

// panicked is a handler that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func isPanic(err error) bool { return errors.As(err, new(*panicked)) }

// protect runs a handler; a panic becomes an error.
func protect(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return fn()
}

// crashed writes the stack of a panic into the log and gives the error for the
// host.
func crashed(c *Call, where string, err error) error {
	var p *panicked
	if errors.As(err, &p) {
		c.Log().Error("a handler panicked", "where", where, "panic", fmt.Sprint(p.value), "stack", string(p.stack))
	}
	return status.Errorf(codes.Internal, "%s: %v", where, err)
}

// failed gives the error of a handler for the host.
func failed(c *Call, where string, err error) error {
	if isPanic(err) {
		return crashed(c, where, err)
	}
	return status.Error(codes.Unknown, err.Error())
}

func errUnknown(what, name string) error {
	return status.Errorf(codes.NotFound, "there is no %s %q", what, name)
}
