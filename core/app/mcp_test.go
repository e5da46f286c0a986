package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// agent speaks to /api/mcp in the era without sessions.
type agent struct {
	*running

	token, query string
	elicitation  bool
}

type rpcAnswer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (a *agent) call(method, name string, params map[string]any) rpcAnswer {
	a.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	capabilities := map[string]any{}
	if a.elicitation {
		capabilities["elicitation"] = map[string]any{}
	}
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.base+"/api/mcp"+a.query, strings.NewReader(string(body)))
	if err != nil {
		a.t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "X-Auth-Token": a.token, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	var out rpcAnswer
	if err := json.Unmarshal(text, &out); err != nil {
		a.t.Fatalf("%d %s: %v", resp.StatusCode, text, err)
	}
	return out
}

// toolAnswer is what a tool gave.
type toolAnswer struct {
	Content []struct{ Text string }
	IsError bool
	Data    struct {
		OUUID      string
		RevisionID int64
		Draft      bool
		Changes    []struct{ Path string }
	} `json:"structuredContent"`
	State  string `json:"requestState"`
	Inputs map[string]struct {
		Params struct{ Message string }
	} `json:"inputRequests"`
}

func (a *agent) tool(name string, args map[string]any, more ...any) toolAnswer {
	a.t.Helper()
	params := map[string]any{"name": name, "arguments": args}
	for i := 0; i+1 < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	r := a.call("tools/call", name, params)
	if r.Error != nil {
		return toolAnswer{IsError: true, Content: []struct{ Text string }{{fmt.Sprint(r.Error.Code, " ", r.Error.Message)}}}
	}
	var out toolAnswer
	if err := json.Unmarshal(r.Result, &out); err != nil {
		a.t.Fatalf("%s: %v", r.Result, err)
	}
	return out
}

func (o *toolAnswer) text() string {
	if len(o.Content) == 0 {
		return ""
	}
	return o.Content[0].Text
}

func (a *agent) names() []string {
	a.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(a.call("tools/list", "", nil).Result, &list); err != nil {
		a.t.Fatal(err)
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

func TestAnAgentWritesADraftAndAPersonFinalizesIt(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			set := append(cheap(), "content.samples=true")
			if engine == "postgres" {
				set = append(set, "database.url="+testkit.Postgres(t, testkit.WithoutFsync()))
			}
			r := start(t, load(t, modules.All(), folder(t), set...))
			a := &agent{running: r, token: r.login(), elicitation: true}
			for _, create := range []string{"create_document_page", "save_page"} {
				draft := a.tool(create, map[string]any{"rawData": map[string]any{"label": "Hello"}})
				if draft.IsError || !draft.Data.Draft || draft.Data.OUUID == "" {
					t.Fatalf("%s: %+v", create, draft)
				}
				where := map[string]any{"contentType": "page", "ouuid": draft.Data.OUUID}
				for _, read := range []string{"get_document_page", "get_page"} {
					if got := a.tool(read, map[string]any{"ouuid": draft.Data.OUUID}); got.Data.RevisionID != draft.Data.RevisionID || !got.Data.Draft {
						t.Fatalf("%s: %+v", read, got)
					}
				}
				change := map[string]any{"contentType": "page", "ouuid": draft.Data.OUUID, "rawData": map[string]any{"label": "Hello agents"}}
				if got := a.tool("update_draft", change); got.IsError || got.Data.RevisionID != draft.Data.RevisionID {
					t.Fatalf("%+v", got)
				}
				if got := a.tool("diff", where); len(got.Data.Changes) == 0 {
					t.Fatalf("%+v", got)
				}
				a.finalize(where)
			}
		})
	}
}

// finalize goes through the confirmation of a draft, with what could go wrong.
func (a *agent) finalize(where map[string]any) {
	t := a.t
	t.Helper()
	mute := &agent{running: a.running, token: a.token}
	if got := mute.tool("finalize_document", where); !got.IsError || !strings.Contains(got.text(), "confirmation") {
		t.Fatalf("without a person: %+v", got)
	}
	asked := a.tool("finalize_document", where)
	if asked.State == "" || !strings.Contains(asked.Inputs["confirm"].Params.Message, "Hello agents") {
		t.Fatalf("the question: %+v", asked)
	}
	answer := func(action string, yes bool, state string) toolAnswer {
		return a.tool("finalize_document", where, "requestState", state,
			"inputResponses", map[string]any{"confirm": map[string]any{"action": action, "content": map[string]any{"confirm": yes}}})
	}
	for name, got := range map[string]toolAnswer{
		"declined": answer("decline", false, asked.State), "not ticked": answer("accept", false, asked.State),
		"tampered": answer("accept", true, asked.State+"x"), "no state": answer("accept", true, ""),
	} {
		if !got.IsError {
			t.Fatalf("%s: %+v", name, got)
		}
	}
	change := map[string]any{"contentType": where["contentType"], "ouuid": where["ouuid"], "rawData": map[string]any{"label": "Hello again, agents"}}
	if got := a.tool("update_draft", change); got.IsError {
		t.Fatalf("%+v", got)
	}
	if got := answer("accept", true, asked.State); !got.IsError || !strings.Contains(got.text(), "changed") {
		t.Fatalf("a draft that changed after the question: %+v", got)
	}
	asked = a.tool("finalize_document", where)
	if got := answer("accept", true, asked.State); got.IsError {
		t.Fatalf("%+v", got)
	}
	if got := a.tool("get_document", where); got.Data.Draft {
		t.Fatalf("%+v", got)
	}
	if got := answer("accept", true, asked.State); !got.IsError {
		t.Fatalf("the same answer twice: %+v", got)
	}
}

// agentOf makes a user with a role and gives an agent that works for it.
func (r *running) agentOf(admin, name, role string) *agent {
	r.t.Helper()
	user := fmt.Sprintf(`{"class":"EMS\\CoreBundle\\Entity\\User","arguments":[],"properties":{"username":%q,"email":"%s@example.org","roles":[%q,"ROLE_API"],"enabled":true},"replaced":[]}`, name, name, role)
	if status, body := r.send("POST", "/api/admin/user", admin, user); status != 200 {
		r.t.Fatalf("%d %s", status, body)
	}
	status, body := r.send("POST", "/api/user/proxy-authenticate", admin, fmt.Sprintf(`{"username":%q,"email":"%s@example.org"}`, name, name))
	var proxied struct{ Token string }
	if err := json.Unmarshal([]byte(body), &proxied); err != nil || status != 200 {
		r.t.Fatalf("%d %s", status, body)
	}
	return &agent{running: r, token: proxied.Token, elicitation: true}
}

func TestAnAgentSeesWhatItsUserMay(t *testing.T) {
	r := start(t, load(t, modules.All(), folder(t), append(cheap(), "content.samples=true")...))
	admin := r.login()
	author, reader := r.agentOf(admin, "author", "ROLE_AUTHOR"), r.agentOf(admin, "reader", "ROLE_USER")
	draft := author.tool("create_document_page", map[string]any{"rawData": map[string]any{"label": "x"}})
	if draft.IsError {
		t.Fatalf("%+v", draft)
	}
	for who, offered := range map[*agent]map[string]bool{
		author: {"get_document_page": true, "create_document_page": true, "update_draft": true, "finalize_document": false, "publish_document": false},
		reader: {"get_current_user": true, "get_document_page": false, "create_document_page": false, "update_draft": false, "search_documents": false},
	} {
		names := who.names()
		for name, is := range offered {
			if slices.Contains(names, name) != is {
				t.Errorf("%s is offered: %v in %v", name, !is, names)
			}
		}
	}
	where := map[string]any{"contentType": "page", "ouuid": draft.Data.OUUID}
	if got := author.tool("finalize_document", where); !got.IsError || !strings.Contains(got.text(), "may not publish") {
		t.Errorf("%+v", got)
	}
	raw := map[string]any{"rawData": map[string]any{"label": "x"}}
	for name, args := range map[string]map[string]any{
		"create_document_page": raw, "save_page": raw, "create_draft": {"contentType": "page", "rawData": map[string]any{"label": "x"}},
		"get_page": {"ouuid": draft.Data.OUUID}, "get_document": where, "finalize_document": where, "diff": where, "discard_draft": where,
		"get_content_type_schema": {"contentType": "page"},
	} {
		if got := reader.tool(name, args); !got.IsError || strings.Contains(got.text(), "-32603") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	read := func(who *agent, uri string) rpcAnswer {
		return who.call("resources/read", uri, map[string]any{"uri": uri})
	}
	uri := "elasticms://documents/page/" + draft.Data.OUUID
	if got := read(author, uri); got.Error != nil {
		t.Errorf("%+v", got.Error)
	}
	for _, uri := range []string{uri, "elasticms://documents/page/nope", "elasticms://documents/page", "elasticms://content-types/page/schema", "elasticms://environments/nope/description", "file:///etc/passwd", "elasticms://files/nope", "elasticms://%zz/x"} {
		if got := read(reader, uri); got.Error == nil {
			t.Errorf("a reader reads %s: %s", uri, got.Result)
		}
	}
}

// TestTheCompactCatalogueIsSmall measures tools/list with the 15 content types
// of a real site.
func TestTheCompactCatalogueIsSmall(t *testing.T) {
	data := testkit.Data(t)
	r := start(t, load(t, modules.All(), folder(t), cheap()...))
	admin := r.login()
	for _, kind := range []string{"filter", "analyzer", "environment", "form", "content-type"} {
		files, err := filepath.Glob(filepath.Join(data, "elasticms-demo", "admin", kind, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := r.send("POST", "/api/admin/"+kind, admin, string(text)); status != 200 {
				t.Fatalf("%s: %d %s", f, status, body)
			}
		}
	}
	a := &agent{running: r, token: admin}
	full := a.call("tools/list", "", nil).Result
	var list any
	if err := json.Unmarshal(full, &list); err != nil {
		t.Fatal(err)
	}
	strict(t, "tools", list, list)
	a.query = "?catalog=compact"
	compact := a.call("tools/list", "", nil).Result
	t.Logf("full %d bytes, compact %d bytes, %d tools", len(full), len(compact), len(a.names()))
	if len(compact) >= 4096 {
		t.Errorf("the compact catalogue has %d bytes", len(compact))
	}
	a.query = ""
	r.send("PUT", "/api/mcp/catalog", admin, `{"catalog":"compact"}`)
	if again := a.call("tools/list", "", nil).Result; len(again) != len(compact) {
		t.Errorf("the token gets %d bytes", len(again))
	}
}

// strict fails for what clients refuse in a schema: an array that does not say
// what it holds, and a reference that leads nowhere in the schema of its tool.
func strict(t *testing.T, at string, v, root any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			strict(t, fmt.Sprint(at, "[", i, "]"), e, root)
		}
	case map[string]any:
		if v["type"] == "array" && v["items"] == nil {
			t.Errorf("%s: an array without items", at)
		}
		if ref, ok := v["$ref"].(string); ok && leadsTo(root, ref) == nil {
			t.Errorf("%s: %s leads nowhere", at, ref)
		}
		for k, e := range v {
			if k == "inputSchema" || k == "outputSchema" {
				strict(t, at+"."+k, e, e)
			} else {
				strict(t, at+"."+k, e, root)
			}
		}
	}
}

func leadsTo(root any, ref string) any {
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := root.(map[string]any)
		root = m[part]
	}
	return root
}
