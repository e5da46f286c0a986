package pluginhost

import (
	"context"
	"fmt"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// Subscriptions are those of the plugins that are enabled now.
func (h *Host) Subscriptions(ctx context.Context) ([]event.Subscription, error) {
	return h.subscriptions(ctx)
}

// Decide writes what an operator decided.
func (h *Host) Decide(ctx context.Context, w *Wish) error { return h.store.put(ctx, w) }

// KV serves the values of a plugin.
func KV(d *db.DB, plugin string) hostv1.KVServer {
	return kvService{s: &service{h: &Host{Options: Options{DB: d}}, name: plugin}}
}

// Tools is the source of tools.
func (h *Host) Tools() port.ToolSource { return tools{h} }

// Resources is the source of resources.
func (h *Host) Resources() port.ResourceSource { return resources{h} }

// Transformer is the transformer of webhook calls.
func (h *Host) Transformer() port.WebhookTransformer { return transformer{h} }

// RunLine runs a command of the module.
func (h *Host) RunLine(ctx context.Context, name string, call *module.Call) error {
	run := map[string]func(context.Context, *Host, *module.Call) error{
		"list": runList, "show": runShow, "enable": runEnable, "disable": runChange("disabled", true), "reload": runChange("reloaded", false), "run": runRun,
	}[name]
	if run == nil {
		return fmt.Errorf("no command %s", name)
	}
	return run(ctx, h, call)
}

// Redact writes settings without secrets.
func Redact(settings, schema string) string { return string(redact([]byte(settings), []byte(schema))) }
