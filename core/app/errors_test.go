package app_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/modules"
)

func TestOneProcessPerDataFolder(t *testing.T) {
	data := folder(t)
	r := start(t, load(t, nil, data))
	err := serveOnce(t.Context(), t, load(t, nil, data))
	if err == nil {
		t.Fatal("two servers on one folder")
	}
	for _, want := range []string{"another quoin runs on " + data, "--data", "QUOIN_DATABASE_URL"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	if err := start(t, load(t, nil, data)).end(); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

func TestAnAddressThatIsTaken(t *testing.T) {
	r := start(t, load(t, nil, folder(t)))
	addr := strings.TrimPrefix(r.base, "http://")
	err := serveOnce(t.Context(), t, load(t, nil, folder(t), "server.listen="+addr))
	if err == nil || !strings.Contains(err.Error(), "listen on "+addr) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("%v", err)
	}
}

func TestADatabaseThatIsBehind(t *testing.T) {
	err := serveOnce(t.Context(), t, load(t, modules.All(), folder(t), "database.auto_migrate=false"))
	if err == nil || !strings.Contains(err.Error(), "behind by") || !strings.Contains(err.Error(), "quoin migrate up") {
		t.Errorf("%v", err)
	}
}

type thing struct{}

func TestMistakesInTheWiringAreTold(t *testing.T) {
	op := func() web.Operation {
		return web.Op(web.Operation{ID: "x", Method: "GET", Path: "/x"}, func(context.Context, *web.None) (*web.None, error) { return nil, nil })
	}
	failing := fx.Provide(func() (*thing, error) { return nil, errors.New("open keys.json: it is not there") })
	needing := module.Services(func(*thing) []module.Service { return nil })
	for _, c := range []struct {
		name string
		all  []module.Spec
		want []string
		not  string
	}{
		{"two modules, one path", []module.Spec{parts("a", operations(op())), parts("b", operations(op()))}, []string{"module a", "module b", "/x"}, "fx"},
		{"a constructor that fails", []module.Spec{parts("a", failing, needing)}, []string{"open keys.json: it is not there"}, "constructor"},
		{"a type that nobody provides", []module.Spec{parts("a", needing)}, []string{"missing type: *app_test.thing", "module.go"}, ""},
		{"two checks of one name", []module.Spec{parts("a", module.Checks(func() []telemetry.Check {
			return []telemetry.Check{{Name: "database", Run: func(context.Context) error { return nil }}}
		}))}, []string{`"database"`}, ""},
	} {
		err := serveOnce(t.Context(), t, load(t, c.all, folder(t)))
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if want != "module.go" && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in: %v", c.name, want, err)
			}
		}
		if first, _, _ := strings.Cut(err.Error(), "\n"); !strings.Contains(first, c.want[0]) || c.not != "" && strings.Contains(err.Error(), c.not) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestACommandGetsItsServiceAndGivesItsOwnError(t *testing.T) {
	no := errors.New("open list.csv: no such file")
	run := module.Cmd(module.Command{Use: "thing do"}, func(_ context.Context, s *thing, call *module.Call) error {
		if s == nil || call.Args[0] != "x" {
			t.Errorf("%v %v", s, call)
		}
		return no
	})
	c := load(t, []module.Spec{parts("a", fx.Provide(func() *thing { return &thing{} }))}, folder(t))
	a, err := app.Open(t.Context(), c, app.Options{Log: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if err := a.Run(t.Context(), run, &module.Call{Args: []string{"x"}}); err == nil || err.Error() != no.Error() {
		t.Errorf("%v", err)
	}
}

func TestAModuleThatNeedsOneThatDoesNotExist(t *testing.T) {
	spec := parts("a")
	spec.Needs = []string{"z"}
	_, err := app.Open(t.Context(), load(t, []module.Spec{spec}, folder(t)), app.Options{Log: telemetry.Discard()})
	if err == nil || err.Error() != `module "a" needs a module "z", which does not exist` {
		t.Errorf("%v", err)
	}
}
