package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/sdk/client"
	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/webhook"
)

// hosting is a server with the probe, in processes of their own.
type hosting struct {
	*server

	data   string
	vars   []string
	admin  *client.Client
	tokens map[string]string
}

// host runs a server on the variables, with the users admin, editor (who may
// write pages) and visitor (who may not view them).
func host(t *testing.T, vars ...string) *hosting {
	t.Helper()
	data := t.TempDir()
	vars = append(vars, "QUOIN_DATA="+data, "QUOIN_CONTENT__SAMPLES=true", "QUOIN_MODULES__WITNESS__ENABLED=false", "QUOIN_WEBHOOK__ALLOW_NETWORKS=127.0.0.0/8",
		"QUOIN_USER__HASHING__MEMORY=8KiB", "QUOIN_USER__HASHING__PASSES=1")
	h := &hosting{server: start(t, vars...), data: data, vars: vars, tokens: map[string]string{}}
	h.run("user", "create", "editor", "--role", "ROLE_API,ROLE_PUBLISHER")
	h.run("user", "create", "visitor", "--role", "ROLE_API")
	for _, name := range []string{"admin", "editor", "visitor"} {
		h.tokens[name] = strings.TrimSpace(h.run("token", "create", name))
	}
	var err error
	if h.admin, err = client.New(h.base, client.WithToken(h.tokens["admin"])); err != nil {
		t.Fatal(err)
	}
	installPlugin(t, data, "probe", &manifest.Manifest{
		Capabilities: plugin.Capabilities(), Events: []string{"content.finalize", "plugin.probe.*"}, Webhooks: []string{"content.*"},
	})
	return h
}

// run runs a command that has to succeed.
func (h *hosting) run(args ...string) string {
	h.t.Helper()
	out, err := quoin(h.t, h.vars, args...)
	if err != nil {
		h.t.Fatalf("quoin %s: %v\n%s\n%s", strings.Join(args, " "), err, out, h.log)
	}
	return out
}

// ready waits until the list says that the probe is ready.
func (h *hosting) ready() {
	h.t.Helper()
	h.eventually("the probe is ready", func() bool { return strings.Contains(h.run("plugin", "list", "--json"), `"ready"`) })
}

func (h *hosting) eventually(what string, ok func() bool) {
	h.t.Helper()
	defer func() {
		if h.t.Failed() {
			h.t.Logf("waiting until %s\n%s", what, h.log)
		}
	}()
	testkit.Eventually(h.t, ok)
}

// ask makes a call over MCP for a user and gives the answer.
func (h *hosting) ask(user, method, name string, params map[string]any) []byte {
	h.t.Helper()
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		h.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.base+"/api/mcp", strings.NewReader(string(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "X-Auth-Token": h.tokens[user], "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

// try has the probe do something for a user and gives what it says; failed tells
// that the tool did not succeed.
func (h *hosting) try(user string, o order) (said string, failed bool) {
	h.t.Helper()
	return h.tool(user, "probe_try", o)
}

// tool calls a tool.
func (h *hosting) tool(user, name string, arguments any) (said string, failed bool) {
	h.t.Helper()
	text := h.ask(user, "tools/call", name, map[string]any{"name": name, "arguments": arguments})
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		h.t.Fatalf("%v: %s", err, text)
	}
	if answer.Error != nil {
		return answer.Error.Message, true
	}
	for _, c := range answer.Result.Content {
		said += c.Text
	}
	return said, answer.Result.IsError
}

// raw is JSON.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// TestTheServicesOfPlugins lets a plugin in a process of its own use every
// service of a real server, for users with different rights.
func TestTheServicesOfPlugins(t *testing.T) {
	for name, vars := range map[string]func(*testing.T) []string{
		"sqlite": func(*testing.T) []string { return nil },
		"postgres": func(t *testing.T) []string {
			return []string{"QUOIN_DATABASE_URL=" + testkit.Postgres(t, testkit.WithoutFsync())}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := host(t, vars(t)...)
			h.run("plugin", "enable", "probe", "--grant", "all", "--run-as", "editor")
			h.ready()
			h.useServices()
			h.useInEvents()
			h.useInCommands()
			h.keepsSecrets()
		})
	}
}

func (h *hosting) useServices() {
	t := h.t
	secret, failed := h.try("editor", order{Do: "write file", Name: "a file"})
	if failed {
		t.Fatalf("no file: %s", secret)
	}
	for _, c := range []struct {
		user   string
		order  order
		says   string
		failed bool
	}{
		{"editor", order{"index", "one", raw(`{"label":"Probed"}`)}, "one", false},
		{"editor", order{"read", "one", nil}, `"label":"Probed"`, false},
		{"visitor", order{"read", "one", nil}, "", true},
		{"editor", order{"read", "nothing", nil}, "", true},
		{"editor", order{"read", "../../admin/job", nil}, "", true},
		{"editor", order{"merge", "one", raw(`{"template":"default"}`)}, "merged", false},
		{"editor", order{"read", "one", nil}, `"template":"default"`, false},
		{"visitor", order{"merge", "one", raw(`{"label":"Mine"}`)}, "", true},
		{"visitor", order{"index", "two", raw(`{"label":"Mine"}`)}, "", true},
		{"editor", order{"index", "three", raw(`{"label":7}`)}, "label", true},
		{"editor", order{"search", "Probed", nil}, `"_id":"one"`, false},
		{"visitor", order{"search", "Probed", nil}, `"total":{"value":0`, false},
		{"editor", order{"read file", secret, nil}, "text/plain a file", false},
		{"editor", order{"read file", strings.Repeat("0", 40), nil}, "", true},
		{"admin", order{"user", "editor", nil}, "editor", false},
		{"editor", order{"user", "editor", nil}, "editor", false},
		{"visitor", order{"user", "editor", nil}, "ROLE_USER_READ", true},
		{"admin", order{"user", "nobody", nil}, "nobody", true},
		{"editor", order{"keep", "x", nil}, "true", false},
		{"visitor", order{"keep", "x", nil}, "false", false},
		{"editor", order{"emit", "subject", raw(`{"n":1}`)}, "emitted", false},
		{"editor", order{"dance", "", nil}, "nobody can", true},
	} {
		if c.order.Do == "search" {
			if err := h.admin.Search.Refresh(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if said, failed := h.try(c.user, c.order); failed != c.failed || !strings.Contains(said, c.says) || failed && strings.Contains(said, "Probed") {
			t.Errorf("%s asks for %s %s and hears %q, failed %v\n%s", c.user, c.order.Do, c.order.Name, said, failed, h.log)
		}
	}
	if there, err := h.admin.Documents("page").Exists(t.Context(), "two"); there || err != nil {
		t.Errorf("who may not write has written: %v", err)
	}
	if revision, err := newest(h, "one"); err != nil || revision.CreatedBy != "editor" {
		t.Errorf("the document was changed by %+v, %v", revision, err)
	}
	h.eventually("the plugin hears its own event", func() bool {
		said, failed := h.try("editor", order{Do: "kept", Name: "own/subject"})
		return !failed && said == `{"n":1}`
	})
}

func newest(h *hosting, ouuid string) (*client.Revision, error) {
	for r, err := range h.admin.Documents("page").Revisions(h.t.Context(), ouuid) {
		return r, err
	}
	return nil, fmt.Errorf("%s has no revision", ouuid)
}

// useInEvents: outside of a request the plugin has the rights of --run-as, and
// none without one.
func (h *hosting) useInEvents() {
	seen := func(ouuid, want string) {
		h.t.Helper()
		if _, err := h.admin.Documents("page").Put(h.t.Context(), ouuid, raw(`{"label":"Heard"}`)); err != nil {
			h.t.Fatal(err)
		}
		said := ""
		h.eventually(ouuid+" is handled", func() bool {
			var failed bool
			said, failed = h.try("editor", order{Do: "kept", Name: "event/" + ouuid})
			return !failed
		})
		if !strings.Contains(said, want) {
			h.t.Errorf("the handler hears %q of %s", said, ouuid)
		}
	}
	seen("as-editor", "read")
	h.run("plugin", "enable", "probe", "--run-as", "visitor")
	h.restarted()
	seen("as-visitor", "needs ROLE_AUTHOR")
	h.run("plugin", "enable", "probe", "--run-as", "-")
	h.restarted()
	seen("as-nobody", "acts for nobody")
	h.run("plugin", "enable", "probe", "--run-as", "editor")
	h.restarted()
}

// restarted waits until the probe runs with what was decided last: the settings
// tell.
func (h *hosting) restarted() {
	h.t.Helper()
	mark := fmt.Sprint("mark ", time.Now().UnixNano())
	path := filepath.Join(h.t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(`{"greeting":"`+mark+`","api_key":"s3cr3t-of-the-probe"}`), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.run("plugin", "enable", "probe", "--settings", path)
	h.eventually("the probe runs with its settings", func() bool {
		said, failed := h.try("editor", order{Do: "settings"})
		return !failed && said == mark+" s3cr3t-of-the-probe"
	})
}

// useInCommands: a command that runs as a job has the rights of its owner.
func (h *hosting) useInCommands() {
	t := h.t
	id, err := h.admin.Jobs.Create(t.Context(), client.NewJob{Command: "plugin run probe try read one"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.admin.Jobs.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for o, err := range h.admin.Jobs.Follow(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(o.Text)
	}
	if !strings.Contains(out.String(), `"label":"Probed"`) {
		t.Errorf("the command says %q", out.String())
	}
}

// keepsSecrets: a setting that its plugin marks as a secret is shown nowhere.
func (h *hosting) keepsSecrets() {
	const secret = "s3cr3t-of-the-probe"
	path := filepath.Join(h.t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(`{"greeting":"wrong","api_key":"`+secret+`"}`), 0o600); err != nil {
		h.t.Fatal(err)
	}
	refused, err := quoin(h.t, h.vars, "plugin", "enable", "probe", "--settings", path)
	if err == nil || !strings.Contains(refused, "greeting: must not be wrong") {
		h.t.Errorf("wrong settings: %v, %s", err, refused)
	}
	show := h.run("plugin", "show", "probe")
	if !strings.Contains(show, `"api_key":"***"`) || !strings.Contains(show, `"greeting":"mark`) {
		h.t.Errorf("it shows %s", show)
	}
	for _, out := range []string{show, refused, h.run("plugin", "show", "probe", "--json"), h.run("plugin", "list", "--json"), h.run("audit", "--json"), h.log.String()} {
		if strings.Contains(out, secret) {
			h.t.Errorf("the secret shows in %s", out)
		}
	}
}

// TestCapabilitiesOfTheOperator: what was not granted is refused, and what was
// is there a moment later.
func TestCapabilitiesOfTheOperator(t *testing.T) {
	h := host(t)
	h.run("plugin", "enable", "probe", "--grant", "kv,users:read")
	h.ready()
	for _, o := range []order{
		{"read", "one", nil}, {"index", "one", raw(`{"label":"x"}`)}, {"merge", "one", raw(`{}`)}, {"search", "x", nil},
		{"write file", "x", nil}, {"read file", strings.Repeat("0", 40), nil}, {"emit", "x", raw("1")},
	} {
		if said, failed := h.try("admin", o); !failed || !strings.Contains(said, "has not been granted") {
			t.Errorf("%s without the grant: %q", o.Do, said)
		}
	}
	if said, failed := h.try("admin", order{Do: "keep", Name: "y"}); failed {
		t.Errorf("what was granted is refused: %s", said)
	}
	h.run("plugin", "enable", "probe", "--grant", "all")
	h.eventually("the grant", func() bool {
		_, failed := h.try("admin", order{"index", "one", raw(`{"label":"x"}`)})
		return !failed
	})
}

// TestWebhooksThroughAPlugin: the signature covers what the plugin made of a
// call, and a call that the plugin takes over is not made, and is delivered.
func TestWebhooksThroughAPlugin(t *testing.T) {
	h := host(t)
	ctx := t.Context()
	h.run("plugin", "enable", "probe", "--grant", "all")
	h.ready()
	secret := make(chan string, 1)
	type call struct {
		event *webhook.Event
		by    string
	}
	calls := make(chan call, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := <-secret
		secret <- key
		e, err := (&webhook.Verifier{Secrets: func(string) []string { return []string{key} }}).Verify(r)
		if err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		calls <- call{e, r.Header.Get("X-Probe")}
	}))
	defer receiver.Close()
	id, key, err := h.admin.Webhooks.Subscribe(ctx, client.Subscription{EndpointURL: receiver.URL, Events: []string{"content.finalize"}, Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	secret <- key
	for _, ouuid := range []string{"by-hand", "public"} {
		if _, err := h.admin.Documents("page").Put(ctx, ouuid, raw(`{"label":"private matter"}`)); err != nil {
			t.Fatal(err)
		}
	}
	c := <-calls
	if data := string(c.event.Data); c.by != "was here" || !strings.Contains(data, "public") || strings.Contains(data, "private") || !strings.Contains(data, "******* matter") {
		t.Errorf("%+v: %s", c, data)
	}
	delivered := map[string]string{}
	h.eventually("both are delivered", func() bool {
		for d, err := range h.admin.Webhooks.Deliveries(ctx, id, "") {
			if err != nil {
				t.Fatal(err)
			}
			delivered[d.Subject] = d.Status
		}
		return delivered["page:by-hand"] == "delivered" && delivered["page:public"] == "delivered"
	})
	if said, failed := h.try("admin", order{Do: "kept", Name: "by-hand"}); failed || !strings.Contains(said, "private matter") {
		t.Errorf("the plugin did it by hand: %q", said)
	}
	select {
	case c := <-calls:
		t.Errorf("another call: %+v", c)
	default:
	}
}

// TestTheEventsOfADisabledPlugin: those that happen while the server runs on wait
// for it. From the next start on it gets no more, until it is enabled again.
func TestTheEventsOfADisabledPlugin(t *testing.T) {
	h := host(t)
	h.run("plugin", "enable", "probe", "--grant", "all", "--run-as", "admin")
	h.ready()
	h.run("plugin", "disable", "probe")
	h.eventually("it is disabled", func() bool { return !strings.Contains(h.run("plugin", "list", "--json"), `"ready"`) })
	put := func(ouuid string) {
		if _, err := h.admin.Documents("page").Put(t.Context(), ouuid, raw(`{"label":"Missed"}`)); err != nil {
			t.Fatal(err)
		}
	}
	put("while-disabled")
	h.kill()
	h.server = start(t, h.vars...)
	var err error
	if h.admin, err = client.New(h.base, client.WithToken(h.tokens["admin"])); err != nil {
		t.Fatal(err)
	}
	put("after-a-restart")
	h.run("plugin", "enable", "probe")
	h.ready()
	put("enabled-again")
	for _, ouuid := range []string{"while-disabled", "enabled-again"} {
		h.eventually(ouuid, func() bool {
			said, failed := h.try("admin", order{Do: "kept", Name: "event/" + ouuid})
			return !failed && said == "read"
		})
	}
	if said, failed := h.try("admin", order{Do: "kept", Name: "event/after-a-restart"}); !failed {
		t.Errorf("an event came that the plugin was not subscribed to: %q", said)
	}
}

// TestAToolWhoseNameIsTaken: a tool that is called like one of the server is
// offered to nobody, and the list of plugins says so.
func TestAToolWhoseNameIsTaken(t *testing.T) {
	h := host(t)
	installPlugin(t, h.data, "get", &manifest.Manifest{})
	h.run("plugin", "enable", "get")
	h.ready()
	if list := string(h.ask("admin", "tools/list", "", map[string]any{})); strings.Count(list, `"name":"get_current_user"`) != 1 || !strings.Contains(list, "get_lost") {
		t.Errorf("the tools are %s", list)
	}
	if said, failed := h.tool("admin", "get_current_user", map[string]any{}); failed || strings.Contains(said, "stolen") {
		t.Errorf("the plugin answers for the server: %s", said)
	}
	h.eventually("the list says why", func() bool {
		return strings.Contains(h.run("plugin", "list", "--json"), "the tool get_current_user is offered to nobody: the name is taken")
	})
}
