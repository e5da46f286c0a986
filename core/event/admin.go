package event

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// adminPrefix begins the types of events about who may do what, and who saw
// what. They are for the audit trail; of others only administrators may hear
// of them.
const adminPrefix = "admin."

// Internal tells whether only administrators may hear of a type of events:
// those of the configuration, and those about accounts and access.
func Internal(name string) bool {
	return strings.HasPrefix(name, "config.") || strings.HasPrefix(name, adminPrefix)
}

// EmitAdmin adds an event about accounts or access, of the type admin.<what>,
// to the transaction of ctx. Who did it, in which request and from which
// address is taken from ctx, unless data has an "actor" or "from"; an address is
// only known inside a request. data must hold no secret. It is not changed.
func (b *Bus) EmitAdmin(ctx context.Context, what, subject string, data map[string]any) error {
	all := maps.Clone(data)
	ev := Event{Type: adminPrefix + what, Subject: subject, RequestID: telemetry.RequestID(ctx)}
	if id := auth.From(ctx); id != nil {
		ev.Actor = id.Username
		if id.Actor != "" {
			all["acting"] = id.Actor
		}
	}
	if actor, ok := all["actor"].(string); ok {
		ev.Actor = actor
		delete(all, "actor")
	}
	if _, given := all["from"]; !given {
		all["from"] = web.RemoteIP(ctx)
	}
	var err error
	if ev.Data, err = json.Marshal(all); err != nil {
		return err
	}
	return b.Emit(ctx, ev)
}
