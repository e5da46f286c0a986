package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// wiring is everything the modules' constructors may ask for.
func (a *App) wiring(o Options) fx.Option {
	options := []fx.Option{
		fx.Supply(a.tracing, a.DB, a.Bus, a.Log, a.Welcome, a.Checks, a.api, a.instance(o), a.eventTypes(), module.Samples{FS: o.Samples}),
		fx.Provide(a.Config.openBlobs),
		fx.WithLogger(func() fxevent.Logger { return quiet{} }),
		fx.Supply(a.commands, module.Stopping(a.stopping)),
		fx.Supply(module.Data{Folder: a.Config.Server.Data}),
	}
	for _, s := range a.Modules {
		if v := a.Config.values[s.Name]; v != nil {
			options = append(options, fx.Supply(v))
		}
		options = append(options, module.Wire(s))
	}
	return fx.Options(options...)
}

// instance says who this installation is.
func (a *App) instance(o Options) module.Instance {
	i := module.Instance{ID: a.Config.Instance.ID, Version: o.Version, Addresses: []string{a.Config.Server.Listen}}
	if host, port, err := net.SplitHostPort(a.Config.Server.Listen); err == nil {
		if ip := net.ParseIP(host); host == "" || ip != nil && (ip.IsUnspecified() || ip.IsLoopback()) {
			for _, local := range []string{"127.0.0.1", "localhost", "::1"} {
				i.Addresses = append(i.Addresses, net.JoinHostPort(local, port))
			}
		}
	}
	return i
}

// eventTypes are those of the enabled modules.
func (a *App) eventTypes() module.EventTypes {
	var all module.EventTypes
	for _, s := range a.Modules {
		all = append(all, s.Events...)
	}
	slices.SortFunc(all, func(x, y event.Type) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// quiet swallows fx's events: its errors come back from fx.New.
type quiet struct{}

// LogEvent implements fxevent.Logger.
func (quiet) LogEvent(fxevent.Event) {}

// Assemble constructs every module and the router. Nothing runs yet.
func (a *App) Assemble(version string) error {
	var c module.Contributions
	graph := fx.New(a.options, a.commands.Wiring(), fx.Invoke(func(in module.Contributions) { c = in }), a.checkFiles())
	if err := graph.Err(); err != nil {
		return rootFirst(err)
	}
	slices.SortFunc(c.Services, func(x, y module.Service) int {
		return cmp.Or(cmp.Compare(x.Phase, y.Phase), cmp.Compare(x.Name, y.Name))
	})
	a.services = c.Services
	if err := a.Bus.Register(c.Subscriptions, c.Live); err != nil {
		return err
	}
	for _, check := range c.Checks {
		if err := a.Checks.Add(check); err != nil {
			return err
		}
	}
	if c.Authenticator == nil {
		a.Log.Warn("no enabled module checks tokens: every operation that needs one will refuse it")
	}
	options := web.Options{
		Log: a.Log, Authenticator: c.Authenticator, Operations: c.Operations,
		MaxBody: int64(a.Config.Server.MaxBody), Version: version, TrustedProxies: a.Config.Server.TrustedProxies,
		ProxyHeaders: a.Config.Server.ProxyHeaders, Limits: a.Config.Server.RateLimits, CORS: a.Config.Server.CORS, Tracing: a.tracing,
	}
	options.Modules = map[string]string{"core": "What every server answers."}
	for _, s := range a.Modules {
		options.Modules[s.Name] = s.Summary
	}
	if a.examples != nil {
		if err := json.Unmarshal(a.examples, &options.Examples); err != nil {
			return fmt.Errorf("the examples of the API document: %w", err)
		}
	}
	if a.metrics != nil {
		options.Observe = a.metrics.Request
		if err := a.metrics.Add(c.Gauges...); err != nil {
			return err
		}
	}
	router, err := web.New(options)
	a.Router = router
	a.api.Set(router)
	return err
}

// checkFiles adds the check of /readyz that files can be reached, if a module
// keeps some.
func (a *App) checkFiles() fx.Option {
	if !slices.ContainsFunc(a.Modules, func(s module.Spec) bool { return len(s.Blobs) > 0 }) {
		return fx.Options()
	}
	return fx.Invoke(func(store blob.Store) error {
		return a.Checks.Add(telemetry.Check{Name: "files", Run: store.Check})
	})
}

// Run runs one command of a module, without starting anything. The error is
// the command's own.
func (a *App) Run(ctx context.Context, c module.Command, call *module.Call) error {
	var result error
	if err := fx.New(a.options, c.Invoke(ctx, call, &result)).Err(); err != nil {
		return rootFirst(err)
	}
	return result
}

// rootFirst puts the cause in front of fx's chain of constructors. A cause
// that a constructor gave is enough for an operator; one of fx itself, such as
// a missing type, is a mistake in the program, and whoever looks for it needs
// the chain.
func rootFirst(err error) error {
	root := dig.RootCause(err)
	var wiring dig.Error
	if errors.As(root, &wiring) {
		return fmt.Errorf("%w\n%s", root, err.Error())
	}
	return root
}
