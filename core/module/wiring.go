package module

import (
	"context"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// Phase orders the start of services; they stop in reverse.
type Phase int

// The phases.
const (
	// PhaseData loads what others need before they start: caches, indexes.
	PhaseData Phase = iota
	// PhaseWork starts claimers, dispatchers and periodic tasks.
	PhaseWork
)

// Service is something that runs beside the requests. Start must return soon;
// its context ends when the server is told to stop while it starts, and is not
// for background work. Stop is called once, also when Start failed; its context
// ends when the time for stopping is over. Stop may be nil.
type Service struct {
	Name  string
	Phase Phase
	// Worker services run in processes that only work (quoin worker), too.
	Worker bool
	Start  func(ctx context.Context) error
	Stop   func(ctx context.Context) error
}

// Offer provides a value under an interface of core/port to every module.
func Offer[Port any](constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.As(new(Port))))
}

// Operations contributes endpoints: the constructor returns []web.Operation.
func Operations(constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"own operations,flatten"`)), fx.Private)
}

// Wire gives the wiring of a module, whose operations bear its name.
func Wire(s Spec) fx.Option {
	type own struct {
		fx.In

		Operations []web.Operation `group:"own operations"`
	}
	return fx.Module(s.Name, s.Wiring(), many(func(o own) []web.Operation {
		for i := range o.Operations {
			o.Operations[i].Module = s.Name
		}
		return o.Operations
	}, "operations"))
}

// Services contributes what runs in the background: []module.Service.
func Services(constructor any) fx.Option { return many(constructor, "services") }

// Subscribe contributes durable subscribers: []event.Subscription.
func Subscribe(constructor any) fx.Option { return many(constructor, "subscriptions") }

// Live contributes subscribers that live in this process only: []event.Live.
func Live(constructor any) fx.Option { return many(constructor, "live") }

// Checks contributes health checks: []telemetry.Check.
func Checks(constructor any) fx.Option { return many(constructor, "checks") }

// Entities contributes configuration entities served under /api/admin:
// []port.Entity.
func Entities(constructor any) fx.Option { return many(constructor, "entities") }

// FileHolders contributes whose data names files: []port.FileHolder.
func FileHolders(constructor any) fx.Option { return many(constructor, "file holders") }

// ToolSources contributes tools for agents: []port.ToolSource.
func ToolSources(constructor any) fx.Option { return many(constructor, "tool sources") }

// ResourceSources contributes resources for agents: []port.ResourceSource.
func ResourceSources(constructor any) fx.Option { return many(constructor, "resource sources") }

// Gauges contributes what is measured when metrics are read: []telemetry.Gauge.
func Gauges(constructor any) fx.Option { return many(constructor, "gauges") }

func many(constructor any, group string) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"`+group+`,flatten"`)))
}

// Contributions is what all enabled modules contribute. The order within each
// list is that of fx and means nothing: whoever reads them sorts.
type Contributions struct {
	fx.In

	// Authenticator is nil when no module offers one.
	Authenticator auth.Authenticator `optional:"true"`

	Operations    []web.Operation      `group:"operations"`
	Services      []Service            `group:"services"`
	Subscriptions []event.Subscription `group:"subscriptions"`
	Live          []event.Live         `group:"live"`
	Checks        []telemetry.Check    `group:"checks"`
	Gauges        []telemetry.Gauge    `group:"gauges"`
}

// EntityList lets the module that serves /api/admin collect the entities.
type EntityList struct {
	fx.In

	Entities []port.Entity `group:"entities"`
}

// FileHolderList lets the module that keeps files collect who names them.
type FileHolderList struct {
	fx.In

	Holders []port.FileHolder `group:"file holders"`
}

// AgentSources lets the module that speaks MCP collect what the others offer to
// agents.
type AgentSources struct {
	fx.In

	Tools     []port.ToolSource     `group:"tool sources"`
	Resources []port.ResourceSource `group:"resource sources"`
}
