package pluginhost_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

// running is a host with one good plugin that is ready.
func running(t testing.TB, change func(*pluginhost.Config)) *kit {
	t.Helper()
	k := newKit(t, change)
	k.install("good", goodManifest)
	k.wish("good", plugin.CapKV)
	k.start()
	k.until("good", pluginhost.Ready)
	return k
}

func goodManifest(m *manifest.Manifest) {
	m.Capabilities = []string{plugin.CapKV, plugin.CapDocumentsRead}
	m.Webhooks = []string{"content.*"}
}

// tool calls a tool as admin and gives the text of its answer.
func (k *kit) tool(name, argument string) (string, error) {
	k.t.Helper()
	r, err := k.call(k.as("admin"), name, argument)
	if err != nil {
		return "", err
	}
	if r.Failed {
		return "failed: " + r.Content[0].Text, nil
	}
	return r.Content[0].Text, nil
}

func (k *kit) call(ctx context.Context, name, argument string) (*port.ToolResult, error) {
	args, err := json.Marshal(map[string]string{"text": argument})
	if err != nil {
		k.t.Fatal(err)
	}
	return k.host.Tools().CallTool(ctx, port.ToolCall{Name: name, Arguments: args, Progress: func(float64, float64, string) {}})
}

func TestToolsActForTheUser(t *testing.T) {
	t.Setenv("QUOIN_DATABASE_URL", "postgres://secret")
	k := running(t, nil)
	for _, c := range []struct{ tool, argument, want string }{
		{"good_echo", "hello", "hello"},
		{"good_who", "", "admin"},
		{"good_fail", "", "failed: no luck"},
		{"good_keep", "v", "v true"},
		{"good_progress", "", "done"},
	} {
		if got, err := k.tool(c.tool, c.argument); err != nil || got != c.want {
			t.Errorf("%s answers %q, %v", c.tool, got, err)
		}
	}
	if env, err := k.tool("good_env", ""); err != nil || strings.Contains(env, "DATABASE") || strings.Contains(env, "secret") {
		t.Errorf("the environment is not clean: %v\n%s", err, env)
	}
	if list, err := k.host.Tools().Tools(k.as("admin")); err != nil || len(list) < 10 {
		t.Errorf("the tools are %v, %v", list, err)
	}
	if list, _ := k.host.Tools().Tools(t.Context()); list != nil {
		t.Errorf("nobody sees %v", list)
	}
	if _, err := k.call(t.Context(), "good_echo", ""); !problem.Is(err, problem.NotFound) {
		t.Errorf("nobody calls: %v", err)
	}
	if _, err := k.call(k.as("admin"), "good_nothing", ""); !problem.Is(err, problem.NotFound) {
		t.Errorf("there is no such tool: %v", err)
	}
}

func TestCapabilitiesMustBeGranted(t *testing.T) {
	k := running(t, nil)
	got, err := k.tool("good_read", "d1")
	if err != nil || !strings.Contains(got, "has not been granted documents:read") {
		t.Errorf("reads without the right: %q, %v", got, err)
	}
	k.wish("good", plugin.CapKV, plugin.CapDocumentsRead)
	waitFor(t, "the grant", func() bool {
		got, err = k.tool("good_read", "d1")
		return err == nil && !strings.Contains(got, "granted")
	}, func() string { return got })
	if want := `{"by":"admin","path":"/api/data/page/d1"}`; got != want {
		t.Errorf("the document is %s, want %s", got, want)
	}
	if got, err := k.tool("good_read", "../../secret"); err != nil || !strings.Contains(got, "%2F") && !strings.Contains(got, "..%2f") && !strings.Contains(got, `/api/data/page/../../secret`) {
		t.Errorf("a name cannot leave its place: %q, %v", got, err)
	}
}

func TestResourcesAndCommands(t *testing.T) {
	k := running(t, nil)
	c, err := k.host.Resources().ReadResource(k.as("admin"), "test://one")
	if err != nil || len(c) != 1 || c[0].Text != "test://one" {
		t.Errorf("the resource is %v, %v", c, err)
	}
	if _, err := k.host.Resources().ReadResource(k.as("admin"), "other://one"); !problem.Is(err, problem.NotFound) {
		t.Errorf("there is no such resource: %v", err)
	}
	out, err := k.run("run", []string{"good", "say", "a", "b"}, nil)
	if err != nil || out != "said a\nsaid b\n" {
		t.Errorf("the command says %q, %v", out, err)
	}
	if _, err := k.run("run", []string{"good", "shout"}, nil); !problem.Is(err, problem.NotFound) {
		t.Errorf("there is no such command: %v", err)
	}
}

func TestWebhookCallsAreTransformed(t *testing.T) {
	for _, policy := range []string{"block", "bypass"} {
		k := running(t, func(c *pluginhost.Config) { c.WebhookFailure = policy })
		call := func(event, body string) (*port.WebhookCall, error) {
			c := &port.WebhookCall{Event: event, Body: []byte(body)}
			return c, k.host.Transformer().TransformWebhook(t.Context(), c)
		}
		if c, err := call("content.finalize", `{"a":1}`); err != nil || string(c.Body) != `{"was":{"a":1}}` || c.Headers["X-Made-By"] != "plugin" {
			t.Errorf("%s: changed to %s %v, %v", policy, c.Body, c.Headers, err)
		}
		if c, err := call("other", `{"a":1}`); err != nil || string(c.Body) != `{"a":1}` {
			t.Errorf("%s: an event that it did not ask for: %s, %v", policy, c.Body, err)
		}
		if c, err := call("content.finalize", `"skip"`); err != nil || !c.Skip {
			t.Errorf("%s: not skipped: %v", policy, err)
		}
		for _, body := range []string{`"slow"`, `"steal"`, `"odd"`, `"bell"`} {
			if c, err := call("content.finalize", body); (err == nil) != (policy == "bypass") || string(c.Body) != body || len(c.Headers) > 0 {
				t.Errorf("%s: %s gives %s %v, %v", policy, body, c.Body, c.Headers, err)
			}
		}
	}
}

func TestOperatorsEnableAndDisable(t *testing.T) {
	k := newKit(t, nil)
	k.install("settings-a", goodManifest)
	k.start()
	if out, err := k.run("list", nil, nil); err != nil || !strings.Contains(out, `"disabled"`) {
		t.Fatalf("the list is %s, %v", out, err)
	}
	path := t.TempDir() + "/settings.json"
	write(t, path, `{"limit":-1,"channels":["a",""]}`)
	_, err := k.run("enable", []string{"settings-a"}, map[string]any{"settings": path, "grant": []string{"kv"}})
	if err == nil || !strings.Contains(err.Error(), "channels[1]: is empty") || !strings.Contains(err.Error(), "limit: must not be negative") {
		t.Errorf("wrong settings: %v", err)
	}
	write(t, path, `null`)
	if _, err = k.run("enable", []string{"settings-a"}, map[string]any{"settings": path}); err == nil || !strings.Contains(err.Error(), "must be a JSON object") {
		t.Errorf("settings that are no object: %v", err)
	}
	if _, err = k.run("enable", []string{"../plugins/settings-a"}, nil); err == nil || !strings.Contains(err.Error(), "is not the name of a folder") {
		t.Errorf("a path: %v", err)
	}
	write(t, path, `{"limits":1}`)
	if _, err = k.run("enable", []string{"settings-a"}, map[string]any{"settings": path}); err == nil || !strings.Contains(err.Error(), "limits: is not known") {
		t.Errorf("unknown settings: %v", err)
	}
	write(t, path, `{"limit":1}`)
	if out, err := k.run("enable", []string{"settings-a"}, map[string]any{"settings": path, "grant": []string{"kv"}}); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	changed := make(chan struct{}, 100)
	k.host.Tools().WatchTools(func() { changed <- struct{}{} })
	k.until("settings-a", pluginhost.Ready)
	<-changed
	waitFor(t, "the list says ready", func() bool {
		out, err := k.run("list", nil, nil)
		return err == nil && strings.Contains(out, `"ready"`)
	}, k.log.String)
	if out, err := k.run("disable", []string{"settings-a"}, nil); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	k.until("settings-a", pluginhost.Disabled)
	if list, _ := k.host.Tools().Tools(k.as("admin")); len(list) != 0 {
		t.Errorf("a plugin that is down offers %v", list)
	}
	if _, err := k.run("disable", []string{"nobody"}, nil); err == nil {
		t.Error("there is no such plugin")
	}
	if _, err := k.run("enable", []string{"../x"}, nil); err == nil {
		t.Error("a plugin is in the folder of plugins")
	}
}
