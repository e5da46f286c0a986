package content_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/modules/content"
)

// TestWiring assembles the module alone, as a server does, and starts it. With
// nobody to sign in every token is refused.
func TestWiring(t *testing.T) {
	c, err := app.Load([]module.Spec{content.Spec()}, conf.Options{Env: []string{"QUOIN_DATA=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), c, app.Options{Log: telemetry.Discard(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Assemble("test"); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w := httptest.NewRecorder()
	a.Router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/meta/environments", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	routes := a.Router.Routes()
	for _, route := range []string{"GET /api/data/{type}/{ouuid}", "POST /api/data/{type}/index", "POST /api/data/{type}/_bulk", "GET /api/admin/{entity}/{name}", "POST /api/meta/alias-attach-environment"} {
		if routes[route] != "content" {
			t.Errorf("%s is offered by %q", route, routes[route])
		}
	}
}
