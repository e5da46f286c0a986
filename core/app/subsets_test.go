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

// TestEveryLegalSubsetOfModulesRuns assembles, starts and stops each subset on
// a database of its own. One that is not legal must be told in the operator's
// words.
func TestEveryLegalSubsetOfModulesRuns(t *testing.T) {
	all := modules.All()
	for bits := range 1 << len(all) {
		on := func(i int) bool { return bits&(1<<i) != 0 }
		var names []string
		legal := true
		enabled := func(name string) bool {
			i := slices.IndexFunc(all, func(s module.Spec) bool { return s.Name == name })
			return i >= 0 && on(i)
		}
		for i, s := range all {
			if !on(i) {
				continue
			}
			names = append(names, s.Name)
			legal = legal && !slices.ContainsFunc(s.Needs, func(need string) bool { return !enabled(need) })
		}
		t.Run("only "+strings.Join(names, "+"), func(t *testing.T) {
			c := load(t, all, folder(t), append(switches(all, on), cheap()...)...)
			a, err := app.Open(t.Context(), c, app.Options{Log: telemetry.Discard(), Version: "test"})
			if !legal {
				if err == nil || !strings.Contains(err.Error(), "switched off: set modules.") {
					t.Errorf("an illegal subset must be told: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}()
			lifeOf(t, a)
		})
	}
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
