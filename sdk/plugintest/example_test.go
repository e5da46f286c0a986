package plugintest_test

import (
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

type greeting struct {
	Name string `json:"name" doc:"who to greet"`
}

// build makes the plugin, as its main does.
func build() *plugin.Plugin {
	p := plugin.New("greet", "1.0.0")
	p.Needs(plugin.CapKV)
	plugin.Tool(p, "hello", "Greets someone.", func(c *plugin.Call, in greeting) (string, error) {
		return "Hello " + in.Name + "!", c.KV().Set("last", []byte(in.Name), 0)
	})
	return p
}

// greets is what a test of the plugin looks like.
func greets(t *testing.T) {
	h := plugintest.Start(t, build(), plugintest.WithUser("ada", "Ada", "ROLE_AUTHOR"))
	if a := h.Tool("hello", `{"name":"Grace"}`); a.Failed || a.Text != "Hello Grace!" {
		t.Errorf("it says %q", a.Text)
	}
	if last := h.Value("last"); string(last) != "Grace" {
		t.Errorf("it keeps %q", last)
	}
}

// In main_test.go of the plugin this is func TestGreets(t *testing.T).
func Example() {
	var t *testing.T // of your test
	greets(t)
}
