package pluginhost

import (
	"context"
	"encoding/json"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
)

// eventTypes is what tells auditors of the decisions about plugins. Settings
// may hold secrets and are left out.
func eventTypes() []event.Type {
	plain := event.Object("plugin string", "from string")
	sample := json.RawMessage(`{"plugin":"linkcheck","from":""}`)
	return []event.Type{
		{
			Name: "admin.plugin.enabled", Doc: "A plugin was enabled, or is enabled with other rights from now on.",
			Sample: json.RawMessage(`{"plugin":"linkcheck","version":"1.0.0","sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","granted":["search"],"run_as":"robot","from":""}`),
			Schema: event.Object("plugin string", "version string", "sha256 string", "granted [string]", "run_as string", "from string"),
		},
		{Name: "admin.plugin.disabled", Doc: "A plugin was disabled.", Sample: sample, Schema: plain},
		{Name: "admin.plugin.reloaded", Doc: "A plugin that was given up is to be started again.", Sample: sample, Schema: plain},
	}
}

// decided emits what was decided about a plugin in the transaction of ctx.
func (h *Host) decided(ctx context.Context, what, name string, data map[string]any) error {
	data["plugin"] = name
	return h.Bus.EmitAdmin(module.Operator(ctx), "plugin."+what, "plugin:"+name, data)
}
