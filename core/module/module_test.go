package module_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/web"
)

func TestResolveKeepsTheOrderAndTellsEveryProblem(t *testing.T) {
	all := []module.Spec{{Name: "b", Needs: []string{"a"}}, {Name: "a"}, {Name: "c", Needs: []string{"a", "z"}}}
	on := func(names ...string) func(string) bool {
		return func(n string) bool { return slices.Contains(names, n) }
	}
	list, err := module.Resolve(all, on("a", "b"))
	if err != nil || len(list) != 2 || list[0].Name != "b" || list[1].Name != "a" {
		t.Errorf("%v %v", list, err)
	}
	_, err = module.Resolve(all, on("b", "c"))
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Fatalf("want three problems: %v", err)
	}
	for _, want := range []string{"set modules.a.enabled to true, or modules.b.enabled to false", `module "c" needs module "a"`, `needs a module "z", which does not exist`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestOperationsBearTheNameOfTheirModule(t *testing.T) {
	spec := func(name string) module.Spec {
		one := func() []web.Operation { return []web.Operation{{ID: name}} }
		two := func() []web.Operation { return []web.Operation{{ID: name}, {ID: name}} }
		return module.Spec{Name: name, Wiring: func() fx.Option { return fx.Options(module.Operations(one), module.Operations(two)) }}
	}
	var got module.Contributions
	graph := fx.New(fx.NopLogger, module.Wire(spec("a")), module.Wire(spec("b")), module.Wire(module.Spec{Name: "none", Wiring: func() fx.Option { return fx.Options() }}),
		fx.Invoke(func(c module.Contributions) { got = c }))
	if err := graph.Err(); err != nil {
		t.Fatal(err)
	}
	if len(got.Operations) != 6 || got.Authenticator != nil {
		t.Fatalf("%+v", got)
	}
	for _, o := range got.Operations {
		if o.Module != o.ID {
			t.Errorf("an operation of %s bears the name of %s", o.ID, o.Module)
		}
	}
}

func TestCommandsRunWithTheirService(t *testing.T) {
	no := errors.New("no")
	c := module.Cmd(module.Command{Use: "x"}, func(_ context.Context, service string, call *module.Call) error {
		if service != "the service" || call.String("s") != "text" || !call.Bool("b") || len(call.Strings("l")) != 1 || call.String("nothing") != "" {
			t.Errorf("%q %+v", service, call)
		}
		return no
	})
	flags := map[string]any{"s": "text", "b": true, "l": []string{"one"}}
	var result error
	call := &module.Call{Flags: func(name string) any { return flags[name] }}
	if err := fx.New(fx.NopLogger, fx.Supply("the service"), c.Invoke(t.Context(), call, &result)).Err(); err != nil || !errors.Is(result, no) {
		t.Errorf("%v %v", err, result)
	}
}

func TestCommandPath(t *testing.T) {
	for use, want := range map[string]string{
		"user create USERNAME": "user create", "modules": "modules", "environment rebuild [NAME]": "environment rebuild", "search explain <JSON>": "search explain",
	} {
		if got := strings.Join(module.Command{Use: use}.Path(), " "); got != want {
			t.Errorf("%q is called by %q, want %q", use, got, want)
		}
	}
	var lines []string
	call := &module.Call{Progress: func(line string) { lines = append(lines, line) }}
	call.Tell("%d of %d", 1, 2)
	(&module.Call{}).Tell("nobody listens")
	if len(lines) != 1 || lines[0] != "1 of 2" {
		t.Errorf("%q", lines)
	}
}

func TestWelcomeAndSub(t *testing.T) {
	var w module.Welcome
	w.Say("one")
	w.Created("ada", "secret")
	if u, p := w.Account(); len(w.Lines()) != 1 || u != "ada" || p != "secret" {
		t.Errorf("%v %s %s", w.Lines(), u, p)
	}
	text, err := fs.ReadFile(module.Sub(fstest.MapFS{"dir/x": {Data: []byte("y")}}, "dir"), "x")
	if err != nil || string(text) != "y" {
		t.Errorf("%s %v", text, err)
	}
}
