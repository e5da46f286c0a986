package app_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/modules"
)

// TestEveryLegalSubsetOfModules assembles each subset of the modules: that is
// where a need that is not declared shows. One that is not legal must be told in
// the operator's words. Those that differ most also live: all modules, each one
// left out with what needs it, and each one with no more than it needs.
func TestEveryLegalSubsetOfModules(t *testing.T) {
	all := modules.All()
	shared := folder(t) // assembling changes nothing
	for bits := range 1 << len(all) {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		var names []string
		for i, s := range all {
			if on(i) {
				names = append(names, s.Name)
			}
		}
		name := "only " + strings.Join(names, "+")
		if bits != legal(all, bits) {
			_, err := module.Resolve(all, func(name string) bool { return slices.Contains(names, name) })
			if err == nil || !strings.Contains(err.Error(), "switched off: set modules.") {
				t.Errorf("%s is not legal, which must be told: %v", name, err)
			}
			continue
		}
		data := shared
		if lives := telling(all, bits); lives {
			data = folder(t)
		}
		a, err := app.Open(t.Context(), load(t, all, data, append(switches(all, on), cheap()...)...), app.Options{Log: telemetry.Discard(), Version: "test"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data == shared {
			if err := a.Assemble("test"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else {
			t.Run(name, func(t *testing.T) { lifeOf(t, a) })
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// legal takes away from a subset whatever lacks something that it needs.
func legal(all []module.Spec, bits int) int {
	for changed := true; changed; {
		changed = false
		for i, s := range all {
			lacks := slices.ContainsFunc(s.Needs, func(need string) bool {
				at := slices.IndexFunc(all, func(o module.Spec) bool { return o.Name == need })
				return bits&(1<<at) == 0
			})
			if lacks && bits&(1<<i) != 0 {
				bits, changed = bits&^(1<<i), true
			}
		}
	}
	return bits
}

// telling tells whether a subset is one of those that live.
func telling(all []module.Spec, bits int) bool {
	whole := 1<<len(all) - 1
	if bits == whole || bits == 0 {
		return true
	}
	for i := range all {
		if bits == legal(all, whole&^(1<<i)) || bits == least(all, 1<<i) {
			return true
		}
	}
	return false
}

// least adds to a subset what it needs.
func least(all []module.Spec, bits int) int {
	for changed := true; changed; {
		changed = false
		for i, s := range all {
			for _, need := range s.Needs {
				at := slices.IndexFunc(all, func(o module.Spec) bool { return o.Name == need })
				if bits&(1<<i) != 0 && bits&(1<<at) == 0 {
					bits, changed = bits|1<<at, true
				}
			}
		}
	}
	return bits
}

// lifeOf takes an app from its migrations to its end.
func lifeOf(t *testing.T, a *app.App) {
	t.Helper()
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"migrate", a.Migrate}, {"assemble", func(context.Context) error { return a.Assemble("test") }}, {"start", a.Start}, {"stop", a.Stop},
	} {
		if err := step.run(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	routes := a.Router.Routes()
	for route, owner := range routes {
		if owner != "core" && !slices.ContainsFunc(a.Modules, func(s module.Spec) bool { return s.Name == owner }) {
			t.Errorf("%s is offered by %q, which is not enabled", route, owner)
		}
	}
	states, err := a.DB.Migrations(t.Context(), a.Sources())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range states {
		if m.Module != "work" && m.Module != "event" && !slices.ContainsFunc(a.Modules, func(s module.Spec) bool { return s.Name == m.Module }) {
			t.Errorf("tables of %s, which is switched off", m.Module)
		}
	}
}

func TestAModuleThatIsSwitchedOffIsGone(t *testing.T) {
	all := modules.All()
	for _, c := range []struct {
		off    []string
		gone   []string
		remain []string
	}{
		{[]string{"search"}, []string{"/api/search/version", "/api/search/search"}, []string{"/api/test", "/api/admin/content-types", "/api/user-profile"}},
		{[]string{"search", "content"}, []string{"/api/search/version", "/api/admin/content-types", "/api/data/page/x"}, []string{"/api/user-profile", "/api/user/tokens"}},
	} {
		t.Run(strings.Join(c.off, "+"), func(t *testing.T) {
			set := cheap()
			for _, name := range c.off {
				set = append(set, "modules."+name+".enabled=false")
			}
			r := start(t, load(t, all, folder(t), set...))
			token := r.login()
			for _, path := range c.gone {
				for _, method := range []string{"GET", "POST"} {
					if status, body := r.send(method, path, token, "{}"); status != 404 {
						t.Errorf("%s %s: %d %s", method, path, status, body)
					}
				}
			}
			for _, path := range c.remain {
				if status, body := r.send("GET", path, token, ""); status != 200 {
					t.Errorf("GET %s: %d %s", path, status, body)
				}
			}
			if status, _ := r.send("GET", "/readyz", "", ""); status != 200 {
				t.Errorf("readyz: %d", status)
			}
		})
	}
}

func TestWithoutUsersNobodyGetsInAndTheLogSaysWhy(t *testing.T) {
	all := modules.All()
	r := start(t, load(t, all, folder(t), switches(all, func(int) bool { return false })...))
	if status, _ := r.send("GET", "/openapi.json", "", ""); status != 200 {
		t.Errorf("openapi.json: %d", status)
	}
	if status, _ := r.send("GET", "/api/test", "any", ""); status != 401 {
		t.Errorf("a token: %d", status)
	}
	if !strings.Contains(r.log.String(), "no enabled module checks tokens") {
		t.Errorf("%s", r.log)
	}
}
