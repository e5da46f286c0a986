package pluginhost

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/telemetry"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// callers remembers for whom the calls of one process are made, by the token
// that the plugin sends back with its own calls. A token is worth nothing after
// its call, and nothing to another plugin.
type callers struct {
	mu sync.Mutex
	by map[string]context.Context
}

func newCallers() *callers { return &callers{by: map[string]context.Context{}} }

// begin gives the caller of the identity of ctx; end must be called after the
// call.
func (c *callers) begin(ctx context.Context) (from *pluginv1.Caller, end func()) {
	from = &pluginv1.Caller{RequestId: telemetry.RequestID(ctx)}
	id := auth.From(ctx)
	if id == nil {
		return from, func() {}
	}
	from.Token, from.Username, from.DisplayName, from.Roles = rand.Text(), id.Username, cmp.Or(id.DisplayName, id.Username), id.Granted
	c.mu.Lock()
	c.by[from.Token] = ctx
	c.mu.Unlock()
	return from, func() {
		c.mu.Lock()
		delete(c.by, from.Token)
		c.mu.Unlock()
	}
}

// find gives the context of the call behind a token, nil when it is over. It is
// for its values: it ends too early.
func (c *callers) find(token string) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[token]
}
